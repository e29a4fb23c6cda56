"""A bundle in, a running session out: here everything meets by name."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_audit import AuditSink
from amplifier_core.errors import ModuleLoadError, SessionError
from amplifier_core.message_models import ChatRequest, Message
from amplifier_core.mounting import ModuleLoader
from amplifier_core.session import AmplifierSession, EndReason
from amplifier_core.utils.suggest import suggest
from amplifier_foundation.bundles import Bundle
from amplifier_foundation.session.approval_limit import limited
from amplifier_foundation.session.child_plan import with_session_options
from amplifier_foundation.session.mounted_set import MountedSet
from amplifier_foundation.session.reload import Reloader
from amplifier_foundation.session.spawning import Spawner
from amplifier_foundation.session.unknown_outcomes import (
    UnknownOutcome,
    complete_state,
    report_unknown_outcomes,
    unknown_outcomes,
)

MOST_CONTINUATIONS = 8
"""How often hooks may keep the agent from stopping after one prompt."""

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class AssembledSession(AmplifierSession):
    """A session that also closes what was opened for it."""

    mounting: MountedSet

    def __init__(self, *args: Any, owned: Iterable[Callable[[], Awaitable[Any]]] = (), **kw: Any):
        super().__init__(*args, **kw)
        self._owned = list(owned)
        self._wanted_next: list[str] = []
        self.mounting = MountedSet(self.coordinator, self.mounting.loader)

    @property
    def failures(self) -> list[str]:
        """Modules that were left out, each with its reason."""
        return [one.error for one in self.mounting.mounted if one.error is not None]

    def keep_working(self, reason: str) -> None:
        """A hook that would not let the agent stop: the reason is what it works on next."""
        self._wanted_next.append(reason)

    async def execute(self, prompt: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Process a prompt, and what hooks want done before the agent may stop."""
        self._wanted_next.clear()
        reply = await super().execute(prompt, metadata)
        for _ in range(MOST_CONTINUATIONS):
            if not self._wanted_next or self.status != "idle":
                break
            wanted = "\n\n".join(self._wanted_next)
            self._wanted_next.clear()
            reply = await super().execute(wanted, {"source": "stop_hook"})
        return reply

    async def cleanup(self, reason: EndReason = "complete") -> None:
        """End the session, then close the trail: the end itself is on record."""
        await super().cleanup(reason)
        while self._owned:
            await self._owned.pop()()


async def open_session(
    bundle: Bundle,
    *,
    session_id: str | None = None,
    approval_system: Any = None,
    display_system: Any = None,
    working_dir: str | Path | None = None,
    resume: Mapping[str, Any] | None = None,
    audit: AuditSink | None = None,
    hot_reload: bool = True,
    on_rename: Callable[[str, str], Any] | None = None,
    prepare: Callable[[AssembledSession], Any] | None = None,
) -> AssembledSession:
    """Mount the bundle and start; `resume` is what `session.state()` of an earlier run returned.

    Without `audit` the trail is opened as the bundle says, one folder per session, and closed with
    the session. A module that does not load is shown to the person and left out. `prepare` gets the
    session before anything of it starts, for whoever wants to hear its very first event.
    """
    plan = with_session_options(bundle.mount_plan)
    folder = Path(working_dir) if working_dir is not None else Path.cwd()
    known = session_id or (resume or {}).get("session_id") or str(uuid.uuid4())
    left = await asyncio.to_thread(_left_behind, plan["audit"], known) if resume else []
    alarms: list[str] = []
    sink = audit if audit is not None else await _open_audit(plan["audit"], known, alarms.append)
    owned = [sink.close] if sink is not None and audit is None else []
    approving = limited(approval_system, plan["approval"])
    async with _undone_on_failure(bundle, owned):
        session = AssembledSession(
            plan,
            loader=ModuleLoader(folder),
            session_id=known,
            approval_system=approving,
            display_system=display_system,
            audit=sink,
            state=resume and complete_state(resume),
            owned=owned,
        )
        _offer(session, folder, bundle.secrets, on_rename)
        Spawner(_child_opener(sink, approving, display_system, bundle)).attach(session)
        if prepare is not None:
            prepare(session)
        await session.initialize()
    for alarm in tuple(alarms):
        await session.coordinator.show(alarm, "error", "audit")
    await _tell_failures(session, bundle)
    await report_unknown_outcomes(session, left)
    if hot_reload:
        Reloader(session, session.mounting, bundle, folder).watch()
    return session


@asynccontextmanager
async def _undone_on_failure(
    bundle: Bundle, owned: Iterable[Callable[[], Awaitable[Any]]]
) -> AsyncIterator[None]:
    """A session that does not start leaves nothing open, and says which line is the reason."""
    try:
        yield
    except BaseException as error:
        for close in owned:
            await close()
        if isinstance(error, ModuleLoadError):
            raise ModuleLoadError(_located(str(error), bundle)) from error
        raise


