"""The trail of a session: where it is kept, how it is opened, what it says about the last run.

A call that needs approval waits until its record is on disk, so a failed trail denies it anyway.
The guard here is for all other calls. `on_failure` says when it denies them:

deny   the files of the trail were moved, deleted, replaced or cut by somebody (the default)
stop   the same, and also when the trail has failed in any other way, such as by a full disk
warn   never
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.session.open_calls import (
    UnknownOutcome,
    follow_waiting,
    unknown_outcomes,
)
from amplifier_hooks.machine.background import Turns
from amplifier_hooks.machine.locations import find_data_home

if TYPE_CHECKING:
    from amplifier_audit import AuditLog, AuditSettings, RemoteLog, Signer
    from amplifier_audit.anchors import Anchor

GUARD = "trail-guard"
# Before every other hook: nobody needs to be asked about a call that cannot be recorded.
GUARD_PRIORITY = -1_000_000

_OPENINGS = Turns(2)
"""More threads at once would open fifty trails sooner, and hold up the loop meanwhile."""

OnFailure = Literal["deny", "stop", "warn"]


@dataclass(frozen=True, slots=True)
class SessionTrail:
    """The trail that a session writes to, and what was noticed while it was opened.

    `owned` closes what was opened for the session; a trail that was given stays open.
    """

    sink: AuditSink | None
    unknown: list[UnknownOutcome]
    alarms: list[str] = field(default_factory=list)
    owned: tuple[Callable[[], Awaitable[Any]], ...] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    """The calls that an earlier process asked about and never started, with their digests."""


async def attach_trail(
    options: Mapping[str, Any], session_id: str, given: AuditSink | None, *, resumed: bool
) -> SessionTrail:
    """Use the trail that was given, or open one as the `audit` section says."""
    unknown: list[UnknownOutcome] = []
    waiting: dict[str, str] = {}
    if resumed:
        unknown, waiting = await asyncio.to_thread(read_unfinished, options, session_id)
    if given is not None:
        return SessionTrail(given, unknown, waiting=waiting)
    alarms: list[str] = []
    if resumed and options.get("enabled"):
        alarms += await asyncio.to_thread(_report_missing, options, session_id)
    log = await open_trail(options, session_id, alarms.append)
    return SessionTrail(log, unknown, alarms, () if log is None else (log.close,), waiting)


def locate_trail(options: Mapping[str, Any], session_id: str) -> Path:
    """The folder of a session's trail: each session has its own, because each has one writer."""
    from amplifier_audit.record import name_log

    root = options.get("path")
    base = Path(root) if root else find_data_home() / "amplifier" / "audit"
    return base / name_log(session_id)


async def open_trail(
    options: Mapping[str, Any], session_id: str, alarm: Callable[[str], None]
) -> AuditLog | RemoteLog | None:
    """Open the trail as the `audit` section says; None if it is not enabled."""
    if not options.get("enabled"):
        return None
    # A session without a trail does not pay for what writes one.
    from amplifier_audit import AuditLog, AuditSettings

    settings = AuditSettings(
        level=options.get("level", "normal"),
        on_failure="warn" if options.get("on_failure") == "warn" else "deny",
        values="committed" if options.get("mode") == "commitment" else "inline",
    )
    if options.get("socket"):
        return await _connect(options, session_id, settings, alarm)
    key = find_key(options.get("sign"))
    path = locate_trail(options, session_id)

    def open_here() -> AuditLog:
        return AuditLog(
            path,
            settings,
            name=path.name,
            signer=_load_signer(key, create=options.get("sign") is True),
            watch=() if key is None else (key,),
            anchors=tuple(_make_anchors(options, path, alarm)),
            alarm=alarm,
        )

    async with _OPENINGS.take():
        return await asyncio.to_thread(open_here)


def _make_anchors(
    options: Mapping[str, Any], path: Path, alarm: Callable[[str], None]
) -> Iterator[Anchor]:
    """Where the checkpoints go beside the trail: files, and a witness."""
    for file in options.get("anchors") or ():
        from amplifier_audit import anchor_to_file

        _check_anchor(_expand(file))
        yield anchor_to_file(_expand(file))
    if url := options.get("witness"):
        from amplifier_audit.witness import Witness, WitnessSender

        yield WitnessSender(Witness(url, options.get("witness_token") or ""), path, alarm)


