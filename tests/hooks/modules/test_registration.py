"""Registrations that are made and removed together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.events import ALL_EVENTS, spellings
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, TestCoordinator
from amplifier_hooks.modules.registration import (
    GuardConfig,
    combine_removals,
    digest_text,
    get_base_dir,
    get_session_id,
    get_working_dir,
    is_own_event,
    list_lines,
    look_up_tool,
    matches_any,
    read_command,
    register_guards,
    shorten,
    subscribe,
)
from tests.support.harness import Harness
from tests.support.hooks import raises, returns


async def test_handlers_bear_the_modules_name_and_go_together() -> None:
    """Logs and denials name the module, and one call removes all it registered."""
    harness, heard = Harness(), EventRecorder()
    remove = subscribe(
        harness.coordinator, "hooks-x", 5, [("tool:pre", heard), ("tool:post", heard)]
    )
    await harness.call("Read", {})
    assert heard.names == ["tool:pre", "tool:post"]
    assert harness.hooks.list_handlers() == {"tool:pre": ["hooks-x"], "tool:post": ["hooks-x"]}
    remove()
    assert harness.hooks.list_handlers() == {}


async def test_the_priority_is_that_of_the_module() -> None:
    """The lower number is asked first."""
    harness, order = Harness(), list[str]()

    def note(name: str) -> Any:
        async def hook(event: str, data: dict[str, Any]) -> HookResult:
            order.append(name)
            return HookResult()

        return hook

    subscribe(harness.coordinator, "late", 90, [("tool:pre", note("late"))])
    subscribe(harness.coordinator, "early", -90, [("tool:pre", note("early"))])
    await harness.emit("tool:pre")
    assert order == ["early", "late"]


async def test_one_module_does_not_remove_the_handlers_of_another() -> None:
    """Two instances of a module share a name and nothing else."""
    harness, heard = Harness(), EventRecorder()
    first = subscribe(harness.coordinator, "hooks-x", 0, [("tool:pre", heard)])
    subscribe(harness.coordinator, "hooks-x", 0, [("tool:post", heard)])
    first()
    assert harness.hooks.list_handlers() == {"tool:post": ["hooks-x"]}


def test_removals_run_once_the_last_first() -> None:
    """As a clean-up undoes things in reverse, and only once."""
    done: list[int] = []
    remove = combine_removals([lambda: done.append(1), lambda: done.append(2)])
    remove()
    remove()
    assert done == [2, 1]


def test_a_removal_that_fails_can_be_taken_up_again() -> None:
    """What comes before it is not forgotten."""
    done: list[int] = []

    def fail() -> None:
        raise OSError("busy")

    remove = combine_removals([lambda: done.append(1), fail])
    with pytest.raises(OSError, match="busy"):
        remove()
    remove()
    assert done == [1]


@pytest.mark.parametrize(
    ("own", "data", "session", "is_own"),
    [
        ("s1", {"session_id": "s1"}, "s1", True),
        ("s1", {}, "s1", True),
        ("s1", {"session_id": None}, "s1", True),
        ("s1", {"session_id": "child"}, "child", False),
        ("s1", {"session_id": 7}, "7", False),
        ("7", {"session_id": 7}, "7", True),
    ],
)
def test_the_session_of_an_event(
    own: str, data: dict[str, Any], session: str, is_own: bool
) -> None:
    """A sub-agent's events reach its parent's hooks, too."""
    host = TestCoordinator(session_id=own)
    assert get_session_id(host, data) == session
    assert is_own_event(host, data) is is_own


def test_without_a_session_every_event_is_ones_own() -> None:
    """A host without an id has no sub-agents to tell apart."""
    host = TestCoordinator(session_id=None)
    assert is_own_event(host, {"session_id": "anything"})
    assert get_session_id(host, {}) == "unknown"


def test_the_working_directory_is_the_processes_own_if_nobody_says(tmp_path: Path) -> None:
    """Modules work in a host that has no such capability."""
    assert get_working_dir(TestCoordinator()) == "."
    assert get_working_dir(Harness(tmp_path).coordinator) == str(tmp_path)


@pytest.mark.parametrize("handler", [raises(ValueError("broken")), returns("nonsense" * 3)])
async def test_a_guard_that_fails_denies(handler: Any) -> None:
    """Whatever goes wrong in a guard, the call does not happen."""
    harness = Harness()
    guards = [("tool:pre", handler)]
    register_guards(harness.coordinator, "hooks-x", guards, priority=0, timeout=1)
    assert (await harness.pre("Write")).action == "deny"


async def test_a_guard_that_takes_too_long_denies() -> None:
    """A guard that hangs must not let the call through."""
    import asyncio

    async def sleep(event: str, data: dict[str, Any]) -> Any:
        await asyncio.sleep(5)

    harness = Harness()
    guards = [("tool:pre", sleep)]
    register_guards(harness.coordinator, "hooks-x", guards, priority=0, timeout=0.01)
    assert (await harness.pre("Write")).action == "deny"


async def test_one_call_removes_all_guards() -> None:
    """After an unmount nothing of the guard is left."""
    harness, heard = Harness(), EventRecorder()
    guards = [("tool:pre", heard), ("prompt:submit", heard)]
    remove = register_guards(harness.coordinator, "hooks-x", guards, priority=0, timeout=1)
    assert set(harness.hooks.list_handlers()) == {"tool:pre", "prompt:submit"}
    remove()
    assert harness.hooks.list_handlers() == {}


def test_the_question_has_the_options_that_the_user_configured() -> None:
    """Prompt and reason are the guard's, everything else is the user's choice."""
    config = GuardConfig(
        approval_options=["Yes", "No"], approval_timeout=9, approval_default="allow"
    )
    asked = config.ask_user("Really?", "it is dangerous")
    assert asked.action == "ask_user"
    assert asked.approval_prompt == "Really?"
    assert asked.approval_options == ["Yes", "No"]
    assert (asked.approval_timeout, asked.approval_default) == (9, "allow")
    assert asked.reason == "it is dangerous"


def test_ask_or_deny_is_the_users_choice() -> None:
    """The same finding is a question or a refusal, as configured."""
    config = GuardConfig()
    assert config.ask_or_deny("deny", "Really?", "no").action == "deny"
    asked = config.ask_or_deny("ask_user", "Really?", "no")
    assert (asked.action, asked.approval_prompt, asked.reason) == ("ask_user", "Really?", "no")


def test_one_question_does_not_change_the_options_of_the_next() -> None:
    """Each question gets its own copy of the list."""
    config = GuardConfig()
    options = config.ask_user("a", "b").approval_options
    assert options is not None
    options.clear()
    assert config.ask_user("a", "b").approval_options == ["Allow once", "Allow always", "Deny"]


@pytest.mark.parametrize(
    "options",
    [
        {"approval_options": []},
        {"approval_options": ["Allow", " "]},
        {"approval_timeout": 0},
        {"approval_timeout": float("inf")},
        {"approval_default": "maybe"},
        {"timeout": -1},
        {"unknown": 1},
    ],
)
def test_options_that_no_guard_can_use_are_refused(options: dict[str, Any]) -> None:
    """An empty choice or an endless wait is an error when the bundle is read."""
    with pytest.raises(ValidationError):
        GuardConfig(**options)


def test_relative_paths_begin_where_the_session_really_works(tmp_path: Path) -> None:
    """A working directory that is a symlink is resolved."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert get_base_dir(Harness(tmp_path / "link").coordinator) == (tmp_path / "real").resolve()


