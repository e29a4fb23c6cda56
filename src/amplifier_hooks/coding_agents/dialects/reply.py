"""What came back from an external hook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An exit code and two streams, or the reason why there are none."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""
    failure: str | None = None
    timed_out: bool = False


def build_reply(answer: Mapping[str, Any]) -> Reply:
    """One JSON object on stdout, without the keys that hold None; nothing if none is left."""
    said = {key: value for key, value in answer.items() if value is not None}
    return Reply(stdout=_print(said)) if said else Reply()


def _print(answer: dict[str, Any]) -> str:
    """JSON that every parser takes: NaN is none, and one half of a character voids it for some."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, default=str)
    return text.encode("utf-8", "replace").decode("utf-8")
