"""Sessions that never ran: what their trails would tell, as values and as real trails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_audit import AuditLog
from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.reports.collect import collect_items
from amplifier_hooks.insight.reports.model import Period, Proof, ReportFigures, SessionFigures
from amplifier_hooks.trails import (
    Header,
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
)
from tests.support.bodies import make_body

SESSION = "3f0c1a2b-session"
MADE = "2026-11-17T12:00:00+00:00"


def at(second: float) -> str:
    """A time of the story: so many seconds after nine."""
    whole = int(second)
    part = f"{second - whole:.3f}"[1:]
    return f"2026-11-15T09:{whole // 60:02}:{whole % 60:02}{part}Z"


def place(second: float, event: str = "", session: str = SESSION, turn: int = 1) -> dict[str, Any]:
    """Where something stands in the trail."""
    number = int(second * 1000)
    return {
        "sequence": number,
        "time": at(second),
        "session": session,
        "turn": turn,
        "event": event,
    }


def event(
    second: float,
    name: str,
    data: dict[str, Any],
    *answers: HookAnswer,
    left: dict[str, Any] | None = None,
    session: str = SESSION,
    turn: int = 1,
    **more: Any,
) -> RecordedEvent:
    """An event; it was denied if one of the answers says so."""
    denied = [one for one in answers if one.action == "deny" and not one.unheeded]
    folded = {"action": "deny", "reason": denied[0].reason} if denied else {}
    return RecordedEvent(
        **place(second, name, session, turn),
        data=data,
        left=data if left is None else left,
        answers=answers,
        **{**folded, **more},
    )


def answer(hook: str, action: str = "continue", **more: Any) -> HookAnswer:
    """What a hook said, in a millisecond."""
    return HookAnswer(hook, 1, action, more.pop("ms", 1.0), **more)


def prompt(second: float, text: str, **more: Any) -> RecordedEvent:
    return event(second, "prompt:submit", {"prompt": text}, **more)


def call(
    second: float, tool: str, tool_input: Any, *answers: HookAnswer, id: str = "c1", **more: Any
) -> RecordedEvent:
    """A call that hooks were told of."""
    data = {"tool_name": tool, "tool_input": tool_input, "tool_call_id": id}
    return event(second, "tool:pre", data, *answers, **more)


def run(
    second: float, tool: str, tool_input: Any, output: Any = "ok", *, id: str = "c1", **more: Any
) -> list[Item]:
    """A whole call that succeeded."""
    data = {"tool_name": tool, "tool_input": tool_input, "tool_call_id": id}
    result = {**data, "tool_result": {"success": True, "output": output}, "success": True}
    return [
        call(second, tool, tool_input, id=id, **more),
        RecordedCall(**place(second + 0.1, "tool:pre"), stage="started", tool=tool, call_id=id),
        RecordedCall(
            **place(second + 0.3, "tool:pre"),
            stage="finished",
            tool=tool,
            call_id=id,
            outcome="returned",
            success=True,
            ms=200.0,
        ),
        event(second + 0.4, "tool:post", result),
    ]


def respond(second: float, model: str, text: str = "", **usage: int) -> RecordedEvent:
    """A model's reply."""
    response = {"content": [{"type": "text", "text": text}]}
    return event(
        second, "provider:response", {"model": model, "usage": usage, "response": response}
    )


def ask(second: float, **more: Any) -> RecordedApproval:
    """A question."""
    fields = {
        "hook": "guard",
        "id": 1,
        "digest": "d1",
        "tool": "Write",
        "call_id": "c1",
        "prompt": "Allow Write?",
        "input": {"file_path": "app.conf"},
    }
    return RecordedApproval(**place(second, "tool:pre"), stage="requested", **{**fields, **more})


