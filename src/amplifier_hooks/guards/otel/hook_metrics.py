"""The figures of hooks that a session tells at its end, as metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_hooks.guards.otel.genai_names import Attribute
from amplifier_hooks.guards.otel.pipeline import Pipeline
from amplifier_hooks.guards.otel.reply import is_number
from amplifier_hooks.machine.text import to_one_line

MOST_HOOKS = 500


def record_hooks(pipeline: Pipeline, stats: Any) -> None:
    """Add what each hook did in a session; what is no figure is left out."""
    for name, figures in list(_list_hooks(stats))[:MOST_HOOKS]:
        hook = {Attribute.HOOK: to_one_line(name, 100)}
        for action, count in _list_numbers(figures.get("answers")):
            pipeline.hook_calls.add(count, {**hook, Attribute.HOOK_ACTION: action})
        for action, count in _list_numbers(figures.get("shadowed")):
            pipeline.hook_shadowed.add(count, {**hook, Attribute.HOOK_ACTION: action})
        for key, counter in (
            ("failures", pipeline.hook_failures),
            ("timeouts", pipeline.hook_timeouts),
        ):
            if is_number(figures.get(key)) and figures[key] > 0:
                counter.add(figures[key], hook)
        for quantile in ("p50", "p95", "p99"):
            spent: Any = figures.get(f"{quantile}_ms")
            if is_number(spent) and spent >= 0:
                attributes = {**hook, Attribute.HOOK_QUANTILE: quantile}
                pipeline.hook_duration.record(spent / 1000, attributes)


def _list_hooks(stats: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    hooks = stats.get("hooks") if isinstance(stats, Mapping) else None
    for name, figures in hooks.items() if isinstance(hooks, Mapping) else ():
        if isinstance(figures, Mapping):
            yield name, figures


def _list_numbers(counts: Any) -> Iterator[tuple[str, Any]]:
    for action, count in counts.items() if isinstance(counts, Mapping) else ():
        if is_number(count) and count > 0:
            yield to_one_line(action, 60), count
