"""What hooks answered, how long they took, and how often people overruled them.

Once as JSON for the page and other programs, and once as Prometheus wants it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from time import time
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from amplifier_hooks.approvals.stores.statistics import BOUNDS, HookFigures
from amplifier_hooks.server.answers import StatisticsAnswer
from amplifier_hooks.server.bodies import Name
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.services import Reader, Shared
from amplifier_hooks.trails.recount import SHADOW

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHERS = "(others)"
"""The hook, event and action of everything that is not told apart."""

Labels = tuple[tuple[str, str], ...]
Series = dict[Labels, float]

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def write_metrics(
    figures: Iterable[HookFigures], rest: HookFigures, states: Mapping[str, Mapping[str, int]]
) -> str:
    """The whole answer to a scrape."""
    every = [*figures]
    if rest.count or rest.asked or rest.injected_tokens:
        every.append(replace(rest, hook=OTHERS, event=OTHERS, action=OTHERS))
    blocks = [*_write_hooks(every), _write_times(every), *_write_states(states)]
    return "".join(blocks)


def _write_hooks(every: list[HookFigures]) -> Iterator[str]:
    calls, shadowed = _count_calls(every)
    prefix = "amplifier_hook_"
    yield _write(f"{prefix}calls_total", "Calls of hooks, by what they answered.", calls)
    help = "Answers that shadow mode kept from having an effect."
    yield _write(f"{prefix}shadowed_total", help, shadowed)
    for name, help in (
        ("failures", "Calls of hooks that failed."),
        ("timeouts", "Calls of hooks that took too long."),
        ("injected_tokens", "Tokens that hooks put into conversations."),
        ("asked", "Questions of hooks that were put to somebody."),
        ("overruled", "Questions of hooks that a person allowed."),
        ("handed_over", "Questions of hooks that another program asked its own person."),
        ("contradicted", "Calls that a hook denied and that ran all the same."),
    ):
        yield _write(f"{prefix}{name}_total", help, _sum(every, name))
    decided: Series = {}
    for outcome in ("allowed", "refused", "expired"):
        for labels, value in _sum(every, outcome).items():
            decided[*labels, ("outcome", outcome)] = value
    yield _write(f"{prefix}decisions_total", "What became of questions of hooks.", decided)
    handed: Series = {}
    for outcome in ("not_run", "not_known"):  # both can become less: a result may still come
        for labels, value in _sum(every, outcome).items():
            handed[*labels, ("outcome", outcome)] = value
    help = "Questions that were handed over and are not known to have been allowed."
    yield _write(f"{prefix}handed_over", help, handed, "gauge")


def _count_calls(every: list[HookFigures]) -> tuple[Series, Series]:
    calls: Series = {}
    shadowed: Series = {}
    for one in every:
        action, place = one.action, (("hook", one.hook), ("event", one.event))
        if action.startswith(SHADOW):
            _add(shadowed, (*place, ("action", action.removeprefix(SHADOW))), one.count)
            action = "continue"
        _add(calls, (*place, ("action", action)), one.count)
    return calls, shadowed


def _sum(every: list[HookFigures], name: str) -> Series:
    sums: Series = {}
    for one in every:
        _add(sums, (("hook", one.hook),), getattr(one, name))
    return sums


def _add(series: Series, labels: Labels, value: float) -> None:
    series[labels] = series.get(labels, 0) + value


def _write_times(every: list[HookFigures]) -> str:
    name = "amplifier_hook_duration_seconds"
    lines = [_write_head(name, "How long calls of hooks took.", "histogram")]
    timed = _sum(every, "timed")
    spent = _sum(every, "milliseconds")
    within = {bound: _sum(every, f"within_{bound}") for bound in BOUNDS}
    for labels, count in timed.items():
        if not count:
            continue
        buckets = [(f"{bound / 1000:g}", within[bound][labels]) for bound in BOUNDS]
        for bound, value in [*buckets, ("+Inf", count)]:
            lines.append(_write_sample(f"{name}_bucket", (*labels, ("le", bound)), value))
        lines.append(_write_sample(f"{name}_sum", labels, spent[labels] / 1000))
        lines.append(_write_sample(f"{name}_count", labels, count))
    return "".join(lines)


def _write_states(states: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for name, counts in states.items():
        series: Series = {(("status", status),): number for status, number in counts.items()}
        help = f"How many {name} the store has, by what became of them."
        yield _write(f"amplifier_{name}", help, series, "gauge")
    waiting: Series = {(): states.get("approvals", {}).get("pending", 0)}
    help = "Questions that nobody has answered yet."
    yield _write("amplifier_approvals_waiting", help, waiting, "gauge")


def _write(name: str, help: str, series: Series, type: str = "counter") -> str:
    samples = (_write_sample(name, labels, value) for labels, value in series.items())
    return _write_head(name, help, type) + "".join(samples)


def _write_head(name: str, help: str, type: str) -> str:
    return f"# HELP {name} {help}\n# METRICS_TYPE {name} {type}\n"


def _write_sample(name: str, labels: Labels, value: float) -> str:
    pairs = ",".join(f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels)
    return f"{name}{{{pairs}}} {value}\n" if pairs else f"{name} {value}\n"


router = APIRouter(prefix="/statistics", tags=["statistics"])
metrics = APIRouter(tags=["statistics"], include_in_schema=False)


@router.get("", responses={200: {"model": StatisticsAnswer}})
async def get_statistics(
    _: Reader,
    services: Shared,
    hours: Annotated[float, Query(gt=0, le=24 * 366, allow_inf_nan=False)] = 24.0,
    hook: Name = "",
    bucket: Annotated[int, Query(ge=1, le=24 * 31, description="Hours to add up.")] = 1,
) -> Response:
    """The figures of the last hours, of all hooks or one; the newest, if there are too many."""
    since = time() - hours * 3600
    found = await services.store.statistics.read_buckets(since, hook, bucket)
    overrulings = await services.store.statistics.overrulings(since)
    if hook:
        overrulings = [one for one in overrulings if one.hook == hook]
    return answer(
        {
            "figures": found.figures,
            "overrulings": overrulings,
            "bucket_hours": bucket,
            "complete_since": found.complete_since,
            "cut": found.complete_since > since,
        }
    )


@metrics.get("/metrics")
async def get_metrics(_: Reader, services: Shared) -> Response:
    """All figures since the store was made, in the text format of Prometheus."""
    statistics = services.store.statistics
    figures, rest = await statistics.sum_up()
    text = write_metrics(figures, rest, await statistics.count_states())
    return Response(text.encode(errors="replace"), media_type=METRICS_TYPE)
