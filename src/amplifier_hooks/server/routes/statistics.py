"""Statistics of hooks: answers, times, and how often people overruled them.

Once as JSON for the page and other programs, and once as Prometheus wants it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from time import time
from typing import Annotated

from fastapi import APIRouter, Query
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.responses import Response

from amplifier_hooks.approvals.stores.statistics import BOUNDS, HookFigures
from amplifier_hooks.server.answers import StatisticsAnswer
from amplifier_hooks.server.bodies import Name
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.services import Reader, Shared
from amplifier_hooks.trails.recount import SHADOW

Series = Counter[tuple[str, ...]]
"""Values by the values of their labels."""

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHERS = "(others)"
"""The hook, event and action of everything that is not told apart."""

COUNTED = {
    "failures": "Calls of hooks that failed.",
    "timeouts": "Calls of hooks that took too long.",
    "injected_tokens": "Tokens that hooks put into conversations.",
    "asked": "Questions of hooks that were put to somebody.",
    "overruled": "Questions of hooks that a person allowed.",
    "handed_over": "Questions of hooks that another program asked its own person.",
    "contradicted": "Calls that a hook denied and that ran all the same.",
}
"""What is counted of each hook, and the help of its metric."""


def write_metrics(
    figures: Iterable[HookFigures], rest: HookFigures, states: Mapping[str, Mapping[str, int]]
) -> bytes:
    """The whole answer to a scrape."""
    every = [*figures]
    if rest.count or rest.asked or rest.injected_tokens:
        every.append(replace(rest, hook=OTHERS, event=OTHERS, action=OTHERS))
    registry = CollectorRegistry()
    registry.register(_Metrics([*_list_hook_metrics(every), *_list_store_metrics(states)]))
    return generate_latest(registry)


class _Metrics(Collector):
    """What is known when somebody asks; nothing is counted here."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self.metrics = metrics

    def collect(self) -> Iterable[Metric]:
        """All of them."""
        return self.metrics


def _list_hook_metrics(every: list[HookFigures]) -> Iterator[Metric]:
    calls: Series = Counter()
    shadowed: Series = Counter()
    for one in every:
        answered = one.action
        if answered.startswith(SHADOW):
            shadowed[one.hook, one.event, one.action.removeprefix(SHADOW)] += one.count
            answered = "continue"
        calls[one.hook, one.event, answered] += one.count
    place = ("hook", "event", "action")
    yield _count("hook_calls", "Calls of hooks, by what they answered.", place, calls)
    help = "Answers that shadow mode kept from having an effect."
    yield _count("hook_shadowed", help, place, shadowed)
    for name, help in COUNTED.items():
        yield _count(f"hook_{name}", help, ("hook",), _sum(every, name))
    decided = _sum(every, "allowed", "refused", "expired")
    help = "What became of questions of hooks."
    yield _count("hook_decisions", help, ("hook", "outcome"), decided)
    handed = _sum(every, "not_run", "not_known")  # both can become less: a result may still come
    help = "Questions that were handed over and are not known to have been allowed."
    yield _show("hook_handed_over", help, ("hook", "outcome"), handed)
    yield _list_times(every)


def _sum(every: list[HookFigures], *names: str) -> Series:
    """The sums of some figures for each hook, labelled with their name if there are several."""
    sums: Series = Counter()
    for one in every:
        for name in names:
            labels = (one.hook, name) if len(names) > 1 else (one.hook,)
            sums[labels] += getattr(one, name)
    return sums


def _list_times(every: list[HookFigures]) -> Metric:
    help = "How long calls of hooks took."
    metric = HistogramMetricFamily("amplifier_hook_duration_seconds", help, labels=("hook",))
    spent = _sum(every, "milliseconds")
    within = {f"{bound / 1000:g}": _sum(every, f"within_{bound}") for bound in BOUNDS}
    within["+Inf"] = _sum(every, "timed")
    for labels, count in within["+Inf"].items():
        if count:
            buckets = [(bound, sums[labels]) for bound, sums in within.items()]
            metric.add_metric(_clean(labels), buckets, spent[labels] / 1000)
    return metric


def _list_store_metrics(states: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    for name, counts in states.items():
        series: Series = Counter({(status,): number for status, number in counts.items()})
        help = f"How many {name} the store has, by what became of them."
        yield _show(name, help, ("status",), series)
    waiting = states.get("approvals", {}).get("pending", 0)
    help = "Questions that nobody has answered yet."
    yield GaugeMetricFamily("amplifier_approvals_waiting", help, waiting)


def _count(name: str, help: str, labels: tuple[str, ...], series: Series) -> Metric:
    return _fill(CounterMetricFamily(f"amplifier_{name}", help, labels=labels), series)


def _show(name: str, help: str, labels: tuple[str, ...], series: Series) -> Metric:
    return _fill(GaugeMetricFamily(f"amplifier_{name}", help, labels=labels), series)


def _fill(metric: CounterMetricFamily | GaugeMetricFamily, series: Series) -> Metric:
    for labels, value in series.items():
        metric.add_metric(_clean(labels), value)
    return metric


def _clean(labels: Iterable[str]) -> list[str]:
    """Names come from agents, and may have what UTF-8 has not."""
    return [text.encode(errors="replace").decode() for text in labels]


MOST_SINGLE_HOURS = 48
"""Of a longer time, days are given unless somebody wants each hour."""

router = APIRouter(prefix="/statistics", tags=["statistics"])
metrics = APIRouter(tags=["statistics"], include_in_schema=False)


@router.get("", responses={200: {"model": StatisticsAnswer}})
async def get_statistics(
    _: Reader,
    services: Shared,
    hours: Annotated[float, Query(gt=0, le=24 * 366, allow_inf_nan=False)] = 24.0,
    hook: Name = "",
    bucket: Annotated[
        int | None, Query(ge=1, le=24 * 31, description="Hours to add up; by default a day's.")
    ] = None,
) -> Response:
    """The figures of the last hours, of all hooks or one; the newest, if there are too many."""
    since = time() - hours * 3600
    size = bucket or (1 if hours <= MOST_SINGLE_HOURS else 24)
    found = await services.store.statistics.read_buckets(since, hook, size)
    overrulings = await services.store.statistics.overrulings(since)
    if hook:
        overrulings = [one for one in overrulings if one.hook == hook]
    return answer(
        {
            "figures": found.figures,
            "overrulings": overrulings,
            "bucket_hours": size,
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
    return Response(text, media_type=METRICS_TYPE)
