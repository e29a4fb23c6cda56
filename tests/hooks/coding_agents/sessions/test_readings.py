"""How the words of a command can be read as paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.sessions.readings import MOST_READINGS, list_readings
from amplifier_hooks.guards.bash import Word

HERE, THERE = Path("/here"), Path("/there")


def test_each_word_is_read_from_each_folder() -> None:
    """In the order in which they are written."""
    a, b = Word("a", "a"), Word("b", "b")
    assert list(list_readings([a, b], [HERE, THERE])) == [
        (a, HERE),
        (a, THERE),
        (b, HERE),
        (b, THERE),
    ]


def test_the_most_that_is_looked_at_is_words_times_folders() -> None:
    """One more is an error at once, not only when somebody gets there."""
    words = [Word("a", "a")] * (MOST_READINGS // 2)
    assert len(list(list_readings(words, [HERE, THERE]))) == MOST_READINGS
    with pytest.raises(ValueError, match="5001 words, too many"):
        list_readings([*words, Word("b", "b")], [HERE, THERE])
