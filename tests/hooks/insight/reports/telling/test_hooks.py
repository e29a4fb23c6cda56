"""What hooks did."""

from __future__ import annotations

from amplifier_hooks.insight.reports.excerpts import Named
from amplifier_hooks.insight.reports.model import HookFigures
from amplifier_hooks.insight.reports.telling.document import Bars, Table
from amplifier_hooks.insight.reports.telling.hooks import MOST_HOOKS, tell_figures, tell_hooks
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import answer, ask, call, decide, event, gather, note


def test_the_hooks_that_did_most_come_first() -> None:
    """The chart has only those that said something."""
    session = gather(
        call(1, "Bash", {}, answer("quiet"), answer("guard", "deny", reason="no")),
        call(2, "Bash", {}, answer("quiet")),
    )
    blocks = [*tell_hooks(session)]
    (chart,) = (one for one in blocks if isinstance(one, Bars))
    assert [bar.label for bar in chart.bars] == ["guard"]
    table = next(one for one in blocks if isinstance(one, Table))
    rows = [[read_words([cell]) for cell in row] for row in table.rows]  # type: ignore[list-item]
    assert [row[:3] for row in rows] == [["guard", "1", "1"], ["quiet", "2", "–"]]


def test_a_question_is_counted_as_the_person_saw_it() -> None:
    """Once, although the hook is called again after the answer."""
    asking = answer("guard", "ask_user")
    session = gather(
        call(1, "Write", {}, asking),
        ask(1),
        decide(2, True),
        call(3, "Write", {}, asking, again=True),
    )
    (chart,) = (one for one in tell_hooks(session) if isinstance(one, Bars))
    assert chart.bars[0].values == (0.0, 1.0, 0.0, 0.0, 0.0)


def test_a_value_that_a_hook_added_was_nothing_before() -> None:
    """An empty box says less."""
    added = event(1, "tool:post", {}, answer("h", "modify"), left={"note": "new"})
    assert "note, before\n(nothing)\nnote, after\nnew" in read_words(tell_hooks(gather(added)))


def test_a_hook_without_a_figure_has_no_bar() -> None:
    """It asked, and nobody was asked."""
    asking = call(1, "Write", {}, answer("guard", "ask_user"))
    assert not any(isinstance(one, Bars) for one in tell_hooks(gather(asking)))


def test_each_change_shows_what_was_before_and_after() -> None:
    """An older trail does not have it, and the report says so."""
    data = {"tool_result": "key 1234"}
    told = event(1, "tool:post", data, answer("h", "modify"), left={"tool_result": "key ***"})
    older = event(2, "tool:post", data, answer("h", "modify"))
    words = read_words(tell_hooks(gather(told, older)))
    assert "tool_result, before\nkey 1234\ntool_result, after\nkey ***" in words
    assert words.count("not in the trail") == 1


def test_a_trail_with_decisions_alone_explains_its_figures() -> None:
    """Calls that ended in a plain continue are not in it."""
    resolved = note(1, "action_resolved", {"action": "deny"}, hook="guard", event="tool:pre")
    assert "decisions alone" in read_words(tell_hooks(gather(resolved)))


def test_many_hooks_are_told_in_a_page() -> None:
    """And the rest is counted."""
    hooks: Named[HookFigures] = Named(HookFigures, 100)
    for number in range(MOST_HOOKS + 5):
        hooks.take(f"hook-{number}").counts.calls += 1
    assert "5 hooks are left out here." in read_words(tell_figures(hooks))
