"""The words between the agent and its cells."""

from __future__ import annotations

from amplifier_hooks.sandbox.launcher import words


def test_every_word_is_one_byte_and_no_two_in_one_direction_are_the_same() -> None:
    """The rest of a message is what the word is about."""
    asked = [words.RUN, words.TERMINATE, words.KILL]
    told = [words.FAILED, words.ENDED, words.GONE]
    kinds = [words.WALLED, words.PLAIN]
    assert all(len(word) == 1 for word in (*asked, *told, *kinds))
    assert all(len(set(group)) == len(group) for group in (asked, told, kinds))
