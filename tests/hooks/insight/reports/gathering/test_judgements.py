"""What hooks did."""

from __future__ import annotations

from tests.hooks.insight.reports.stories import answer, call, event, gather, note


def test_denials_changes_failures_and_shadows_are_kept_with_their_reasons() -> None:
    """Each with its hook, and what it was about."""
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    session = gather(
        call(1, "Bash", {"command": "rm"}, answer("a", "deny", reason="no")),
        event(2, "tool:pre", data, answer("b", "modify"), left={**data, "tool_input": {}}),
        event(3, "tool:pre", data, answer("c", error="boom", timed_out=True)),
        event(4, "tool:pre", data, answer("d", shadowed="deny")),
    )
    kept = session.interventions
    (denial,) = kept["denial"]
    assert (denial.hook, denial.about, denial.reason) == ("a", "Bash rm", "no")
    (change,) = kept["change"]
    assert [field.path for field in change.fields] == ["tool_input.command"]
    (failure,) = kept["failure"]
    assert (failure.reason, failure.timed_out) == ("boom", True)
    (shadow,) = kept["shadow"]
    assert shadow.reason == "would have answered deny"
    assert len(session.denying) == 1


def test_what_shadow_mode_withheld_is_told_once_and_in_words() -> None:
    """With what it was about from the event, and the words from the record behind it."""
    would = {"action": "deny", "would": "would have denied the call: no"}
    session = gather(
        call(1, "Bash", {"command": "rm"}, answer("d", shadowed="deny")),
        note(1, "shadowed", would, hook="d", event="tool:pre"),
        call(2, "Bash", {"command": "ls"}, answer("d", shadowed="deny")),
        call(3, "Bash", {"command": "ps"}, answer("d", shadowed="deny")),
        note(4, "shadowed", would, hook="other", event="tool:pre"),
    )
    found = [(one.about, one.reason) for one in session.interventions["shadow"]]
    assert found == [
        ("Bash rm", "would have denied the call: no"),
        ("Bash ls", "would have answered deny"),
        ("", "would have denied the call: no"),
        ("Bash ps", "would have answered deny"),
    ]


def test_a_guard_that_fails_both_failed_and_denied() -> None:
    """Whoever looks for denials finds it, and whoever looks for failures."""
    session = gather(call(1, "Bash", {}, answer("guard", "deny", error="boom")))
    assert (session.denied, session.interventions["failure"].count) == (1, 1)


def test_an_answer_behind_a_denial_is_none() -> None:
    """It had no effect."""
    first, behind = answer("a", "deny", reason="no"), answer("b", "deny", unheeded=True)
    assert gather(call(1, "Bash", {}, first, behind)).denied == 1


def test_a_change_that_is_made_again_is_one_change() -> None:
    """After a wait, hooks answer once more."""
    change = answer("a", "modify")
    session = gather(call(1, "Bash", {}, change), call(2, "Bash", {}, change, again=True))
    assert session.changed == 1


def test_what_hooks_told_the_agent_is_kept() -> None:
    """With its tokens; a text that was not taken is a failure."""
    session = gather(
        note(1, "injection_accepted", {"text": "careful", "tokens": 9}, hook="h"),
        note(2, "injection_dropped", {"why": "no budget"}, hook="h"),
        note(3, "user_message", {"text": "look"}, hook="h"),
        note(4, "injection_unused", {"why": "never taken", "fault": True}, hook="h"),
        note(5, "injection_unused", {"why": "the agent was done", "fault": False}, hook="h"),
    )
    assert session.hooks["h"].counts.injected_tokens == 9
    assert [one.reason for one in session.interventions["injection"]] == ["careful"]
    assert [one.reason for one in session.interventions["message"]] == ["look"]
    dropped, lost = session.interventions["failure"]
    assert "no budget" in dropped.reason
    assert "never taken" in lost.reason


def test_what_was_not_approved_and_would_have_run_is_a_denial() -> None:
    """The kernel found another digest."""
    assert gather(note(1, "digest_mismatch", {})).denied == 1


def test_with_decisions_alone_answers_have_records_of_their_own() -> None:
    """They count as those in events do."""
    body = {"action": "deny", "reason": "no", "ms": 3.0}
    session = gather(note(1, "action_resolved", body, hook="guard", event="tool:pre"))
    (denial,) = session.interventions["denial"]
    assert (denial.hook, denial.reason) == ("guard", "no")
    assert session.hooks["guard"].counts.calls == 1
