"""An approval as a person reads it: in a row, in a line, and in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_hooks.approvals.stores.scopes import describe_width
from amplifier_hooks.cli.text.escape import escape, get_first_line, make_readable
from amplifier_hooks.cli.text.fragments import Line, escape_line, escape_lines
from amplifier_hooks.cli.text.output import print_line

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval, StandingRule

_STYLES = {"+": "add", "-": "del", "@": "hunk"}


def make_row(approval: Approval, short: str) -> tuple[str, ...]:
    """One row of the list; `short` is as much of its id as tells it from others."""
    request = approval.request
    what = f"{request.tool_name}  {_summarize(request.tool_input)}".strip()
    return (
        short,
        describe_state(approval),
        escape(request.machine),
        escape(request.hook),
        escape(get_first_line(request.prompt, 80)),
        escape(get_first_line(what, 80)),
    )


def describe_state(approval: Approval) -> str:
    """How it stands, with the time that is left or who decided."""
    if approval.status == "pending":
        return f"waits, {format_seconds(approval.seconds_left)} left"
    if not approval.decided_by:
        return approval.status
    said = f"{escape(approval.option)!r} by {escape(approval.decided_by)}"
    return f"{approval.status}, {said}"


def format_seconds(seconds: float) -> str:
    """A time span in one unit."""
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {word}"
    return f"{max(0.0, seconds):.0f} s"


def print_approval(approval: Approval) -> None:
    """Everything that a person should see before deciding; nothing is left out."""
    for line in show_approval(approval):
        print_line(*line)


def show_approval(approval: Approval) -> Iterator[Line]:
    """The lines of an approval in full."""
    request = approval.request
    yield from escape_lines(request.prompt, "title")
    yield (("", ""),)
    for name, value in _list_facts(approval):
        # Foreign lines stand under the first: none of them looks like another fact.
        yield (("dim", f"{name:<10}"), ("", make_readable(value).replace("\n", f"\n{'':<10}")))
    for note in request.notes:
        yield (("warning", f"Note: {make_readable(note)}"),)
    if request.preview:
        yield (("", ""),)
        yield from _show_diff(request.preview)
    if request.tool_input:
        yield (("", ""),)
        yield (("dim", "input"),)
        yield from _show_input(request.tool_input)
    yield (("", ""),)
    for option in request.options:
        yield (("note", f"{option.id}  "), *escape_line(option.label))


def _list_facts(approval: Approval) -> Iterator[tuple[str, str]]:
    request = approval.request
    facts = {
        "id": approval.id,
        "state": describe_state(approval),
        "hook": request.hook,
        "reason": request.reason,
        "tool": request.tool_name,
        "from": f"{request.requester} on {request.machine}, in {request.working_dir}",
        "session": request.session_id,
        "needs": _describe_requirement(approval),
        "decision": approval.option,
        "comment": approval.comment,
        "outcome": approval.outcome,
        "rule": approval.rule_id,
    }
    yield from ((name, value) for name, value in facts.items() if value)


def _describe_requirement(approval: Approval) -> str:
    need = approval.request.requirement
    said = ", ".join(vote.by for vote in approval.votes)
    words = [f"{need.persons} people" + (f" (so far {said})" if said else "")]
    return "; ".join(
        [
            *(words if need.persons > 1 else []),
            *([] if need.requester_may_approve else [f"not {approval.request.requester}"]),
            *([f"the scope {need.scope}"] if need.scope else []),
        ]
    )


def _show_diff(text: str) -> Iterator[Line]:
    for row in text.splitlines():
        yield escape_line(row, _STYLES.get(row[:1], ""))


def _show_input(tool_input: Mapping[str, Any]) -> Iterator[Line]:
    command = tool_input.get("command")
    rest: Mapping[str, Any] = tool_input
    if isinstance(command, str):
        yield from escape_lines(command)
        rest = {key: value for key, value in tool_input.items() if key != "command"}
    if rest:
        yield from escape_lines(json.dumps(rest, indent=2, ensure_ascii=False))


def _summarize(tool_input: Mapping[str, Any]) -> str:
    for key in ("command", "file_path", "path", "url"):
        if isinstance(tool_input.get(key), str):
            return str(tool_input[key])
    return ""


def make_rule_row(rule: StandingRule, short: str, now: float) -> tuple[str, ...]:
    """One row of the list of rules."""
    left = rule.expires - now
    state = f"{format_seconds(left)} left" if left > 0 else "over"
    if rule.revoked_by:
        state = f"revoked by {escape(rule.revoked_by)}"
    uses = f"used {rule.uses}×" + ("" if rule.uses_left is None else f", {rule.uses_left} left")
    wide = describe_width(rule)
    said = f"{rule.description} (too wide: {wide})" if wide else rule.description
    return (short, escape(rule.author), state, uses, escape(said))
