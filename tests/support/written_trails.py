"""Trails with what a test wants to have happened, written by the real writer."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amplifier_audit import AuditLog
from amplifier_core.approval.passage import digest_operation

PERSON = "ann"


class WrittenTrail:
    """One recorded session; `with` writes it."""

    def __init__(self, root: Path, session: str, folder: Path) -> None:
        self.path = root / session
        self._session = session
        self._log = AuditLog(self.path, name=session)
        self._log.append("bundle_loaded", {"folder": str(folder), "bundle": "test"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._log.close_now()

    def dispatch(self, event: str, data: dict[str, Any], **more: Any) -> None:
        """An event that went through the hooks."""
        body = {"action": "continue", "hooks": [], "data": data, **more}
        self._log.append("dispatch", body, session=self._session, turn=1, event=event)

    def call(self, tool: str, tool_input: Any, **more: Any) -> None:
        """A tool call that was judged."""
        self.dispatch("tool:pre", {"tool_name": tool, "tool_input": tool_input}, **more)

    def ask(
        self,
        tool: str,
        tool_input: Any,
        decision: str = "Allow once",
        hook: str = "hooks-production-guard",
        *,
        by: str = PERSON,
        how: str = "person",
        edited: bool = False,
    ) -> None:
        """A question about a call, and its answer; without a decision, nobody has answered."""
        answers = [{"hook": hook, "id": 1, "action": "ask_user"}]
        self.call(tool, tool_input, action="ask_user", hooks=answers)
        digest = digest_operation("tool:pre", {"tool_name": tool, "tool_input": tool_input})
        source: dict[str, Any] = {
            "session": self._session,
            "turn": 1,
            "event": "tool:pre",
            "hook": hook,
            "registration": 1,
        }
        asked = {"prompt": "Allow it?", "tool": tool, "input": tool_input, "digest": digest}
        self._log.append("approval_requested", asked, **source)
        if not decision:
            expired = {"allowed": False, "how": "timeout", "digest": digest}
            self._log.append("approval_expired", expired, **source)
            return
        said = {"decision": decision, "allowed": decision.startswith("Allow"), "by": by}
        body = {**said, "how": how, "edited": edited, "digest": digest}
        self._log.append("approval_decided", body, **source)
        if decision == "Allow always":
            remembered = {"decision": decision, "digest": digest}
            self._log.append("approval_cache_hit", remembered, **source)
