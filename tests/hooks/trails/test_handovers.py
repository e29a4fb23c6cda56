"""Questions that another program asked, as trails tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from amplifier_core.records import HANDED_OVER_TO
from amplifier_hooks.insight.counting import recount
from amplifier_hooks.trails import Item, RecordedApproval, RecordedCall, read_items
from amplifier_hooks.trails.handovers import MOST

Body = dict[str, Any]
Kept = tuple[str, str | None, Body]


def ask(call: str = "c1", **more: Any) -> Kept:
    body = {"prompt": "Really?", "tool": "Bash", "id": call, "digest": "d", **more}
    return ("approval_requested", "tool:pre", body)


def hand_over(call: str = "c1", **more: Any) -> Kept:
    body = {"to": "claude", "tool": "Bash", "id": call, "digest": "d", **more}
    return ("approval_handed_over", "tool:pre", body)


def settle(state: str, settles: str = "not_known", call: str = "c1", **more: Any) -> Kept:
    at = "2026-01-01T00:00:00+00:00"
    body = {"state": state, "settles": settles, "evidence": "result", "handed_over_at": at}
    return ("approval_outcome", "tool:pre", {**body, "id": call, "digest": "d", **more})


def older(allowed: bool = True, to: str = "claude") -> Kept:
    """How it was recorded once."""
    body = {
        "allowed": allowed,
        "how": "rule",
        "decision": "Allow once",
        "by": f"{HANDED_OVER_TO}{to}",
    }
    return ("approval_decided", "tool:pre", {**body, "digest": "d"})


def decide(allowed: bool = True, **more: Any) -> Kept:
    body = {"allowed": allowed, "how": "person", "by": "ann", "digest": "d", **more}
    return ("approval_decided", "tool:pre", body)


def begin(call: str = "c1") -> Kept:
    return ("tool_started", "tool:pre", {"tool": "Bash", "id": call, "gated": True})


def end(call: str = "c1", outcome: str = "returned") -> Kept:
    return ("tool_finished", "tool:pre", {"tool": "Bash", "id": call, "outcome": outcome})


def tell(event: str, **data: Any) -> Kept:
    return ("dispatch", event, {"action": "continue", "hooks": [], "data": data})


END: Kept = ("session_ended", None, {"reason": "complete"})


def make(*kept: Kept) -> Iterator[Item]:
    """The items of a trail with these records."""
    records = (
        {
            "seq": number,
            "time": f"2026-01-01T00:00:{number:02}+00:00",
            "type": type,
            "session": "s",
            "turn": 1,
            "event": event,
            "hook": "guard" if type.startswith("approval") else None,
            "registration": 1,
            "body": body,
        }
        for number, (type, event, body) in enumerate(kept)
    )
    return read_items(records)  # type: ignore[arg-type]


def steps(*kept: Kept) -> list[tuple[str, str, str]]:
    """The steps of questions: stage, state, and what is settled."""
    found = (one for one in make(*kept) if isinstance(one, RecordedApproval))
    return [(one.stage, one.state, one.settles) for one in found]


def count(*kept: Kept) -> dict[str, int]:
    """What is counted of them, without what is zero."""
    figures = recount(make(*kept))["guard"].to_dict()["approvals"]
    return {name: number for name, number in figures.items() if number}


ASKED = ("requested", "", "")
HANDED = ("handed_over", "", "")
RAN = ("outcome", "allowed", "not_known")
NOT_RUN = ("outcome", "not_run", "not_known")

OPEN = {"asked": 1, "handed_over": 1, "not_known": 1}
ALLOWED = {"asked": 1, "handed_over": 1, "allowed": 1, "overruled": 1}
CAME_TO_NOTHING = {"asked": 1, "handed_over": 1, "not_run": 1}


def test_without_evidence_it_is_not_known() -> None:
    """In newer trails and in older ones; a start alone shows nothing."""
    assert steps(ask(), hand_over()) == [ASKED, HANDED]
    assert count(ask(), hand_over()) == OPEN
    assert steps(ask(), older(), begin()) == [ASKED, HANDED]
    assert count(ask(), older(), begin()) == OPEN


def test_an_older_yes_of_a_handover_is_read_as_what_it_was() -> None:
    """To whom, about which call; and nobody has decided."""
    found = [one for one in make(ask(), older()) if isinstance(one, RecordedApproval)]
    step = found[-1]
    assert (step.to, step.call_id, step.tool) == ("claude", "c1", "Bash")
    assert (step.allowed, step.by, step.decision, step.how) == (False, "", "", "handed_over")


def test_a_call_that_may_never_have_run_has_not_started() -> None:
    """Older trails say that it has; one that nobody was asked about has."""
    found = list(make(ask(), older(), begin(), begin("c2")))
    assert [one.call_id for one in found if isinstance(one, RecordedCall)] == ["c2"]


@pytest.mark.parametrize("outcome", ["returned", "raised", "interrupted"])
def test_a_result_shows_that_it_was_allowed(outcome: str) -> None:
    """Also in a newer trail whose writer had forgotten the question."""
    result = end(outcome=outcome)
    assert steps(ask(), older(), begin(), result) == [ASKED, HANDED, RAN]
    assert count(ask(), older(), begin(), result) == ALLOWED
    assert count(ask(), hand_over(), result) == ALLOWED


@pytest.mark.parametrize("outcome", ["unknown", "cancelled", "not claimed"])
def test_an_end_without_a_result_shows_nothing(outcome: str) -> None:
    """Whatever became of it."""
    assert count(ask(), older(), begin(), end(outcome=outcome)) == OPEN


def test_a_result_counts_once_and_for_its_own_call() -> None:
    """With the record of it, without it, and for the parts of the call."""
    assert count(ask(), hand_over(), settle("allowed"), end()) == ALLOWED
    assert count(ask(), hand_over(), end("c2")) == OPEN
    assert count(ask("c1:1"), hand_over("c1:1"), end("c1")) == ALLOWED
    assert count(ask("c1:1"), hand_over("c1:1"), end("c1:12")) == OPEN


@pytest.mark.parametrize("shows", [tell("orchestrator:complete"), tell("prompt:submit"), END])
def test_an_older_trail_shows_what_did_not_run(shows: Kept) -> None:
    """By the same evidence; newer ones have a record of it, or it is not known."""
    assert steps(ask(), older(), begin(), shows, END) == [ASKED, HANDED, NOT_RUN]
    assert count(ask(), older(), begin(), shows) == CAME_TO_NOTHING
    assert count(ask(), hand_over(), shows) == OPEN


def test_an_older_sub_agent_ends_with_the_session() -> None:
    """Its agent's stop shows nothing of it."""
    call = tell("tool:pre", tool_name="Bash", tool_input={}, tool_call_id="c1", agent_id="a")
    kept = (call, ask(), older(), tell("orchestrator:complete"))
    assert count(*kept) == OPEN
    assert count(*kept, END) == CAME_TO_NOTHING


