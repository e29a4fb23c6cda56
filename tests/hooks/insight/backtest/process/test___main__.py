"""The process that hooks run in."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.backtest import PolicyError
from amplifier_hooks.insight.backtest.process.launch import Launch
from amplifier_hooks.insight.backtest.process.state import StateFile
from tests.hooks.insight.backtest.process.test_launch import make_job
from tests.hooks.insight.backtest.recorder import Recorder


@pytest.mark.slow
async def test_a_policy_that_does_not_mount_is_an_error_with_its_reason(tmp_path: Path) -> None:
    """From the other process, in a sentence."""
    recorder = Recorder(tmp_path)
    await recorder.record([1])
    hook = tmp_path / "broken.py"
    hook.write_text("async def mount(coordinator, config):\n    raise RuntimeError('no luck')\n")
    job = make_job(recorder, hook)
    with pytest.raises(PolicyError, match="no luck"):
        await Launch(job, StateFile(tmp_path / "state.json", job.digest)).run()
