"""hooks-session-naming: a name and a description, beside the turn."""

from __future__ import annotations

import asyncio
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.hooks.session_naming import (
    Config,
    mount,
    short_name,
    title_from_answer,
    title_from_prompts,
)
from tests.foundation.hooks.observing import Bench, mounted, until


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def turn(bench: Bench, prompt: str, **more: Any) -> None:
    await bench.emit("prompt:submit", prompt=prompt, **more)
    await bench.emit("orchestrator:complete", status="success", **more)
    await bench.emit("prompt:complete", prompt=prompt, response="done", **more)


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
    assert short_name(prompt, 60) == name


def test_a_long_request_is_cut_at_a_word_that_can_end_a_name() -> None:
    """A name ends neither in half a word nor in 'of the'."""
    prompt = "Rewrite the complete synchronisation layer of the application for the new database"
    assert short_name(prompt, 50) == "Rewrite the complete synchronisation layer"


def test_a_greeting_is_passed_over() -> None:
    """The first prompt that says something names the session."""
    title = title_from_prompts(["hi", "Thanks!", "Port the build to Windows"], Config())
    assert title is not None
    assert title.name == "Port the build to Windows"


@given(st.lists(st.text(max_size=300), max_size=4), st.integers(10, 80))
def test_every_heuristic_name_fits_and_can_be_printed(prompts: list[str], limit: int) -> None:
    """A name is one short printable line, whatever was typed."""
    title = title_from_prompts(prompts, Config(max_name_length=limit))
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
    title = title_from_answer(answer, Config())
    assert title is not None
    assert (title.name, title.description) == (name, description)


@pytest.mark.parametrize(
    "answer",
    ["", "I am sorry,\nI cannot name this.", "{}", '{"name": 3}', "{broken}", "{" * 9, "..."],
)
def test_talk_is_no_name(answer: str) -> None:
    """An answer that is no name leaves the naming to the heuristic."""
    assert title_from_answer(answer, Config()) is None


async def test_the_model_names_the_session_after_the_first_turn(bench: Bench) -> None:
    """Names and describes the session after the first turns, by session.model_call when there."""
    seen: list[str] = []
    stored: list[tuple[str, str]] = []

    async def model(prompt: str, system: str | None = None, max_output_tokens: int = 200) -> str:
        seen.append(prompt)
        return "Name: Login repair\nDescription: Fixes the login."

    bench.register_capability("session.model_call", model)
    bench.register_capability("session.rename", lambda *title: stored.append(title))
    async with mounted("session_naming", bench):
        await turn(bench, "Fix the login bug")
        await until(lambda: stored)
    assert stored == [("Login repair", "Fixes the login.")]
    assert len(seen) == 1
    assert "Fix the login bug" in seen[0]


async def test_without_a_model_the_prompts_name_it(bench: Bench) -> None:
    """Stores through coordinator.session_state["name"] where there is no session.rename."""
    async with mounted("session_naming", bench):
        await turn(bench, "Please fix the login bug")
        await until(lambda: "name" in bench.session_state)
    assert bench.session_state["name"] == "Fix the login bug"
    assert bench.session_state["description"] == "Please fix the login bug"


@pytest.mark.parametrize("failure", [RuntimeError("no credit"), TimeoutError(), ValueError("x")])
async def test_a_model_that_fails_is_no_matter(bench: Bench, failure: Exception) -> None:
    """Whatever a provider raises, the session gets its name."""

    async def model(*_: Any, **__: Any) -> str:
        raise failure

    bench.register_capability("session.model_call", model)
    async with mounted("session_naming", bench):
        await turn(bench, "Fix the login bug")
        await until(lambda: bench.session_state.get("name") == "Fix the login bug")


async def test_a_rename_may_take_its_time(bench: Bench) -> None:
    """`session.rename` may be async."""
    stored: list[tuple[str, str]] = []

    async def rename(name: str, description: str) -> None:
        await asyncio.sleep(0.01)
        stored.append((name, description))

    bench.register_capability("session.rename", rename)
    async with mounted("session_naming", bench):
        await turn(bench, "Fix the login bug")
        await until(lambda: stored)
    assert stored == [("Fix the login bug", "Fix the login bug")]


async def test_a_later_turn_finds_a_better_name(bench: Bench) -> None:
    """After the turns that are configured, each time anew."""
    answers = iter(["Name: First", "Name: Second"])

    async def model(*_: Any, **__: Any) -> str:
        return next(answers)

    bench.register_capability("session.model_call", model)
    async with mounted("session_naming", bench, {"after_turns": [1, 3]}):
        await turn(bench, "one")
        await until(lambda: bench.session_state.get("name") == "First")
        await turn(bench, "two")
        await turn(bench, "three")
        await until(lambda: bench.session_state.get("name") == "Second")


async def test_a_slow_model_delays_no_turn_and_ends_at_cleanup(bench: Bench) -> None:
    """Never delays a turn; task ended cleanly at clean-up."""
    ended = asyncio.Event()

    async def model(*_: Any, **__: Any) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "Name: late"

    bench.register_capability("session.model_call", model)
    started = time.monotonic()
    async with mounted("session_naming", bench):
        await turn(bench, "Fix the login bug")
        await asyncio.sleep(0.05)
    assert time.monotonic() - started < 1
    assert ended.is_set()


async def test_a_session_that_ends_at_once_has_a_name_all_the_same(bench: Bench) -> None:
    """One prompt, one answer, good-bye: the heuristic steps in."""

    async def model(*_: Any, **__: Any) -> str:
        await asyncio.sleep(60)
        return ""

    bench.register_capability("session.model_call", model)
    async with mounted("session_naming", bench):
        await turn(bench, "Fix the login bug")
        await bench.emit("session:end", reason="complete")
    assert bench.session_state["name"] == "Fix the login bug"


async def test_a_name_that_somebody_gave_stays(bench: Bench) -> None:
    """A person's name for the session is better than ours."""
    bench.session_state["name"] = "My own"
    async with mounted("session_naming", bench):
        await turn(bench, "Fix the login bug")
        await asyncio.sleep(0.05)
        await bench.emit("session:end", reason="complete")
    assert bench.session_state == {"name": "My own"}


async def test_a_sub_agents_task_does_not_name_the_session(bench: Bench) -> None:
    """Only what the user of this session asked counts."""
    async with mounted("session_naming", bench):
        await turn(bench, "Look into the cupboard", session_id="child", parent_id="session-1")
        await asyncio.sleep(0.05)
    assert bench.session_state == {}


async def test_turns_are_counted_from_one(bench: Bench) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match=r"after_turns.*counted from 1"):
        await mount(bench, {"after_turns": [0]})
