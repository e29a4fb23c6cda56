"""The small parts that the observing hooks share."""

from __future__ import annotations

import asyncio
import contextvars
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_foundation.machine.background import BackgroundTasks
from amplifier_foundation.machine.programs import fill_command
from amplifier_foundation.machine.text import clip_lines, strip_controls, to_one_line
from amplifier_foundation.modules.event_patterns import matches_any

anything = st.text(st.characters())


@given(anything, st.integers(200, 5000))
def test_clipped_text_fits_in_bytes(text: str, limit: int) -> None:
    """What is injected never exceeds its limit, counted in UTF-8."""
    assert len(clip_lines(text, limit).encode()) <= limit


def test_clipped_text_keeps_whole_lines_and_says_what_is_missing() -> None:
    """The reader knows that there is more."""
    text = "\n".join(f"line {number}" for number in range(100))
    cut = clip_lines(text, 200).splitlines()
    assert cut[0] == "line 0"
    assert cut[-1] == f"… {100 - len(cut) + 1} more lines"


def test_one_endless_line_is_cut_inside() -> None:
    """Also when not even the first line fits."""
    cut = clip_lines("é" * 1000, 200)
    assert len(cut.encode()) <= 200
    assert cut.startswith("é" * 50)


@given(anything, st.integers(1, 500))
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    """No control character and no line break reaches a message."""
    line = to_one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in line)


def test_emoji_and_scripts_that_join_letters_survive() -> None:
    """Joiners are not controls."""
    assert strip_controls("👩\u200d💻 می\u200cخواهم") == "👩\u200d💻 می\u200cخواهم"


@pytest.mark.parametrize(
    ("patterns", "event", "covered"),
    [
        (["tool:*"], "tool:pre", True),
        (["*"], "anything", True),
        (["tool:error"], "error:tool", True),
        (["error:*"], "tool:error", True),
        (["context:pre-compact"], "context:pre_compact", True),
        (["tool:pre"], "tool:post", False),
        ([], "tool:pre", False),
    ],
)
def test_patterns_know_every_spelling(patterns: list[str], event: str, covered: bool) -> None:
    """These spellings are the same event."""
    assert matches_any(patterns, event) is covered


def test_a_file_name_is_never_shell_text() -> None:
    """In a line for bash it arrives quoted; in a list it is one argument."""
    name = "a b; rm -rf $HOME {file}"
    assert fill_command("lint {file} {other}", file=name) == f"lint '{name}' {{other}}"
    assert fill_command(("lint", "--in={file}"), file=name) == ["lint", f"--in={name}"]


async def test_a_background_failure_is_logged_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Observers never crash the agent."""

    async def fail() -> None:
        raise RuntimeError("boom")

    tasks = BackgroundTasks("hooks-x")
    tasks.start(fail())
    await asyncio.sleep(0)
    await tasks.close(grace=1)
    assert "hooks-x failed in the background: RuntimeError: boom" in caplog.text
    assert len(tasks) == 0


async def test_too_much_background_work_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    """A burst costs work, not memory."""
    tasks = BackgroundTasks("hooks-x", limit=2)
    started = [tasks.start(asyncio.sleep(60)) for _ in range(5)]
    assert [one is not None for one in started] == [True, True, False, False, False]
    await tasks.close()
    assert len(tasks) == 0
    assert "dropped one" in caplog.text


async def test_background_work_is_not_part_of_the_hooks_run() -> None:
    """What it prints or emits later does not count as the hook's own."""
    variable = contextvars.ContextVar("hook", default="outside")
    variable.set("inside a hook")
    seen = []

    async def look() -> None:
        seen.append(variable.get())

    tasks = BackgroundTasks("hooks-x")
    tasks.start(look())
    await tasks.close(grace=1)
    assert seen == ["outside"]
