"""What hooks answered, how long they took, and how often people overruled them.

Once as JSON for the page and other programs, and once as Prometheus wants it.
"""

from __future__ import annotations

from time import time
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from amplifier_apps.web.services import Reader, Shared
from amplifier_apps.web.wire import metrics_text
from amplifier_apps.web.wire.encoding import answer
from amplifier_apps.web.wire.session_answers import StatisticsAnswer
from amplifier_apps.web.wire.text import Name

router = APIRouter(prefix="/statistics", tags=["statistics"])
metrics = APIRouter(tags=["statistics"], include_in_schema=False)


@router.get("", responses={200: {"model": StatisticsAnswer}})
async def get_statistics(
    _: Reader,
    services: Shared,
    hours: Annotated[float, Query(gt=0, le=24 * 366, allow_inf_nan=False)] = 24.0,
    hook: Name = "",
) -> Response:
    """The figures of the last hours, of all hooks or one."""
    since = time() - hours * 3600
    figures = await services.store.statistics.read(since, hook)
    overrulings = await services.store.statistics.overrulings(since)
    if hook:
        overrulings = [one for one in overrulings if one.hook == hook]
    return answer({"figures": figures, "overrulings": overrulings})


@metrics.get("/metrics")
async def get_metrics(_: Reader, services: Shared) -> Response:
    """All figures since the store was made, in the text format of Prometheus."""
    statistics = services.store.statistics
    figures, rest = await statistics.sum_up()
    text = metrics_text.write_metrics(figures, rest, await statistics.count_states())
    return Response(text.encode(errors="replace"), media_type=metrics_text.TYPE)
