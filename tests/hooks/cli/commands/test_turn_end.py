"""The end of a turn, as the command sees it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.llm_errors import LLMError
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import TurnEnd
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke

CUT = {"text": "The first of the three is", "finish_reason": "length"}
EMPTY = {"text": "", "finish_reason": "length"}
WHY = "it reached the limit of its output (`max_output_tokens`)"


@pytest.fixture
async def end() -> TurnEnd:
    """Follows a session whose last reply was cut off."""
    end, hooks = TurnEnd(), HookRegistry()
    end.follow(hooks, "s")
    reply = {"session_id": "s", "response": {"finish_reason": "length"}}
    await hooks.emit("provider:response", reply)
    await hooks.emit("provider:response", {**reply, "session_id": "child", "response": {}})
    await hooks.emit("execution:complete", {"session_id": "child", "status": "error"})
    return end


async def test_the_last_reply_of_the_session_itself_counts(end: TurnEnd) -> None:
    """A sub-agent's is its own affair."""
    assert (end.finish_reason, end.is_cut, end.is_early) == ("length", True, False)
    assert end.describe_cut() == f"The reply is cut off: {WHY}."


async def test_an_empty_one_that_was_cut_off_is_an_error(end: TurnEnd) -> None:
    """Whichever loop let it pass."""
    end.check("something")
    with pytest.raises(LLMError, match="The reply of the model is empty"):
        end.check(" \n")


async def test_each_turn_has_its_own_end(end: TurnEnd) -> None:
    """What was cut off before is forgotten."""
    end.forget()
    assert (end.finish_reason, end.is_cut) == (None, False)
    end.check("")


def read_result(stdout: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(stdout.splitlines()[-1])
    return result


def test_a_reply_that_is_cut_off_says_so(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """To people on standard error, and the reply stays what it is."""
    project(CUT)
    assert invoke("run", "count").code == exit_codes.DONE
    out, err = capfd.readouterr()
    assert out.strip() == CUT["text"]
    assert f"! The reply is cut off: {WHY}." in err


def test_programs_are_told_as_well(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    """In the result, and as a message."""
    project(CUT)
    assert invoke("run", "--json", "count").code == exit_codes.DONE
    out = capfd.readouterr().out
    assert '"level": "warning", ' in out
    result = read_result(out)
    assert (result["status"], result["finish_reason"], result["truncated"]) == (
        "done",
        "length",
        True,
    )


def test_a_whole_reply_is_not_truncated(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """It ends where the model ended it."""
    project({"text": "Hello."})
    invoke("run", "--json", "hi")
    result = read_result(capfd.readouterr().out)
    assert (result["finish_reason"], result["truncated"]) == ("stop", False)


def test_an_empty_reply_that_is_cut_off_fails_the_run(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """There is no answer, so it is not done."""
    project(EMPTY)
    done = invoke("run", "count")
    assert (done.code, done.stdout) == (exit_codes.FAILED, "")
    assert f"Error: The reply of the model is empty: {WHY}" in done.stderr
    assert invoke("run", "--json", "count").code == exit_codes.FAILED
    result = read_result(capfd.readouterr().out)
    assert (result["status"], result["error"]) == (
        "failed",
        f"The reply of the model is empty: {WHY}",
    )


def test_a_chat_says_the_same_and_goes_on(
    project: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    """An empty one is an error of that turn only."""
    project(CUT, EMPTY, {"text": "All three."})
    invoke("chat", answer="one\ntwo\nthree\n")
    out, err = capfd.readouterr()
    assert f"! The reply is cut off: {WHY}." in err
    assert f"✗ The reply of the model is empty: {WHY}" in err
    assert "All three." in out
