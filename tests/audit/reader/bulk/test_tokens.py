"""The pieces of a record, all of them or none."""

from __future__ import annotations

import re

import pytest

from amplifier_audit.quick_lines import KEY, NUMBER, split_tokens
from tests.audit.reader.bulk.odd_records import make_content


def test_the_tokens_are_the_whole_text() -> None:
    """Whoever counts their lengths knows where each of them is."""
    for seed in range(200):
        assert b"".join(split_tokens(make_content(seed))) == make_content(seed)


def test_each_thing_is_a_token() -> None:
    """A key has its colon, so that it is told from a text."""
    found = split_tokens(rb'"a":{"b\"c":[-1.5,true],"d":"e:"}')
    assert found == [
        *(b'"a":', b"{", rb'"b\"c":', b"[", b"-1.5", b",", b"true", b"]", b",", b'"d":', b'"e:"'),
        b"}",
    ]
    assert [token for token in found if token.endswith(KEY)] == [b'"a":', rb'"b\"c":', b'"d":']


@pytest.mark.parametrize("content", [b'"a": 1', b'"a":1 ', b' "a":1', b'"a":[1, 2]', b""])
def test_blanks_between_the_tokens_make_none_of_them(content: bytes) -> None:
    """The places of the others could not be told from their lengths."""
    assert split_tokens(content) == []


@pytest.mark.parametrize("number", [b"0", b"-1", b"12.50", b"9" * 15, b"0." + b"1" * 17])
def test_a_plain_number_is_one_of_few_digits(number: bytes) -> None:
    """Whatever its digits are, it is not beyond what parsers agree about."""
    assert re.fullmatch(NUMBER, number)


@pytest.mark.parametrize("number", [b"00", b"01", b"1e5", b"1E5", b"9" * 16, b"1.", b".5", b"+1"])
def test_other_numbers_are_not_plain(number: bytes) -> None:
    """Some are not JSON, and some are too large with other digits."""
    assert not re.fullmatch(NUMBER, number)
