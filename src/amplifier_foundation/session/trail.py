"""The trail of a session: where it is kept, how it is opened, what it says about the last run."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_core.trail import AuditSink
from amplifier_foundation.machine.user_folders import find_data_home
from amplifier_foundation.session.unknown_outcomes import UnknownOutcome, unknown_outcomes

if TYPE_CHECKING:
    from amplifier_audit import AuditLog, Signer

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class SessionTrail:
    """The trail that a session writes to, and what was noticed while it was opened.

    `owned` closes what was opened for the session; a trail that was given stays open.
    """

    sink: AuditSink | None
    unknown: list[UnknownOutcome]
    alarms: list[str] = field(default_factory=list)
    owned: tuple[Callable[[], Awaitable[Any]], ...] = ()


async def attach_trail(
    options: Mapping[str, Any], session_id: str, given: AuditSink | None, *, resumed: bool
) -> SessionTrail:
    """Use the trail that was given, or open one as the `audit` section says."""
    unknown: list[UnknownOutcome] = []
    if resumed:
        unknown = await asyncio.to_thread(find_unknown_outcomes, options, session_id)
    if given is not None:
        return SessionTrail(given, unknown)
    alarms: list[str] = []
    log = await open_trail(options, session_id, alarms.append)
    return SessionTrail(log, unknown, alarms, () if log is None else (log.close,))


def locate_trail(options: Mapping[str, Any], session_id: str) -> Path:
    """The folder of a session's trail: each session has its own, because each has one writer."""
    root = options.get("path")
    base = Path(root) if root else find_data_home() / "amplifier" / "audit"
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return base / (session_id if _SAFE_ID.fullmatch(session_id) else digest)


async def open_trail(
    options: Mapping[str, Any], session_id: str, alarm: Callable[[str], None]
) -> AuditLog | None:
    """Open the trail as the `audit` section says; None if it is not enabled."""
    if not options.get("enabled"):
        return None
    # A session without a trail does not pay for what writes one.
    from amplifier_audit import AuditLog, AuditSettings, anchor_to_file

    settings = AuditSettings(
        level=options.get("level", "normal"),
        on_failure=options.get("on_failure", "deny"),
        values="committed" if options.get("mode") == "commitment" else "inline",
    )
    signer = await asyncio.to_thread(_load_signer, options.get("sign"))
    return await AuditLog.open(
        locate_trail(options, session_id),
        settings,
        signer=signer,
        anchors=tuple(anchor_to_file(_expand(path)) for path in options.get("anchors") or ()),
        alarm=alarm,
    )


def find_unknown_outcomes(options: Mapping[str, Any], session_id: str) -> list[UnknownOutcome]:
    """The calls that an earlier process of this session had started when it died."""
    from amplifier_audit import NotALog, open_log, read_records

    if not options.get("enabled"):
        return []
    try:
        return unknown_outcomes(read_records(open_log(locate_trail(options, session_id))))
    except NotALog:
        return []


def _load_signer(sign: bool | str | None) -> Signer | None:
    """The key at a path, or the person's own, which is created when it is first needed."""
    if not sign:
        return None
    from amplifier_audit import create_key, load_signer

    if isinstance(sign, str):
        return load_signer(_expand(sign))
    path = find_data_home() / "amplifier" / "audit.key"
    if path.exists():
        return load_signer(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return create_key(path)


def _expand(path: str) -> Path:
    return Path(path).expanduser()
