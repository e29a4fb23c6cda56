"""hooks-session-naming: a name and a description, beside the turn."""

from __future__ import annotations

import asyncio
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.session_naming import (
    Config,
    make_title,
    mount,
    read_title,
    shorten_prompt,
)
from tests.support.harness import Harness
from tests.support.waiting import wait_until


async def turn(harness: Harness, prompt: str, **more: Any) -> None:
    await harness.emit("prompt:submit", prompt=prompt, **more)
    await harness.emit("orchestrator:complete", status="success", **more)
    await harness.emit("prompt:complete", prompt=prompt, response="done", **more)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Fix the login bug", "Fix the login bug"),
        ("Hello, can you please fix the login bug? It annoys people.", "Fix the login bug"),
        ("I would like you to add tests for src/app/parser.py", "Add tests for parser.py"),
        ("please\n\nrefactor the parser", "Refactor the parser"),
        ("# Task\nmore", "Task"),
        ("see https://www.example.com/a/b?c=d for details", "See example.com for details"),
        ("Explain `async def` to me", "Explain async def to me"),
        ("```python\nprint(1)\n```\nWhy does this print 1?", "Why does this print 1"),
        ("", ""),
        ("...", ""),
        ("\x1b[31mred\u202e alert now", "[31mred alert now"),
    ],
)
def test_the_heuristic_finds_what_is_asked_for(prompt: str, name: str) -> None:
    """Else a good heuristic from the prompts."""
    assert shorten_prompt(prompt, 60) == name


def test_a_long_request_is_cut_at_a_word_that_can_end_a_name() -> None:
    """A name ends neither in half a word nor in 'of the'."""
    prompt = "Rewrite the complete synchronisation layer of the application for the new database"
    assert shorten_prompt(prompt, 50) == "Rewrite the complete synchronisation layer"


def test_a_greeting_is_passed_over() -> None:
    """The first prompt that says something names the session."""
    title = make_title(["hi", "Thanks!", "Port the build to Windows"], Config())
    assert title is not None
    assert title.name == "Port the build to Windows"


@given(st.lists(st.text(max_size=300), max_size=4), st.integers(10, 80))
def test_every_heuristic_name_fits_and_can_be_printed(prompts: list[str], limit: int) -> None:
    """A name is one short printable line, whatever was typed."""
    title = make_title(prompts, Config(max_name_length=limit))
    for text in () if title is None else (title.name, title.description):
        assert text
        assert "\n" not in text
        assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in text)
    assert title is None or len(title.name) <= limit


@pytest.mark.parametrize(
    ("answer", "name", "description"),
    [
        ("Name: Fix login\nDescription: Repairs it.", "Fix login", "Repairs it."),
        ("**Name:** Fix login\n**Description:** Repairs it.", "Fix login", "Repairs it."),
        ('{"name": "Fix login", "description": "Repairs it."}', "Fix login", "Repairs it."),
        ('"Fix login"', "Fix login", "Fix login"),
        ("Name: " + "x" * 100, "x" * 59 + "…", "x" * 59 + "…"),
    ],
)
def test_the_models_answer_is_read_in_the_forms_models_use(
    answer: str, name: str, description: str
) -> None:
    """As asked for, as JSON, or as a bare line."""
    title = read_title(answer, Config())
    assert title is not None
    assert (title.name, title.description) == (name, description)


@pytest.mark.parametrize(
    "answer",
    ["", "I am sorry,\nI cannot name this.", "{}", '{"name": 3}', "{broken}", "{" * 9, "..."],
)
def test_talk_is_no_name(answer: str) -> None:
    """An answer that is no name leaves the naming to the heuristic."""
    assert read_title(answer, Config()) is None


async def test_the_model_names_the_session_after_the_first_turn(harness: Harness) -> None:
    """Names and describes the session after the first turns, by session.model_call when there."""
    seen: list[str] = []
    stored: list[tuple[str, str]] = []

    async def model(prompt: str, system: str | None = None, max_output_tokens: int = 200) -> str:
        seen.append(prompt)
        return "Name: Login repair\nDescription: Fixes the login."

    harness.coordinator.register_capability("session.model_call", model)
    harness.coordinator.register_capability("session.rename", lambda *title: stored.append(title))
    async with harness.mounted("session_naming"):
        await turn(harness, "Fix the login bug")
        await wait_until(lambda: bool(stored))
    assert stored == [("Login repair", "Fixes the login.")]
    assert len(seen) == 1
    assert "Fix the login bug" in seen[0]