def decide(second: float, allowed: bool, **more: Any) -> RecordedApproval:
    """The answer to a question."""
    fields = {
        "hook": "guard",
        "id": 1,
        "digest": "d1",
        "stage": "decided",
        "how": "person",
        "by": "ann",
        "decision": "Allow once" if allowed else "Deny",
    }
    return RecordedApproval(**place(second, "tool:pre"), allowed=allowed, **{**fields, **more})


def note(second: float, type: str, body: dict[str, Any], **more: Any) -> Note:
    """Any other record."""
    hook, name = more.pop("hook", ""), more.pop("event", "")
    return Note(**place(second, name, **more), hook=hook, body=make_body(type, body, hook))


def end(second: float, reason: str = "complete") -> Note:
    return note(second, "session_ended", {"reason": reason})


def gather(*items: Item | list[Item], **more: Any) -> SessionFigures:
    """The figures of a session with these records."""
    period = more.pop("period", Period())
    header = Header(Path("trails") / SESSION, session=SESSION, **more)
    figures = SessionFigures(header, Proof(path=str(header.path)))
    flat: list[Item] = []
    for one in items:
        flat.extend(one if isinstance(one, list) else [one])
    collect_items(figures, flat, period)
    return figures


def tell_whole_story(text: str = "fix the parser") -> SessionFigures:
    """A session in which everything happens, with this text wherever others write."""
    changed = {"tool_name": text, "tool_input": {"command": text}, "tool_call_id": "c9"}
    return gather(
        note(0, "log_opened", {"key": text}, turn=0),
        prompt(1, text),
        event(1.5, "provider:request", {"model": text}),
        respond(2, f"{text}-model", text, input_tokens=100, output_tokens=20),
        event(2.5, "artifact:write", {"path": text}),
        run(3, "Write", {"file_path": text, "content": f"{text}\n{text}"}, text),
        run(4, "Bash", {"command": text}, text, id="c2"),
        call(5, "Bash", {"command": text}, answer(text, "deny", reason=text), id="c3"),
        call(6, "Write", {"file_path": text}, answer("guard", "ask_user"), id="c4"),
        ask(6, call_id="c4", prompt=text, input={text: text}, hook=text),
        decide(60, False, hook=text, by=text, comment=text, how=text, decision=text),
        event(61, "tool:pre", changed, answer(text, "modify", reason=text), left={text: text}),
        event(62, "tool:post", {text: text}, answer(text, error=text, timed_out=True)),
        event(63, "tool:post", {text: text}, answer(text, shadowed="deny", reason=text)),
        note(64, "injection_accepted", {"text": text, "tokens": 5}, hook=text, event=text),
        note(65, "user_message", {"text": text}, hook=text, event=text),
        note(66, "error", {"what": text, "error": text}),
        event(68, "prompt:answer", {"response": text}),
        event(69, "orchestrator:complete", {"status": text}),
        end(70, text),
        folder=text,
        bundle=text,
        bundle_file=text,
        bundle_digest=text,
    )


def report_on(*sessions: SessionFigures, chapters: int = 20) -> ReportFigures:
    """A report on these sessions."""
    report = ReportFigures(MADE, chapter_limit=chapters)
    for session in sessions:
        report.add(session)
    return report


def write_trail(
    root: Path, name: str = SESSION, *, folder: str = "", denials: int = 1, session: str = ""
) -> Path:
    """A small trail, written by the real writer."""
    log = AuditLog(root / name, name=name)
    id = session or name
    log.append("bundle_loaded", {"folder": folder, "bundle": "test"}, session=id, turn=0)
    for number in range(denials):
        data = {"tool_name": "Bash", "tool_input": {"command": f"rm {number}"}}
        hooks = [{"hook": "guard", "id": 1, "action": "deny", "ms": 2.0, "reason": "not here"}]
        body = {"action": "deny", "hooks": hooks, "data": data, "reason": "not here"}
        log.append("dispatch", body, session=id, turn=1, event="tool:pre")
    log.append("session_ended", {"reason": "complete"}, session=id, turn=1)
    log.close_now()
    return root / name
