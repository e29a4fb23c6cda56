"""Each call has a name of its own, also where a model repeats its ids."""

from __future__ import annotations

from amplifier_hooks.approvals.remote import CallNames


def test_the_questions_about_one_call_have_the_same_name() -> None:
    """Which another process gives it as well, so that it is found after a restart."""
    names = CallNames()
    assert names.name("s", "call", "d1") == names.name("s", "call", "d1") == "call@d1"
    assert names.find("s", "call") == "call@d1"
    assert CallNames().name("s", "call", "d1") == "call@d1"
    assert names.name("other", "call", "") == "call"


def test_a_call_that_is_over_makes_room_for_another_of_its_id() -> None:
    """Small models number their calls from the start in every reply."""
    names = CallNames()
    names.name("s", "call", "d1")
    names.end("s", "call")
    assert names.find("s", "call") is None
    assert names.name("s", "call", "d1") == "call@d1#2"
    assert names.find("s", "call") == "call@d1#2"


def test_another_input_is_another_call_unless_a_person_wrote_it() -> None:
    """What was allowed for one input is nothing that another could run by."""
    names = CallNames()
    names.name("s", "call", "d1")
    assert names.name("s", "call", "d2") == "call@d2"
    names.note_edit("s", "call")
    assert names.name("s", "call", "d3") == "call@d2"
    names.end("s", "call")
    assert names.name("s", "call", "d1") == "call@d1#2"


def test_what_was_never_asked_about_has_no_name() -> None:
    """Ending it, or an edit of it, is nothing."""
    names = CallNames()
    names.end("s", "call")
    names.note_edit("s", "call")
    assert names.find("s", "call") is None
