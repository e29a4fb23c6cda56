"""Our entries in the settings of others: added, changed, removed, and nothing else touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.installing.document import (
    Form,
    add_entries,
    find_position,
    list_entries,
    remove_entries,
)
from amplifier_hooks.coding_agents.installing.json_edit import JsonProblem, parse_json

MARK = "# ours"
# Each draws a whole file; `HYPOTHESIS_PROFILE=thorough` draws many more.
FEWER = settings(max_examples=max(15, settings.default.max_examples // 4))
EVENTS = ("Before", "After", "Stop")


def is_ours(handler: Any) -> bool:
    """The handlers of these tests carry a mark."""
    return isinstance(handler, dict) and str(handler.get("command", "")).endswith(MARK)


GROUPED = Form(is_ours, grouped=True, comments=True)
FLAT = Form(is_ours, grouped=False, comments=True, header={"version": 1})
FORMS = st.sampled_from([GROUPED, FLAT])


def make_entries(form: Form, command: str = "guard", events: Any = EVENTS) -> dict[str, Any]:
    """An entry of ours for each event."""
    handler = {"type": "command", "command": f"{command} {MARK}"}
    return {event: {"hooks": [handler]} if form.grouped else handler for event in events}


# Documents as people write them: any values, any space, comments, and hooks of their own.

_SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\n\t\t", " /* note */ ", " // note\n    "])
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.just("// no comment, ]")
)
_HANDLER = st.fixed_dictionaries({"command": st.sampled_from(["lint", "a, b] // c"])})
_GROUP = st.fixed_dictionaries({"hooks": st.lists(_HANDLER, max_size=2)})
_HOOKS = st.dictionaries(
    st.sampled_from([*EVENTS, "Else"]), st.lists(st.one_of(_GROUP, _HANDLER), max_size=3)
)
_ANY = st.dictionaries(st.text(max_size=4), st.one_of(_SCALARS, st.lists(_SCALARS, max_size=3)))


@st.composite
def _written(draw: st.DrawFn, value: Any) -> str:
    """A value as text, with space and comments of any kind between its parts."""
    space = lambda: draw(_SPACES)  # noqa: E731 - drawn anew at each place
    if isinstance(value, dict):
        parts = [
            f"{space()}{json.dumps(name)}{space()}:{space()}{draw(_written(one))}{space()}"
            for name, one in value.items()
        ]
        return "{" + (",".join(parts) or space()) + "}"
    if isinstance(value, list):
        parts = [f"{space()}{draw(_written(one))}{space()}" for one in value]
        return "[" + (",".join(parts) or space()) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A settings file: in lines as programs write it, or with space of any kind."""
    value: dict[str, Any] = draw(_ANY)
    if draw(st.booleans()):
        value = {**value, "hooks": draw(_HOOKS)}
    if draw(st.booleans()):
        value = {"version": 1, **value}
    value.pop("version", None) if draw(st.booleans()) else value.update(version=1)
    if draw(st.booleans()):
        text = draw(_written(value)) + draw(st.sampled_from(["", "\n"]))
    else:
        indent: Any = draw(st.sampled_from([None, 2, 4, "\t"]))
        text = json.dumps(value, indent=indent)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@FEWER
@given(documents(), FORMS)
@example("{}", FLAT)
@example('{"hooks": {}}', GROUPED)
@example('{"hooks": {"Before": [ ]}}', GROUPED)
@example('{\n  "a": 1, // one\n  "hooks": { /* none */ }\n}\n', GROUPED)
def test_removing_what_was_added_gives_the_same_bytes(text: str, form: Form) -> None:
    """Whatever the file looked like."""
    added = add_entries(text, make_entries(form), form, None)
    assert remove_entries(added, form, text) == text


@FEWER
@given(documents(), FORMS)
def test_adding_twice_is_adding_once(text: str, form: Form) -> None:
    """The second time nothing changes."""
    added = add_entries(text, make_entries(form), form, None)
    assert add_entries(added, make_entries(form), form, text) == added


