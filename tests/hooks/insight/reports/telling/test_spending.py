"""Cost and tokens."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.document import Bars
from amplifier_hooks.insight.reports.telling.spending import tell_spending
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import gather, prompt, respond


def test_models_have_their_tokens_and_their_cost() -> None:
    """The price is a list price, and the report says so."""
    session = gather(
        prompt(1, "a", turn=1),
        respond(2, "claude-sonnet-4", input_tokens=1_000_000),
        respond(3, "house-model", input_tokens=5),
    )
    words = read_words(tell_spending(session))
    assert "claude-sonnet-4\n1\n1,000,000\n0\n0\n1,000,000\n$3.00" in words
    assert "house-model\n1\n5\n0\n0\n5\nnot known" in words
    assert "not a bill" in words
    assert "For 5 tokens there is no price" in words


def test_turns_are_compared() -> None:
    """If there are several."""
    first = [prompt(1, "a"), respond(2, "local", input_tokens=5)]
    one = gather(*first)
    two = gather(*first, prompt(3, "b"), respond(4, "local", input_tokens=7))
    assert not any(isinstance(block, Bars) for block in tell_spending(one))
    (chart,) = (block for block in tell_spending(two) if isinstance(block, Bars))
    assert [bar.values for bar in chart.bars] == [(5.0,), (7.0,)]


def test_without_usage_it_says_so() -> None:
    """No figure is made up."""
    assert "does not say" in read_words(tell_spending(gather()))
