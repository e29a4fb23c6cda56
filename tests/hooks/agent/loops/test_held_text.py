"""The text of a reply as it may be shown."""

from __future__ import annotations

from amplifier_hooks.agent.loops.streaming import HeldText
from amplifier_hooks.guards.policy.secrets.stream import LiteralScrubber


def test_pieces_pass_every_scrubber_that_looks_over_their_edges() -> None:
    """One after the other; what the first held back still passes the second at the end."""
    held = HeldText([LiteralScrubber({"abcd"}), str.upper, LiteralScrubber({"wxyz"})])
    pieces = [held.feed(piece) for piece in ("an a", "bc", "d and w", "x", "yz or ab")]
    assert "".join([*pieces, held.flush()]) == "an [secret] and [secret] or ab"
    assert pieces[0] == "an "


def test_without_such_scrubbers_nothing_waits() -> None:
    """A piece goes through as it is."""
    held = HeldText([str.upper])
    assert held.feed("ghp_") == "ghp_"
    assert held.flush() == ""
