"""What all guards have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.testing import EventRecorder
from amplifier_hooks.modules.guarding import (
    GuardConfig,
    digest_text,
    get_base_dir,
    list_lines,
    read_command,
    register_guards,
    shorten,
)
from tests.support.harness import Harness
from tests.support.hooks import raises, returns


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