@given(st.text(), st.integers(0, 50))
def test_a_shortened_text_says_how_much_is_missing(text: str, limit: int) -> None:
    """A text that fits is left as it is; otherwise a digest stands for the rest."""
    short = shorten(text, limit)
    if len(text) <= limit:
        assert short is text
    else:
        missing = len(text) - limit
        assert (
            short
            == f"{text[:limit]}… ({missing} more characters; SHA-256 of all: {digest_text(text)})"
        )


@given(st.text(min_size=5), st.text(min_size=5))
def test_two_texts_that_are_cut_alike_are_still_told_apart(one: str, other: str) -> None:
    """Otherwise the approval of one would be that of the other."""
    assert (shorten("same" + one, 4) == shorten("same" + other, 4)) == (one == other)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ls -l", "ls -l"),
        (["echo", "a b"], "echo 'a b'"),
        ([], None),
        (["ls", 1], None),
        (7, None),
        (None, None),
    ],
)
def test_a_command_is_a_text_or_a_list_of_words(value: Any, text: str | None) -> None:
    """Anything else cannot be judged."""
    assert read_command(value) == text


def test_a_list_for_a_question_names_what_it_leaves_out() -> None:
    """By number and digest, so that another rest is another question."""
    lines = [str(number) for number in range(30)]
    assert list_lines(lines[:20]) == "\n".join(f"- {line}" for line in lines[:20])
    cut = list_lines(lines)
    assert "- and 10 more" in cut
    assert cut != list_lines([*lines[:-1], "other"])


@pytest.mark.parametrize(
    ("patterns", "event", "expected"),
    [
        (["tool:*"], "tool:pre", True),
        (["*"], "anything", True),
        (["tool:error"], "error:tool", True),
        (["error:*"], "tool:error", True),
        (["context:pre-compact"], "context:pre_compact", True),
        (["tool:pre"], "tool:post", False),
        (["tool:pre", "tool:p[o]st"], "tool:post", True),
        (["Tool:*"], "tool:pre", False),
        (["tool"], "tool:pre", False),
        ([], "tool:pre", False),
    ],
)
def test_patterns_know_every_spelling(patterns: list[str], event: str, expected: bool) -> None:
    """A pattern that matches one spelling of an event matches the event."""
    assert matches_any(patterns, event) is expected


@given(st.sampled_from(sorted(ALL_EVENTS)), st.data())
def test_a_name_matches_itself_in_every_spelling(event: str, data: st.DataObject) -> None:
    """Whichever spelling a user writes, whichever the emitter uses."""
    pattern = data.draw(st.sampled_from(sorted(spellings(event))))
    heard = data.draw(st.sampled_from(sorted(spellings(event))))
    assert matches_any(iter([pattern]), heard)


@given(st.sampled_from(sorted(ALL_EVENTS)))
def test_the_star_matches_everything(event: str) -> None:
    """One pattern is enough to hear every event."""
    assert matches_any(("*",), event)


TABLE = {"Bash": 1, "bash": 2, "mcp__*__Exec": 3}


@pytest.mark.parametrize(
    ("tool", "entry"),
    [
        ("Bash", 1),
        ("bash", 2),
        ("BASH", 1),
        ("mcp__a__Exec", 3),
        ("MCP__a__exec", 3),
        ("Bash2", None),
        ("", None),
    ],
)
def test_letter_case_decides_only_between_entries(tool: str, entry: int | None) -> None:
    """The tool as it is written comes first; another case of it is still that tool."""
    assert look_up_tool(TABLE, tool) == entry
