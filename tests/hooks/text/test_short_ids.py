"""Ids as people read and type them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.text.short_ids import LEAST, shorten_id, shorten_ids

IDS = st.lists(
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "claude-", "mcp-", "claude-amplifier-check-"]),
            st.text("01ab-", min_size=1, max_size=14),
        ),
    ),
    unique=True,
    max_size=30,
)


@given(IDS, st.data())
def test_a_short_id_means_one_session_however_many_there_are(
    ids: list[str], data: st.DataObject
) -> None:
    """As commands look for it: the whole id first, then those that begin so."""
    shown = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    shorts = shorten_ids(shown, ids)
    assert shorts.keys() == shown
    for id, short in shorts.items():
        begun = [one for one in ids if one == short] or [
            one for one in ids if one.startswith(short)
        ]
        assert begun == [id]
        assert len(short) >= min(LEAST, len(id))


def test_the_words_that_an_id_begins_with_do_not_count() -> None:
    """Eight characters of "claude-…" would tell no session from another."""
    assert shorten_id("3f0c2a18-aaaa-bbbb") == "3f0c2a18"
    assert shorten_id("claude-2f1e3a4b-0000") == "claude-2f1e3a4b"
    assert shorten_id("claude-2f1e3a4b-0000", ["claude-2f1e3a4b-0001"]) == "claude-2f1e3a4b-0000"
    assert shorten_id("abc") == "abc"
