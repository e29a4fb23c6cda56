"""What a line looks like to a person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.injection import read_as_a_person


@pytest.mark.parametrize(
    "written",
    ["Hook feedback:", "Ho\u200bok feedback:", "\uff28ook feedback:", "H\u043e\u043ek feedback:"],
    ids=["plain", "invisible", "wide", "cyrillic"],
)
def test_what_looks_the_same_reads_the_same(written):
    """Invisible characters, wide forms and letters of other alphabets change nothing."""
    assert read_as_a_person(written) == "Hook feedback:"


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_is_left_alone(line):
    assert read_as_a_person(line) == line


@given(st.text())
def test_any_text_can_be_read(line):
    """And what was read once reads the same again, as far as it is plain."""
    read = read_as_a_person(line)
    assert not any(one in read for one in "\u200b\u202e\u2066")
