"""Capabilities that the modules of a session ask for by name; one is the wall around commands."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import SessionError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.mount_plan import read_entry
from amplifier_core.mounting import resolve_provider
from amplifier_core.session import AmplifierSession
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.guards.policy.database_use import uses_postgres
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.protected_places import (
    DeferredPlaces,
    ProtectedPlaces,
    list_places,
)
from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber
from amplifier_hooks.sandbox.protection import Protection, Wanted, examine_machine
from amplifier_hooks.sandbox.wall import Wall


async def ask_model(
    coordinator: SessionCoordinator,
    prompt: str,
    system: str | None,
    max_output_tokens: int,
    provider_name: str | None = None,
) -> str:
    """Ask, and return the answer; there is no event, and nothing is added to the conversation."""
    provider = _find_provider(coordinator, provider_name)
    prompt, system = coordinator.scrub([prompt, system])  # no hook sees it on its way out
    messages = [Message(role="user", content=prompt)]
    if system:
        messages.insert(0, Message(role="system", content=system))
    request = ChatRequest(messages=messages, max_output_tokens=max_output_tokens)
    text: str = (await provider.complete(request)).text
    return text


def _find_provider(coordinator: SessionCoordinator, name: str | None) -> Any:
    providers = coordinator.get("providers")
    loop = coordinator.get("orchestrator")
    if name is not None and name not in (providers or {}):
        have = ", ".join(sorted(providers or {})) or "none"
        raise SessionError(f"No provider {name!r} is mounted; there are: {have}")
    found = resolve_provider(providers, loop) if name is None else providers[name]
    if found is None:
        raise SessionError("No provider is mounted; there is no model to ask")
    if not getattr(found, "answers_side_calls", True):
        raise SessionError("A scripted model plays its script and answers nothing else")
    return found


_SQLITE = ("", "-wal", "-shm", "-journal")
"""The ends of the names of the files that a database consists of."""
# Where PostgreSQL's client looks for passwords and keys, and the variables that say otherwise.
_LIBPQ = (
    ("PGPASSFILE", "~/.pgpass"),
    ("PGSERVICEFILE", "~/.pg_service.conf"),
    ("PGSSLKEY", "~/.postgresql/postgresql.key"),
)

Rename = Callable[[str, str], Any]


def register_capabilities(
    session: AssembledSession,
    folder: Path,
    on_rename: Rename | None = None,
    sealed: Sequence[Path] = (),
) -> None:
    """Offer `session.working_dir`, `.places`, `.rename`, `.model_call` and `.keep_working`."""
    coordinator = session.coordinator

    def rename(name: str, description: str = "") -> Any:
        coordinator.session_state["name"] = name
        coordinator.session_state["description"] = description
        return None if on_rename is None else on_rename(name, description)

    async def model_call(
        prompt: str,
        system: str | None = None,
        max_output_tokens: int = 200,
        provider: str | None = None,
    ) -> str:
        return await ask_model(coordinator, prompt, system, max_output_tokens, provider)

    coordinator.register_capability("session.working_dir", str(folder.absolute()))
    places = DeferredPlaces(partial(list_session_places, session.config, folder, sealed))
    coordinator.register_capability("session.places", places)
    coordinator.register_capability("session.rename", rename)
    coordinator.register_capability("session.model_call", model_call)
    coordinator.register_capability("session.keep_working", session.keep_working)


def list_session_places(
    plan: Mapping[str, Any], folder: Path, sealed: Sequence[Path] = ()
) -> ProtectedPlaces:
    """What is out of reach for the tools of a plan, whose trail and key may lie anywhere.

    `sealed` has the files that say what the session may do without a person.
    """
    audit = plan.get("audit") or {}
    named = [
        audit.get("path"),
        audit.get("sign"),
        audit.get("socket"),
        *(audit.get("anchors") or ()),
    ]
    hidden = [Path(path).expanduser().absolute() for path in named if isinstance(path, str)]
    hidden += list_answer_files(plan.get("approval"))
    return list_places(list_roots(plan, folder), hidden=hidden, sealed=sealed)


def list_answer_files(
    approval: Mapping[str, Any] | None, env: Mapping[str, str] = os.environ
) -> list[Path]:
    """Where answers are kept, and what lets a person give them: the store's files, the token's.

    The person's own store lies with the rest of our data, which is hidden anyway.
    """
    stores = ((approval or {}).get("store"), env.get("AMPLIFIER_STORE"))
    found: list[Path] = []
    if uses_postgres() or any(str(store or "").startswith("postgres") for store in stores):
        found += [Path(env.get(name) or usual).expanduser().absolute() for name, usual in _LIBPQ]
    for store in stores:
        if isinstance(store, str) and store and not store.startswith("postgres"):
            path = Path(unquote(store.removeprefix("sqlite://")) if "://" in store else store)
            name = path.expanduser().absolute()
            found += [name.with_name(f"{name.name}{end}") for end in _SQLITE]
    if token := env.get("AMPLIFIER_TOKEN_FILE"):
        found.append(Path(token).expanduser().absolute())
    return found


def list_roots(plan: Mapping[str, Any], folder: Path) -> tuple[Path, ...]:
    """The working directory, and the others that tools of the plan were given."""
    base = folder.resolve()
    named = dict.fromkeys(_name_roots(plan))
    return tuple(dict.fromkeys([base, *(resolve(root, base) for root in named)]))


def _name_roots(plan: Mapping[str, Any]) -> Iterator[str]:
    for entry in plan.get("tools") or ():
        config = read_entry("tools", entry).config
        start = config.get("working_dir") or "."
        given = [config.get(key) for key in ("roots", "allowed_write_paths")]
        yield from (str(Path(start, root)) for roots in given for root in _read_texts(roots))
        yield str(start)
    sandbox = plan.get("sandbox")
    more = _read_texts(sandbox.get("write") if isinstance(sandbox, Mapping) else None)
    yield from (str(Path(root).expanduser()) for root in more)


def _read_texts(values: Any) -> list[str]:
    """The texts of a list; a module says itself what is wrong with anything else."""
    listed = values if isinstance(values, list | tuple) else ()
    return [one for one in listed if isinstance(one, str) and one.strip()]


def hide_secrets(session: AssembledSession, secrets: frozenset[str]) -> None:
    """Keep the secrets of a bundle out of everything that is shown or recorded."""
    if secrets:
        session.coordinator.register_scrubber(LiteralScrubber(secrets))


Mode = Literal["required", "auto", "off"]
Policy = Literal["allow", "ask", "deny"]
Level = Literal["info", "warning"]

_BASH = "Bash"


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """The section `sandbox` of a bundle; folders that it adds are among the session's roots."""

    mode: Mode = "auto"
    network: Policy = "allow"
    wall: Wanted = "auto"
    unix_sockets: Literal["allow", "deny"] = "deny"

    @classmethod
    def read(cls, section: Mapping[str, Any] | None) -> SandboxOptions:
        """From the plan; a missing key has its default."""
        given = section or {}
        return cls(**{key: given[key] for key in cls.__slots__ if given.get(key) is not None})