def _check_anchor(file: Path) -> None:
    """Refuse an anchor that cannot be written: without it, the end of the trail proves nothing."""
    from amplifier_audit import AuditError

    try:
        with file.open("ab"):
            pass
    except OSError as failure:
        # Its folder is not created: the volume that should be there may not be mounted.
        raise AuditError(
            f"audit.anchors: {file} cannot be written ({failure.strerror}); "
            "create its folder, or name a file that can"
        ) from failure


async def _connect(
    options: Mapping[str, Any],
    session_id: str,
    settings: AuditSettings,
    alarm: Callable[[str], None],
) -> RemoteLog:
    """Use the writer behind a socket, which alone has the files and the key."""
    from amplifier_audit import AuditError, RemoteLog
    from amplifier_audit.messages import find_user

    if given := [name for name in ("path", "sign", "anchors", "witness") if options.get(name)]:
        raise AuditError(
            f"audit.socket: the writer at {options['socket']} has its own files and its own key; "
            f"remove audit.{given[0]}, or audit.socket"
        )
    user = options.get("server_user")
    return await RemoteLog.open(
        _expand(options["socket"]),
        session_id,
        settings,
        server_user=None if user is None else find_user(str(user)),
        alarm=alarm,
    )


def read_unfinished(
    options: Mapping[str, Any], session_id: str
) -> tuple[list[UnknownOutcome], dict[str, str]]:
    """What an earlier process of this session left: calls it had started, and calls it asked about.

    Only what a trail says counts: of a call that is in none, nobody knows whether it was started.
    """
    from amplifier_audit import NotALog, open_log, read_records

    if not options.get("enabled") or options.get("socket"):
        return [], {}
    waiting: dict[str, str] = {}
    try:
        records = read_records(open_log(locate_trail(options, session_id)))
        return unknown_outcomes(follow_waiting(records, waiting, session_id)), waiting
    except NotALog:
        return [], {}


def _report_missing(options: Mapping[str, Any], session_id: str) -> list[str]:
    """A session that goes on and has no trail of what it did before."""
    if options.get("socket"):
        return ["Only the audit writer can tell what an earlier run left unfinished"]
    path = locate_trail(options, session_id)
    if path.exists():
        return []
    return [f"No earlier trail of this session was found at {path}; a new one begins"]


def find_key(sign: bool | str | None) -> Path | None:
    """The key at a path, or the person's own."""
    if not sign:
        return None
    return _expand(sign) if isinstance(sign, str) else find_data_home() / "amplifier" / "audit.key"


def _load_signer(path: Path | None, *, create: bool) -> Signer | None:
    """The key; the person's own is created when it is first needed."""
    if path is None:
        return None
    from amplifier_audit import create_key, load_signer

    if not create or path.exists():
        return load_signer(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return create_key(path)


def _expand(path: str) -> Path:
    return Path(path).expanduser()


# Calls without a trail


@runtime_checkable
class WatchedSink(Protocol):
    """A trail that can tell what became of its files."""

    @property
    def failure(self) -> str | None: ...

    def find_loss(self) -> str | None: ...


def guard_tool_calls(coordinator: SessionCoordinator, sink: Any, on_failure: OnFailure) -> None:
    """Deny tool calls of this session and of its sub-agents once their trail is gone."""
    if on_failure == "warn" or not isinstance(sink, WatchedSink):
        return

    def judge(loss: str | None) -> HookResult:
        why = loss or (sink.failure if on_failure == "stop" else None)
        return HookResult(action="deny", reason=describe_loss(why)) if why else HookResult()

    async def look_elsewhere() -> HookResult:
        return judge(await asyncio.to_thread(sink.find_loss))

    at_once = _is_on_local_disk(sink)

    def guard(event: str, data: dict[str, Any]) -> HookResult | Awaitable[HookResult]:
        # Even `stat` may hang, on a network volume.
        return judge(sink.find_loss()) if at_once else look_elsewhere()

    remove = coordinator.hooks.register(TOOL_PRE, guard, GUARD_PRIORITY, GUARD, on_error="deny")
    coordinator.register_cleanup(remove)


def _is_on_local_disk(sink: Any) -> bool:
    from amplifier_audit.log_directory import is_local

    folder = getattr(sink, "directory", None)
    return folder is not None and is_local(folder.path)


def describe_loss(why: str) -> str:
    """What the agent and the person read."""
    return (
        f"The audit trail takes no records: {why}. No tool runs without it; "
        "end this session, look into the trail with `amplifier audit verify`, and start again"
    )
