"""What a rule that applies answers: its fields, with the event's values in their places."""

from __future__ import annotations

import re
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.utils.nested import rewrite
from amplifier_hooks.guards.rules.occasion import Occasion
from amplifier_hooks.guards.rules.rule import ANSWER_FIELDS, Rule

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_\-]+)*)\}")
_LONGEST = 1_000


def build_answer(rule: Rule, occasion: Occasion) -> HookResult:
    """The rule's own result for this occasion."""
    given = {name: getattr(rule, name) for name in ANSWER_FIELDS if name in rule.model_fields_set}
    if rule.action == "ask_user" and rule.approval_prompt is None:
        given["approval_prompt"] = rule.reason
    data = given.pop("data", None)
    fields = {name: fill_templates(value, rule, occasion) for name, value in given.items()}
    if data is not None:
        fields["data"] = merge_data(occasion.data, fill_templates(data, rule, occasion))
    return HookResult(action=rule.action, **fields)


def fill_templates(value: Any, rule: Rule, occasion: Occasion) -> Any:
    """The value with `{tool_name}`, `{tool_input.file_path}` … replaced in its texts.

    Only keys of the event's data are looked up, never attributes; an unknown name stays as it is.
    """
    return rewrite(
        value,
        lambda text, _: _PLACE.sub(
            lambda place: _look_up(place[1], place[0], rule, occasion), text
        ),
        keys=False,
    )


def _look_up(name: str, written: str, rule: Rule, occasion: Occasion) -> str:
    known = {"event": occasion.event, "rule": rule.name, **occasion.notes}
    value = known.get(name, occasion.look_up(name))
    if value is None:
        return written
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def merge_data(data: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The data with the changes laid over it: mappings are joined, everything else replaced."""
    result = dict(data)
    for key, value in changes.items():
        below = result.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        result[key] = merge_data(below, value) if both else value  # type: ignore[arg-type]
    return result


def describe_dry_run(rule: Rule, result: HookResult) -> HookResult:
    """Dry run: say what the rule would have done, and do nothing."""
    what = result.reason or result.approval_prompt or result.context_injection or ""
    said = f"Dry run: the rule {rule.name!r} would have answered {rule.action}"
    return HookResult(
        action="continue",
        user_message=f"{said}: {what}" if what else said,
        user_message_level="info",
    )
