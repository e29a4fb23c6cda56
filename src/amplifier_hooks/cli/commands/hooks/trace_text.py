"""amplifier hooks trace, as text: each answer, and what hooks changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.models import HookResult
from amplifier_core.utils import safe_repr
from amplifier_hooks.agent.session.inspection.effective_hooks import Stopwatch
from amplifier_hooks.cli.text.output import print_heading, print_line, print_wrapped
from amplifier_hooks.cli.text.table import Cell, Column, Table
from amplifier_hooks.insight.changes import find_changes
from amplifier_hooks.text.escape import escape, get_first_line, make_readable

SHOWN = 120
"""Characters of a value that are shown, around the first that differs."""
_LEAD = 30
_MISSING = object()


@dataclass(frozen=True, slots=True)
class DataChange:
    """One field that differs; `before` or `after` is empty where the field is not there."""

    field: str
    before: str
    after: str

    def __str__(self) -> str:
        if not self.before:
            return f"added: {self.after}"
        if not self.after:
            return f"removed: {self.before}"
        return f"{self.before} → {self.after}"


def describe_changes(before: Any, after: Any) -> Iterator[DataChange]:
    """The fields that differ, each as texts of bounded length."""
    for one in find_changes(before, after, missing=_MISSING):
        yield DataChange(one.field, *_clip_both(_write(one.then), _write(one.now)))


def _write(value: Any) -> str:
    if value is _MISSING:
        return ""
    try:
        return json.dumps(value, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # odd keys, cycles, great depth
        return safe_repr(value)


def _clip_both(before: str, after: str) -> tuple[str, str]:
    """Both values from shortly before the place where they part."""
    if max(len(before), len(after)) <= SHOWN:
        return before, after
    pairs = enumerate(zip(before, after, strict=False))
    parting = next((at for at, (old, new) in pairs if old != new), 0)
    start = max(0, parting - _LEAD)
    return _clip(before, start), _clip(after, start)


def _clip(text: str, start: int) -> str:
    end = start + SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")


_STYLES = {"deny": "bad", "ask_user": "warn", "modify": "note", "inject_context": "note"}
_MEANINGS = {
    "deny": "it would not happen",
    "ask_user": "a person would be asked first",
    "inject_context": "it happens, and the agent is told",
    "continue": "it happens",
}
_STAMPED = frozenset({"timestamp", "session_id"})
_TABLE = Table(
    (
        Column(width=3, align="right"),
        Column("tool", width=28),
        Column(width=14),
        Column("dim", width=11, align="right"),
    ),
    indent=2,
    gap=1,
)


def trace_to_dict(run: Dispatch, watch: Stopwatch) -> dict[str, Any]:
    """A trace for machines."""
    answers = [
        {
            "hook": answer.hook,
            "ms": _get_milliseconds(answer, watch),
            "error": None if answer.error is None else repr(answer.error),
            **answer.result.model_dump(exclude_defaults=True),
            "action": answer.result.action,
        }
        for answer in run.all_answers
    ]
    fold = run.fold().model_dump(exclude_defaults=True)
    skipped = _list_skipped(run)
    return {"event": run.event, "answers": answers, "not_reached": skipped, "fold": fold}


def print_trace(run: Dispatch, watch: Stopwatch, sent: dict[str, Any]) -> None:
    """A trace for people; `sent` is the data of the event before the hooks saw it."""
    print_heading(escape(run.event))
    seen = sent
    for order, answer in enumerate(run.all_answers, 1):
        _TABLE.print([_make_row(order, answer, watch)])
        _print_details(answer)
        if answer.result.action == "modify":
            changed = answer.result.data or {}
            _print_changes(7, "changes ", seen, changed)
            seen = changed
    for name in _list_skipped(run):
        why = "not reached: the chain was stopped"
        _TABLE.print([("", (("dim", escape(name)),), (("dim", why),))])
    if not run.handlers:
        print_line(("dim", "  no hook listens"))
    _print_fold(run.fold(), sent)


def _make_row(order: int, answer: Answer, watch: Stopwatch) -> list[Cell]:
    action = answer.result.action
    took = f"{_get_milliseconds(answer, watch):.2f} ms"
    return [f"{order}.", escape(answer.hook), ((_STYLES.get(action, "dim"), action),), took]


def _list_skipped(run: Dispatch) -> list[str]:
    return [handler.name for handler in run.handlers[run.ran :]]


def _get_milliseconds(answer: Answer, watch: Stopwatch) -> float:
    return round(watch.seconds.get(answer.handler.id, 0.0) * 1000, 3)


def _print_details(answer: Answer) -> None:
    if answer.error is not None:
        text = f"failed: {type(answer.error).__name__}: {answer.error}"
        print_wrapped(7, ("bad", make_readable(text)))
    for label, text in _list_details(answer.result):
        for line in make_readable(text).split("\n"):
            print_wrapped(7, ("dim", f"{label}: "), line)


def _list_details(result: HookResult) -> list[tuple[str, str]]:
    details = [
        ("reason", result.reason),
        ("asks", result.approval_prompt),
        ("options", ", ".join(result.approval_options or [])),
        ("injects", result.context_injection),
        ("says", result.user_message),
    ]
    return [(label, text) for label, text in details if text]


def _print_fold(fold: HookResult, sent: dict[str, Any]) -> None:
    print_line("")
    action = (_STYLES.get(fold.action, "good"), fold.action)
    changed = fold.data is not None and any(_find_changes(sent, fold.data))
    print_wrapped(2, "⇒ ", action, f"  {_describe_fold(fold, changed)}")
    if fold.data is not None:
        _print_changes(5, "", sent, fold.data)


def _describe_fold(fold: HookResult, changed: bool) -> str:
    meaning = _MEANINGS[fold.action] + (", with this change:" if changed else "")
    return f"{meaning}: {get_first_line(fold.reason)}" if fold.reason else meaning


def _print_changes(indent: int, label: str, sent: dict[str, Any], left: dict[str, Any]) -> None:
    """What hooks changed, field by field: as it was, and as it is now."""
    for change in _find_changes(sent, left):
        field = ("dim", f"{label}{make_readable(change.field)}: ")
        print_wrapped(indent, field, make_readable(str(change)))


def _find_changes(sent: dict[str, Any], left: dict[str, Any]) -> Iterator[DataChange]:
    """Without what the registry itself adds, such as the time."""
    return (one for one in describe_changes(sent, left) if one.field not in _STAMPED)