async def test_without_a_model_the_prompts_name_it(harness: Harness) -> None:
    """The name goes into the session's state where there is no session.rename."""
    async with harness.mounted("session_naming"):
        await turn(harness, "Please fix the login bug")
        await wait_until(lambda: "name" in harness.coordinator.session_state)
    assert harness.coordinator.session_state["name"] == "Fix the login bug"
    assert harness.coordinator.session_state["description"] == "Please fix the login bug"


@pytest.mark.parametrize("failure", [RuntimeError("no credit"), TimeoutError(), ValueError("x")])
async def test_a_model_that_fails_is_no_matter(harness: Harness, failure: Exception) -> None:
    """Whatever a provider raises, the session gets its name."""

    async def model(*_: Any, **__: Any) -> str:
        raise failure

    harness.coordinator.register_capability("session.model_call", model)
    async with harness.mounted("session_naming"):
        await turn(harness, "Fix the login bug")
        await wait_until(
            lambda: harness.coordinator.session_state.get("name") == "Fix the login bug"
        )


async def test_a_rename_may_take_its_time(harness: Harness) -> None:
    """`session.rename` may be async."""
    stored: list[tuple[str, str]] = []

    async def rename(name: str, description: str) -> None:
        await asyncio.sleep(0.01)
        stored.append((name, description))

    harness.coordinator.register_capability("session.rename", rename)
    async with harness.mounted("session_naming"):
        await turn(harness, "Fix the login bug")
        await wait_until(lambda: bool(stored))
    assert stored == [("Fix the login bug", "Fix the login bug")]


async def test_a_later_turn_finds_a_better_name(harness: Harness) -> None:
    """After the turns that are configured, each time anew."""
    answers = iter(["Name: First", "Name: Second"])

    async def model(*_: Any, **__: Any) -> str:
        return next(answers)

    harness.coordinator.register_capability("session.model_call", model)
    async with harness.mounted("session_naming", {"after_turns": [1, 3]}):
        await turn(harness, "one")
        await wait_until(lambda: harness.coordinator.session_state.get("name") == "First")
        await turn(harness, "two")
        await turn(harness, "three")
        await wait_until(lambda: harness.coordinator.session_state.get("name") == "Second")


async def test_a_slow_model_delays_no_turn_and_ends_at_cleanup(harness: Harness) -> None:
    """Never delays a turn; task ended cleanly at clean-up."""
    called, ended = asyncio.Event(), asyncio.Event()

    async def model(*_: Any, **__: Any) -> str:
        called.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "Name: late"

    harness.coordinator.register_capability("session.model_call", model)
    started = time.monotonic()
    async with harness.mounted("session_naming"):
        await turn(harness, "Fix the login bug")
        await wait_until(called.is_set)
    assert time.monotonic() - started < 40
    assert ended.is_set()


async def test_a_session_that_ends_at_once_has_a_name_all_the_same(harness: Harness) -> None:
    """One prompt, one answer, good-bye: the heuristic steps in."""

    async def model(*_: Any, **__: Any) -> str:
        await asyncio.sleep(60)
        return ""

    harness.coordinator.register_capability("session.model_call", model)
    async with harness.mounted("session_naming"):
        await turn(harness, "Fix the login bug")
        await harness.emit("session:end", reason="complete")
    assert harness.coordinator.session_state["name"] == "Fix the login bug"


async def test_a_name_that_somebody_gave_stays(harness: Harness) -> None:
    """A person's name for the session is better than ours."""
    harness.coordinator.session_state["name"] = "My own"
    async with harness.mounted("session_naming"):
        await turn(harness, "Fix the login bug")
        await asyncio.sleep(0.05)
        await harness.emit("session:end", reason="complete")
    assert harness.coordinator.session_state == {"name": "My own"}


async def test_a_name_that_a_person_kept_stays(harness: Harness) -> None:
    """Also where it is the one that we had given."""
    state = harness.coordinator.session_state
    async with harness.mounted("session_naming", {"after_turns": [1, 2], "use_model": False}):
        await turn(harness, "parser")
        await wait_until(lambda: state.get("name") == "Parser")
        state["named_by"] = "person"
        await turn(harness, "Fix the login bug")
        await harness.emit("session:end", reason="complete")
    assert state["name"] == "Parser"


async def test_a_sub_agents_task_does_not_name_the_session(harness: Harness) -> None:
    """Only what the user of this session asked counts."""
    async with harness.mounted("session_naming"):
        await turn(harness, "Look into the cupboard", session_id="child", parent_id="test-session")
        await asyncio.sleep(0.05)
    assert harness.coordinator.session_state == {}


async def test_turns_are_counted_from_one(harness: Harness) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match=r"after_turns.*counted from 1"):
        await mount(harness.coordinator, {"after_turns": [0]})
