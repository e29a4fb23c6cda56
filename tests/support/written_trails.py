"""Trails with what a test wants to have happened, written by the real writer."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from amplifier_audit import AuditLog
from amplifier_core.gatekeeper import digest_operation

PERSON = "ann"


class WrittenTrail:
    """One recorded session; `with` writes it."""

    def __init__(self, root: Path, session: str, folder: Path) -> None:
        self.path = root / session
        self._session = session
        self._calls = 0
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

    def register(self, hook: str, event: str) -> None:
        """A hook was registered."""
        source: dict[str, Any] = {"session": self._session, "event": event, "hook": hook}
        self._log.append("hook_registered", {"priority": 0}, registration=99, **source)

    def note(self, type: str, body: dict[str, Any]) -> None:
        """Any other record."""
        self._log.append(type, body, session=self._session)

    def dispatch(self, event: str, data: dict[str, Any], **more: Any) -> None:
        """An event that went through the hooks."""
        body = {"action": "continue", "hooks": [], "data": data, **more}
        self._log.append("dispatch", body, session=self._session, turn=1, event=event)

    def call(self, tool: str, tool_input: Any, **more: Any) -> None:
        """A tool call that was judged."""
        self.dispatch("tool:pre", {"tool_name": tool, "tool_input": tool_input}, **more)

    def _request(
        self, tool: str, tool_input: Any, hook: str, call_id: str = ""
    ) -> tuple[str, dict[str, Any]]:
        """A question about a call."""
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
        self._log.append("approval_requested", {**asked, "id": call_id}, **source)
        return digest, source

    def hand_over(
        self, tool: str, tool_input: Any, state: str = "", hook: str = "hooks-production-guard"
    ) -> None:
        """A question that Claude Code asks its person, and what it showed of it, if anything."""
        self._calls += 1
        digest, source = self._request(tool, tool_input, hook, f"c{self._calls}")
        body = {"to": "claude", "goes_on": True, "tool": tool, "digest": digest}
        body["id"] = f"c{self._calls}"
        self._log.append("approval_handed_over", body, **source)
        if state:
            learnt = {**body, "state": state, "evidence": "result", "settles": "not_known"}
            self._log.append("approval_outcome", learnt, **{**source, "registration": None})

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
        digest, source = self._request(tool, tool_input, hook)
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
