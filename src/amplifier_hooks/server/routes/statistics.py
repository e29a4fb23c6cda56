"""What hooks answered, how long they took, and how often people overruled them.

Once as JSON for the page and other programs, and once as Prometheus wants it.
"""

from __future__ import annotations

from time import time
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from amplifier_hooks.server.services import Reader, Shared
from amplifier_hooks.server.wire import metrics_text
from amplifier_hooks.server.wire.encoding import answer
from amplifier_hooks.server.wire.session_answers import StatisticsAnswer
from amplifier_hooks.server.wire.text import Name

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
    text = metrics_text.write_metrics(figures, rest, await statistics.count_states())
    return Response(text.encode(errors="replace"), media_type=metrics_text.TYPE)