def test_a_correction_takes_the_place_of_what_it_corrects() -> None:
    """A result is final."""
    late = (ask(), hand_over(), settle("not_run"), settle("allowed", "not_run"), end())
    assert count(*late) == ALLOWED
    assert count(ask(), older(), begin(), tell("prompt:submit"), end()) == ALLOWED


def test_an_answer_that_comes_back_belongs_to_the_question() -> None:
    """One question, asked once, whatever was recorded of it; older trails have it as two."""
    again = (ask(again=True), decide(settles="not_known", id="c1"))
    assert count(ask(), hand_over(), *again, begin(), end()) == ALLOWED
    kept = (
        ask(),
        older(allowed=False, to="LangGraph"),
        ask(),
        older(allowed=False, to="LangGraph"),
    )
    assert count(*kept) == OPEN
    assert count(*kept, ask(), decide(), begin(), end()) == ALLOWED
    refused = {"asked": 1, "handed_over": 1, "refused": 1}
    assert count(*kept, ask(), decide(allowed=False)) == refused
    started = [
        one for one in make(*kept, ask(), decide(), begin()) if isinstance(one, RecordedCall)
    ]
    assert len(started) == 1


def test_the_same_words_about_two_calls_are_two_questions() -> None:
    """Each with its own end, in any order."""
    both = (ask("c1"), older(), begin("c1"), ask("c2"), older(), begin("c2"))
    assert count(*both, end("c2")) == {
        "asked": 2,
        "handed_over": 2,
        "allowed": 1,
        "overruled": 1,
        "not_known": 1,
    }
    mixed = (ask("c1"), hand_over("c1"), ask("c2"), hand_over("c2"), settle("not_run", call="c2"))
    assert count(*mixed, settle("allowed", call="c1")) == {
        "asked": 2,
        "handed_over": 2,
        "allowed": 1,
        "overruled": 1,
        "not_run": 1,
    }


def test_what_settles_a_question_is_counted_where_the_question_is() -> None:
    """In figures of a period that begins between the two."""
    outcome = list(make(ask(), hand_over(), settle("allowed")))[-1]
    assert isinstance(outcome, RecordedApproval)
    assert (outcome.time[-8:], outcome.counted_at[-8:]) == ("02+00:00", "01+00:00")


def test_an_outcome_without_its_question_is_taken_at_its_word() -> None:
    """A trail may begin in the middle; one that says nothing usable is a note."""
    assert steps(settle("allowed")) == [RAN]
    assert steps(settle("perhaps")) == []


def test_a_trail_without_any_end_is_read_in_bounded_memory() -> None:
    """The oldest are forgotten, and stay not known."""
    kept = [one for n in range(MOST + 1) for one in (ask(f"c{n}"), hand_over(f"c{n}"))]
    found = count(*kept, end("c0"), end("c1"))
    assert found["not_known"] == MOST
    assert found["allowed"] == 1


def test_other_questions_are_as_they_were() -> None:
    """What people decided here."""
    assert count(ask(), decide(), begin(), end()) == {"asked": 1, "allowed": 1, "overruled": 1}
    assert count(ask(), decide(allowed=False)) == {"asked": 1, "refused": 1}
