"""A log that is cut at any byte is recovered or reported, by where the acknowledged end lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.cuts import Cutter
from tests.audit.support import run_program


def test_every_cut_of_a_small_log_is_recovered_or_reported(tmp_path: Path) -> None:
    """Of a large one: `python -m tests.audit.cuts --bytes 1000000`."""
    cutter = Cutter(tmp_path, 1)
    cutter.run(step=19)
    assert cutter.cuts > 100
    assert cutter.wrong == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_byte_cut_of_a_large_log_is_recovered_or_reported() -> None:
    """Each byte of a megabyte."""
    result = run_program("cuts", "--bytes", "1000000", timeout=7000)
    assert result["cuts"] > 1_000_000
    assert result["problems"] == []
