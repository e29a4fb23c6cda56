"""The options of hooks-cost-control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from tests.support.harness import Harness


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"turn": {}}, "needs 'tokens' or 'money'"),
        ({"turn": {"tokens": 0}}, "turn.tokens"),
        ({"turn": {"money": float("nan")}}, "turn.money"),
        ({"turn": {"tokens": 5, "over": "stop"}}, "turn.over"),
        ({"turn": {"tokens": 5, "warn_at": 2}}, "turn.warn_at"),
        ({"turn": {"token": 5}}, "did you mean 'tokens'?"),
        ({"prices": {"x": {"input": -1, "output": 0}}}, "prices.x.input"),
    ],
)
async def test_a_bad_limit_is_refused_at_load(tmp_path: Path, config: Any, words: str) -> None:
    """Bad limits and prices are clear errors."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("cost_control", config)
    assert words in str(refused.value)
