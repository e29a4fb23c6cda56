"""The program of a replay's process."""

from __future__ import annotations

import runpy

import pytest

from amplifier_foundation.replay.process import worker


def test_the_program_does_the_job_on_its_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once."""
    done: list[str] = []
    monkeypatch.setattr(worker, "main", lambda: done.append("job"))
    runpy.run_module("amplifier_foundation.replay.process", run_name="__main__")
    assert done == ["job"]
