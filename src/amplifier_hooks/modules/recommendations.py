"""Decisions that hooks take part in: which tool, which agent, which strategy.

A hook vetoes with `deny`. It chooses by changing the name in the data (`modify`), or recommends
one: `continue` with `data={"recommended_tool": NAME}`, and a `confidence` from 0 to 1 if it likes.
A change counts more than recommendations; of those the most confident counts, or the earlier one.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from amplifier_core.answers import Outcome

logger = logging.getLogger(__name__)


def choose_name(
    outcome: Outcome, key: str, noun: str, given: str, available: Collection[str]
) -> str:
    """The name that the hooks settled on; the given one if they had nothing usable to say.

    `key` is where the data has it, `noun` (`tool`, `agent`, …) what recommendations call it.
    """
    changed = (outcome.data or {}).get(key, given)
    wishes = [(1.0, changed)] if changed != given else _list_wishes(outcome, key, noun)
    known = [wish for wish in wishes if _is_known(wish[1], noun, available)]
    return max(known, key=lambda wish: wish[0], default=(0.0, given))[1]


def _list_wishes(outcome: Outcome, key: str, noun: str) -> list[tuple[float, Any]]:
    said = [
        answer.result.data
        for answer in outcome.answers
        if answer.result.action == "continue" and answer.result.data
    ]
    return [wish for data in said for wish in _read_wish(data, (f"recommended_{noun}", noun, key))]


def _read_wish(data: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[tuple[float, Any]]:
    for key in keys:
        if key in data:
            yield _read_confidence(data.get("confidence", 1.0)), data[key]
            return


def _read_confidence(value: Any) -> float:
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable else 0.0


def _is_known(name: Any, noun: str, available: Collection[str]) -> bool:
    if isinstance(name, str) and name in available:
        return True
    logger.warning("A hook chose the %s %r, which does not exist; have %s", noun, name, available)
    return False
