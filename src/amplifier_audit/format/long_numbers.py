"""Finds integers in JSON that may be beyond 2^53, without reading it: by how many digits they have.

Every record pays for this look. Digests are full of digits, so a first guess is looked at again.
"""

from __future__ import annotations

import re

# Digits become 0. An integer beyond 2^53 has at least 16 of them, so 4 when each fourth is seen.
_DIGITS = bytes(ord("0") if byte in b"0123456789" else ord(" ") for byte in range(256))
_STEP, _GUESS = 4, b"0000"
_RUN = 16
_find_run = re.compile(rb"[0-9]{%d}" % _RUN).search
# Whoever writes a text of which each fourth letter is a digit does not make this look a long one.
_GUESSES = 64


def may_have_long_number(text: bytes) -> bool:
    """Whether there may be such an integer; False is certain. Takes many bodies with one call."""
    sample = text[::_STEP].translate(_DIGITS)
    guess = sample.find(_GUESS)
    if guess < 0:
        return False
    for _ in range(_GUESSES):
        # The first of its digits that is seen has at most three others before it.
        place = guess * _STEP
        if _find_run(text, max(0, place - _STEP + 1), place + _RUN):
            return True
        guess = sample.find(_GUESS, guess + 1)
        if guess < 0:
            return False
    return True