@FEWER
@given(documents(), FORMS)
def test_everybody_elses_keys_read_the_same(text: str, form: Form) -> None:
    """What a reader of JSON finds is what was there, and our entries behind it."""
    old = parse_json(text, comments=True).to_value()
    new = parse_json(add_entries(text, make_entries(form), form, None), comments=True).to_value()
    hooks = new.pop("hooks")
    theirs = old.pop("hooks", {})
    assert {**form.header, **old} == new
    for event, items in hooks.items():
        ours = [make_entries(form)[event]] if event in EVENTS else []
        assert items == theirs.get(event, []) + ours


@FEWER
@given(documents(), FORMS)
def test_other_options_change_our_lines_in_place(text: str, form: Form) -> None:
    """One entry for each event, and still nothing of others is touched."""
    added = add_entries(text, make_entries(form), form, None)
    other = add_entries(added, make_entries(form, "other"), form, text)
    found = list_entries(other, form)
    assert found == {event: [one] for event, one in make_entries(form, "other").items()}
    assert remove_entries(other, form, text) == text


def test_an_event_that_is_no_longer_wanted_goes() -> None:
    """And its list with it, unless it was there before."""
    text = '{\n  "hooks": {\n    "After": []\n  }\n}\n'
    added = add_entries(text, make_entries(GROUPED), GROUPED, None)
    fewer = add_entries(added, make_entries(GROUPED, events=["Before"]), GROUPED, text)
    hooks = json.loads(fewer)["hooks"]
    assert hooks == {"After": [], "Before": [make_entries(GROUPED)["Before"]]}


def test_handlers_that_others_put_beside_ours_stay() -> None:
    """Ours moves into a group of its own."""
    handlers = [{"command": f"old {MARK}"}, {"command": "lint"}]
    text = json.dumps({"hooks": {"Before": [{"matcher": "X", "hooks": handlers}]}})
    added = add_entries(text, make_entries(GROUPED, events=["Before"]), GROUPED, None)
    groups = json.loads(added)["hooks"]["Before"]
    assert groups[0] == {"matcher": "X", "hooks": [{"command": "lint"}]}
    assert groups[1] == make_entries(GROUPED)["Before"]
    removed = json.loads(remove_entries(added, GROUPED, None))
    assert removed["hooks"]["Before"] == groups[:1]


def test_what_others_added_since_stays_when_ours_is_removed() -> None:
    """With the header that their hooks need."""
    added = json.loads(add_entries("", make_entries(FLAT), FLAT, None))
    added["hooks"]["Before"].append({"command": "lint"})
    removed = json.loads(remove_entries(json.dumps(added), FLAT, None))
    assert removed == {"version": 1, "hooks": {"Before": [{"command": "lint"}]}}


def test_the_position_is_that_of_our_entry() -> None:
    """Codex binds its trust to it."""
    text = json.dumps({"hooks": {"Before": [{"hooks": [{"command": "lint"}]}]}})
    added = add_entries(text, make_entries(GROUPED), GROUPED, None)
    assert find_position(added, "Before", GROUPED) == (1, 0)
    assert find_position(text, "Before", GROUPED) is None


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[]", 1, "must be an object"),
        ('{\n "hooks": []}', 2, "'hooks' must be an object"),
        ('{\n "hooks": {\n "Before": {}}}', 3, "'Before' must be a list"),
        ('{"hooks": {},\n "hooks": {}}', 2, "a second time"),
        ('{"hooks": {"Before": [],\n\n "Before": []}}', 3, "a second time"),
        ('{"version": 2}', 1, "'version' must be 1"),
        ('{"a": 1,\n}', 2, "a comma before"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: str, line: int, what: str) -> None:
    """With the line, and what is wrong there."""
    with pytest.raises(JsonProblem, match=what) as caught:
        add_entries(text, make_entries(FLAT), FLAT, None)
    assert caught.value.line == line


def test_nothing_of_ours_nothing_changed() -> None:
    """Removing from a file without our entries."""
    text = '{"version": 1, "hooks": {"Before": "odd"}}'
    assert remove_entries(text, FLAT, None) == text
