"""What the modules of a session may ask it for, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from amplifier_core.mount_plan import read_entry
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.side_call import ask_model
from amplifier_hooks.guards.policy.database_use import uses_postgres
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.protected_places import (
    DeferredPlaces,
    ProtectedPlaces,
    list_places,
)
from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber

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
    # Tools look at it before anything else happens; without any, perhaps nobody ever does.
    shown = places.listed if session.config.get("tools") else places
    coordinator.register_capability("session.places", shown)
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
    return tuple(dict.fromkeys([base, *(resolve(root, base) for root in _name_roots(plan))]))


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