def _child_opener(
    sink: AuditSink | None, approval_system: Any, display_system: Any, bundle: Bundle
) -> Callable[[AmplifierSession, dict[str, Any], Spawner], Awaitable[AmplifierSession]]:
    async def open_child(
        parent: AmplifierSession, plan: dict[str, Any], below: Spawner
    ) -> AmplifierSession:
        child = AssembledSession(
            with_session_options(plan),
            loader=parent.mounting.loader,
            parent_id=parent.session_id,
            approval_system=approval_system,
            display_system=display_system,
            audit=sink,
            parent_hooks=parent.coordinator.hooks,
        )
        folder = Path(parent.coordinator.get_capability("session.working_dir"))
        # Naming and the like belong to the session that the person sees.
        _offer(child, folder, bundle.secrets, lambda name, description: None)
        for scrub in parent.coordinator.trail.scrubbers:
            child.coordinator.register_scrubber(scrub)
        below.attach(child)
        await child.initialize()
        await _tell_failures(child, bundle)
        return child

    return open_child


def _offer(
    session: AssembledSession,
    folder: Path,
    secrets: frozenset[str],
    on_rename: Callable[[str, str], Any] | None,
) -> None:
    """The capabilities that modules may rely on."""
    board = session.coordinator

    def rename(name: str, description: str = "") -> Any:
        board.session_state["name"] = name
        board.session_state["description"] = description
        return None if on_rename is None else on_rename(name, description)

    async def model_call(
        prompt: str, system: str | None = None, max_output_tokens: int = 200
    ) -> str:
        return await _side_call(session, prompt, system, max_output_tokens)

    board.register_capability("session.working_dir", str(folder.absolute()))
    board.register_capability("session.rename", rename)
    board.register_capability("session.model_call", model_call)
    board.register_capability("session.keep_working", session.keep_working)
    if secrets:
        board.register_scrubber(lambda text: _without(text, secrets))


def _without(text: str, secrets: frozenset[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text


async def _side_call(
    session: AmplifierSession, prompt: str, system: str | None, max_output_tokens: int
) -> str:
    """A question to the session's model, outside the conversation and without events."""
    provider = _provider(session)
    messages = [Message(role="user", content=prompt)]
    if system:
        messages.insert(0, Message(role="system", content=system))
    request = ChatRequest(messages=messages, max_output_tokens=max_output_tokens)
    response = await provider.complete(request)
    text: str = response.text
    return text


def _provider(session: AmplifierSession) -> Any:
    providers = session.coordinator.get("providers")
    loop = session.coordinator.get("orchestrator")
    wanted = getattr(getattr(loop, "config", None), "provider", None)
    found = providers.get(wanted) if wanted else next(iter(providers.values()), None)
    if found is None:
        raise SessionError("No provider is mounted; there is no model to ask")
    if type(found).__module__.endswith(".providers.scripted"):
        raise SessionError("A scripted model plays its script and answers nothing else")
    return found


async def _tell_failures(session: AssembledSession, bundle: Bundle) -> None:
    known = session.mounting.loader.known()
    for outcome in session.mounting.mounted:
        if outcome.error is None:
            continue
        why = outcome.error
        if why.startswith("Unknown module"):
            why = f"Unknown module {outcome.id!r}; {suggest(outcome.id, known)}"
        text = f"Left out: {_located(why, bundle, outcome.id)}"
        await session.coordinator.show(text, "warning", "modules")


def _located(why: str, bundle: Bundle, module: str | None = None) -> str:
    """The sentence with the file and line that asked for the module."""
    named = module or next(iter(re.findall(r"'([^']+)'", why)), "")
    place = bundle.place_of(named)
    return why if place is None else f"{place}: {why}"


async def _open_audit(
    options: Mapping[str, Any], session_id: str, alarm: Callable[[str], None]
) -> AuditSink | None:
    if not options.get("enabled"):
        return None
    from amplifier_audit.writer.anchors import to_file
    from amplifier_audit.writer.log import AuditLog, AuditSettings

    settings = AuditSettings(
        level=options.get("level", "normal"),
        on_failure=options.get("on_failure", "deny"),
        values="committed" if options.get("mode") == "commitment" else "inline",
    )
    home = os.path.expanduser
    anchors = tuple(to_file(home(path)) for path in options.get("anchors") or ())
    signer = await asyncio.to_thread(_signer, options.get("sign"))
    return await AuditLog.open(
        audit_folder(options, session_id), settings, signer=signer, anchors=anchors, alarm=alarm
    )


def _left_behind(options: Mapping[str, Any], session_id: str) -> list[UnknownOutcome]:
    """What an earlier process of this session had started when it died, by its trail."""
    from amplifier_audit.files.directory import NotALog
    from amplifier_audit.reader.reading import open_log, read_records

    if not options.get("enabled"):
        return []
    try:
        return unknown_outcomes(read_records(open_log(audit_folder(options, session_id))))
    except NotALog:
        return []


def audit_folder(options: Mapping[str, Any], session_id: str) -> Path:
    """Where the trail of a session lies: one folder each, as each has one writer."""
    from amplifier_foundation.session.store import data_home

    root = options.get("path")
    base = Path(root) if root else data_home() / "amplifier" / "audit"
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return base / (session_id if _SAFE_ID.fullmatch(session_id) else digest)


def _signer(sign: bool | str | None) -> Any:
    if not sign:
        return None
    from amplifier_audit.signing import create_key, load_signer
    from amplifier_foundation.session.store import data_home

    if isinstance(sign, str):
        return load_signer(Path(sign).expanduser())
    path = data_home() / "amplifier" / "audit.key"
    if path.exists():
        return load_signer(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return create_key(path)
