"""Splits the text of a record into its pieces, for whoever learns how records are built."""

from __future__ import annotations

import re

NUMBER = rb"-?+(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,17}+)?+"
"""Numbers about which no two parsers disagree: far from 2^53, and without an exponent."""

KEY = b'":'
"""What a key ends with, and nothing else."""

# Texts, keys with their colon, numbers and words, brackets and commas.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+":?+|[-+.0-9a-zA-Z]++|[][{},]')


def split_tokens(content: bytes) -> list[bytes]:
    """The tokens of what the strict parser has taken; none if there are blanks between them.

    Those are allowed, but no writer makes them.
    """
    tokens = _TOKEN.findall(content)
    return tokens if sum(map(len, tokens)) == len(content) else []
