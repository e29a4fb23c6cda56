"""Random damage to a log is found, and the record that is wrong is named."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.verification import verify
from tests.audit.support import locate, make_lines, verify_lines, write_log
from tests.audit.tampering import WAYS, Corpus


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_damage_is_found_and_named(way: Any) -> None:
    """Each way of damaging, at forty random places."""
    chance = random.Random(way.__name__)
    lines = make_lines(120)
    for _ in range(40):
        damaged, expected = way(lines, chance)
        if damaged != lines:
            report = verify_lines(damaged)
            assert report.verdict == "tampered"
            assert locate(report)[1] == expected


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_damage_to_a_file_is_found_and_named(tmp_path: Path, way: Any) -> None:
    """The same through the whole verification, which also knows the writer's state."""
    chance = random.Random(way.__name__)
    await write_log(tmp_path, 30)
    path = tmp_path / "00000000.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for _ in range(10):
        damaged, expected = way(lines, chance)
        if damaged == lines:
            continue
        path.write_bytes(b"".join(damaged))
        report = verify(tmp_path)
        # What stands after the acknowledged end may be what a crash left.
        assert report.verdict == ("recovered" if expected == len(lines) else "tampered")
        assert locate(report)[1] == expected


def test_many_random_cases_of_damage_are_all_found() -> None:
    """A million of them: `python -m tests.audit.tampering --cases 1000000`."""
    corpus = Corpus(random.Random(5), 4)
    for _ in range(1500):
        way, found, expected = corpus.make_case()
        assert found == expected, way


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_million_random_cases_of_damage_are_all_found() -> None:
    """All of them, each with the right record."""
    corpus = Corpus(random.Random(6), 40)
    for _ in range(1_000_000):
        way, found, expected = corpus.make_case()
        assert found == expected, way