class SessionWall:
    """Builds the walls of one session's commands; offered as the capability `session.wall`."""

    def __init__(
        self,
        options: SandboxOptions,
        roots: Sequence[Path],
        places: ProtectedPlaces | DeferredPlaces,
        found: Protection,
    ) -> None:
        self.options = options
        self.roots = tuple(roots)
        self._given_places = places
        self._found = found
        self._temporary: Path | None = None
        self._users: set[str] = set()

    @classmethod
    def open(
        cls,
        section: Mapping[str, Any] | None,
        roots: Sequence[Path],
        places: ProtectedPlaces | DeferredPlaces,
    ) -> SessionWall:
        """SessionError if the bundle requires a wall and this machine has none."""
        options = SandboxOptions.read(section)
        if options.mode == "off":
            return cls(options, roots, places, Protection(None, "", "the bundle says so"))
        found = examine_machine(options.wall)
        if found.kind is None and options.mode == "required":
            raise SessionError(
                f"The bundle requires a sandbox for commands, and there is none: {found.reason}. "
                "Use a machine that has one, or `sandbox: auto` to run without"
            )
        return cls(options, roots, places, found)

    @property
    def holds(self) -> bool:
        """Whether commands run behind a wall at all."""
        return self._found.kind is not None

    @property
    def has_network(self) -> bool:
        """Whether commands may use the network without being asked about it."""
        return self.options.network == "allow"

    @property
    def has_unix_sockets(self) -> bool:
        """Whether commands may talk to services of this machine."""
        return self.options.unix_sockets == "allow"

    def ends_processes_of(self, user: str) -> bool:
        """Whether no process of a tool outlives its call."""
        return self.holds and user in self._users

    def join(self, user: str) -> None:
        """Take note of a tool that runs its programs behind the wall."""
        self._users.add(user)

    def build(
        self,
        *,
        write: Sequence[Path] = (),
        network: bool | None = None,
        unix_sockets: bool | None = None,
    ) -> Wall | None:
        """The wall of one command, with what a person granted it; None if there is no wall."""
        if self._found.kind is None:
            return None
        with_network = self.has_network if network is None else network
        return Wall(
            writable=(*self.roots, *write),
            hidden=self._places.hidden,
            sealed=self._list_sealed((*self.roots, *write)) if write else self._sealed,
            temporary=self._get_temporary(),
            network="allow" if with_network else "deny",
            unix_sockets=self.has_unix_sockets if unix_sockets is None else unix_sockets,
            granted=tuple(write),
            kind=self._found.kind,
        )

    def find_hidden(self, path: Path) -> str | None:
        """Why no person can be asked to grant a path."""
        return self._places.find_refusal(path, writing=False)

    def find_sealed(self, path: Path) -> str | None:
        """Why a person should think twice before granting a path."""
        return self._places.find_refusal(path, writing=True)

    def describe(self, tools: Sequence[str] = ()) -> tuple[str, Level]:
        """The first line of a session: what holds here, and what does not."""
        if self.options.mode == "off":
            return "Off: commands can do anything that you can.", "warning"
        if self._found.kind is None:
            return (
                "NONE: commands can do anything that you can, because "
                f"{self._found.reason}. `sandbox: required` would not start here.",
                "warning",
            )
        outside = sorted(set(tools) - self._users)
        lacks = [*self._found.lacks, *(f"{name} does not use it" for name in outside)]
        return self._say_what_holds() + _say_what_does_not(lacks), "warning" if lacks else "info"

    async def close(self) -> None:
        """Remove the private temporary folder."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def _say_what_holds(self) -> str:
        where = ", ".join(map(str, self.roots))
        network = {"allow": "allowed", "ask": "asked about", "deny": "denied"}
        return (
            f"Commands run behind {self._found.name}. They can write below {where} and in a "
            f"temporary folder of their own; network {network[self.options.network]}."
        )

    @cached_property
    def _places(self) -> ProtectedPlaces:
        given = self._given_places
        return given.listed if isinstance(given, DeferredPlaces) else given

    @cached_property
    def _sealed(self) -> tuple[Path, ...]:
        return self._list_sealed(self.roots)

    def _list_sealed(self, writable: Sequence[Path]) -> tuple[Path, ...]:
        """Only what a command could write: the rest is looked at for nothing."""
        return tuple(
            place
            for place in self._places.sealed
            if any(place.is_relative_to(root) for root in writable)
        )

    def _get_temporary(self) -> Path:
        if self._temporary is None or not self._temporary.is_dir():
            self._temporary = Path(tempfile.mkdtemp(prefix="amplifier-")).resolve()
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary


def offer_wall(session: AssembledSession, folder: Path) -> None:
    """Offer the capability `session.wall`; SessionError if the bundle requires one in vain."""
    coordinator = session.coordinator
    places: ProtectedPlaces | DeferredPlaces = coordinator.get_capability("session.places")
    roots = list_roots(session.config, folder)
    wall = SessionWall.open(session.config.get("sandbox"), roots, places)
    coordinator.register_capability("session.wall", wall)
    session.own(wall.close)


def share_wall(parent: AmplifierSession, child: AmplifierSession) -> None:
    """Have the commands of a sub-agent run behind the wall of its parent."""
    wall = parent.coordinator.get_capability("session.wall")
    child.coordinator.register_capability("session.wall", wall)


async def report_wall(session: AmplifierSession) -> None:
    """Say what holds, in a session that can run commands."""
    wall: SessionWall = session.coordinator.get_capability("session.wall")
    tools: Mapping[str, Any] = session.coordinator.get("tools") or {}
    if _BASH in tools:
        sentence, level = wall.describe([_BASH])
        await session.coordinator.show(sentence, level, "sandbox")


def _say_what_does_not(lacks: Sequence[str]) -> str:
    return f" Does not hold here: {'; '.join(lacks)}." if lacks else ""
