"""`Guard` in a loop that somebody wrote: prompts, requests, calls and answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import HookResult, hook
from amplifier_core.utils.conversation import list_calls, list_results
from amplifier_hooks import Guard, GuardSync, NotRun, Refused
from amplifier_hooks.external.client_messages import read_messages, write_messages
from amplifier_hooks.external.messages import Placed, place_messages

USER = {"role": "user", "content": "hello"}


def chat(*ids: str) -> list[dict[str, Any]]:
    """Calls and their results as OpenAI's chat completions have them."""
    function = {"name": "read", "arguments": '{"path": "x"}'}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    results = [{"role": "tool", "tool_call_id": one, "content": "found"} for one in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def blocks(*ids: str) -> list[dict[str, Any]]:
    """The same as Anthropic's messages have them."""
    calls = [{"type": "tool_use", "id": one, "name": "read", "input": {}} for one in ids]
    results = [{"type": "tool_result", "tool_use_id": one, "content": "found"} for one in ids]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def responses(*ids: str) -> list[dict[str, Any]]:
    """The same as OpenAI's responses have them."""
    calls = [
        {"type": "function_call", "call_id": one, "name": "read", "arguments": "{}"} for one in ids
    ]
    results = [{"type": "function_call_output", "call_id": one, "output": "found"} for one in ids]
    return [{"type": "reasoning", "summary": []}, *calls, *results]


STYLES = {"chat": chat, "blocks": blocks, "responses": responses}


@hook("tool:pre", on_error="deny")
async def keep_files(event: str, data: dict[str, Any]) -> HookResult:
    """Denies one tool and changes the arguments of another."""
    if data["tool_name"] == "delete":
        return HookResult(action="deny", reason="files stay")
    if data["tool_name"] == "redirect":
        return HookResult(action="modify", data={**data, "tool_input": {"path": "allowed"}})
    return HookResult(action="continue")


@hook("tool:post")
async def remind(event: str, data: dict[str, Any]) -> HookResult:
    """Tells the model something after each call."""
    return HookResult(action="inject_context", context_injection="a reminder")


@hook("prompt:submit", "prompt:answer", "provider:request", on_error="deny")
async def refuse(event: str, data: dict[str, Any]) -> HookResult:
    """Denies whatever says so."""
    said = json.dumps(data, default=str)
    if f"no {event}" in said:
        return HookResult(action="deny", reason="not that")
    return HookResult(action="continue")


def read(path: str) -> dict[str, str]:
    """A tool."""
    return {"text of": path}


async def test_a_function_gets_what_hooks_left_and_its_value_comes_back() -> None:
    guard = Guard(hooks=[keep_files])
    async with guard.session("hello") as run:
        assert run.prompt == "hello"
        assert await run.call("read", {"path": "x"}, read) == {"text of": "x"}
        assert await run.call("redirect", '{"path": "x"}', read) == {"text of": "allowed"}
        denied = await run.call("delete", {"path": "x"}, read)
        assert denied == "Operation denied by keep_files: files stay"
        assert isinstance(denied, NotRun)
        assert await run.answer("done") == "done"


async def test_async_functions_are_awaited_and_exceptions_are_kept() -> None:
    async def later(path: str) -> str:
        return f"later {path}"

    def fail(path: str) -> str:
        raise KeyError(path)

    async with Guard(hooks=[keep_files]).session("hello") as run:
        assert await run.call("read", {"path": "x"}, later) == "later x"
        with pytest.raises(KeyError, match="x"):
            await run.call("read", {"path": "x"}, fail)


@pytest.mark.parametrize(
    ("arguments", "said"), [('{"path"', "not JSON"), ("[1]", "must be an object"), ("", None)]
)
async def test_arguments_that_a_model_wrote_wrongly_run_nothing(
    arguments: str, said: str | None
) -> None:
    ran = []
    async with Guard(hooks=[keep_files]).session("hello") as run:
        result = await run.call("read", arguments, lambda **given: ran.append(given))
    assert isinstance(result, NotRun) == (said is not None)
    assert (said or "") in str(result)
    assert ran == ([] if said else [{}])


async def test_a_denied_prompt_request_or_answer_is_refused_with_the_reason() -> None:
    guard = Guard(hooks=[refuse])
    with pytest.raises(Refused, match="not that"):
        async with guard.session("no prompt:submit"):
            pytest.fail("the session began")
    async with guard.session("hello") as run:
        with pytest.raises(Refused, match="not that"):
            await run.messages([{"role": "user", "content": "no provider:request"}])
        with pytest.raises(Refused, match="not that"):
            await run.answer("no prompt:answer")


def test_a_program_without_an_event_loop_has_the_same() -> None:
    with GuardSync(hooks=[keep_files, remind]).session("hello") as run:
        assert run.call("read", {"path": "x"}, read) == {"text of": "x"}
        assert isinstance(run.call("delete", {"path": "x"}, read), NotRun)
        sent = run.messages([USER, *chat("a")])
        assert [one["role"] for one in sent] == ["user", "assistant", "tool", "system"]
        assert run.answer("done") == "done"


def test_a_function_without_an_event_and_two_sources_are_refused() -> None:
    with pytest.raises(TypeError, match="read does not say what it listens to"):
        Guard(hooks=[read])
    with pytest.raises(TypeError, match="a bundle or hooks"):
        Guard("amplifier.yaml", hooks=[remind])


@pytest.mark.parametrize("style", STYLES)
async def test_a_reminder_follows_the_results_and_stays_there(style: str) -> None:
    """Also where the loop asks for its messages while calls are open; each is sent once."""
    own = [USER, *STYLES[style]("a", "b")]
    results = {"chat": 2, "blocks": 1, "responses": 2}[style]
    async with Guard(hooks=[remind]).session("hello") as run:
        await run.call("read", {"path": "x"}, read, id="a")
        await run.messages(own[:-results])
        sent = await run.messages(own)
        assert sent[: len(own)] == own
        assert [one["content"] for one in sent[len(own) :]] == ["a reminder"]
        assert set(sent[-1]) == {"role", "content"}
        later = await run.messages([*own, {"role": "user", "content": "and now?"}])
    assert len(later) == len(own) + 2


class Client:
    """An object as clients return them."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Its values."""
        return self.values


@hook("provider:request")
async def hide(event: str, data: dict[str, Any]) -> HookResult:
    """Hides a word wherever it stands in the request."""
    changed = json.loads(json.dumps(data["messages"]).replace("secret", "hidden"))
    return HookResult(action="modify", data={**data, "messages": changed})


@pytest.mark.parametrize("style", STYLES)
async def test_a_hook_changes_what_is_sent_in_the_interfaces_own_form(style: str) -> None:
    written = json.dumps([USER, *STYLES[style]("a")]).replace("found", "secret")
    own = json.loads(written.replace('\\"x\\"', '\\"secret\\"'))
    objects = [own[0], Client(**own[1]), *own[2:]]
    async with Guard(hooks=[hide]).session("hello") as run:
        sent = await run.messages(objects)
    wanted = json.loads(json.dumps(own).replace("secret", "hidden"))
    assert [one.values if isinstance(one, Client) else one for one in sent] == wanted
    assert json.dumps(own).count("secret") > 0


@given(st.data())
def test_what_is_written_back_unchanged_is_the_programs_own(data: st.DataObject) -> None:
    make = data.draw(st.sampled_from(list(STYLES.values())))
    rounds = data.draw(st.lists(st.integers(1, 3), max_size=4))
    own: list[Any] = [USER]
    for number, calls in enumerate(rounds):
        own += make(*(f"{number}-{call}" for call in range(calls)))
    plain = read_messages(own)
    sent = write_messages(own, place_messages(plain, plain))
    assert all(mine is theirs for mine, theirs in zip(own, sent, strict=True))


@given(st.data())
def test_nothing_stands_between_a_call_and_its_result_wherever_hooks_put_it(
    data: st.DataObject,
) -> None:
    make = data.draw(st.sampled_from(list(STYLES.values())))
    own: list[Any] = [USER, *make("a", "b"), *make("c")]
    placed = [Placed(index) for index in range(len(read_messages(own)))]
    for place in data.draw(st.lists(st.integers(0, len(placed)), min_size=1, max_size=4)):
        note = {"role": "system", "content": "note", "metadata": {"source": "hook"}}
        placed.insert(place, Placed(None, note))
    sent = write_messages(own, placed)
    assert len(sent) == len(own) + len(placed) - len(read_messages(own))
    check_order(sent)


def check_order(sent: Sequence[Any]) -> None:
    """Results follow their calls with nothing between them."""
    waiting: set[str] = set()
    for message in read_messages(sent):
        results = set(list_results(message))
        calls = set(list_calls(message))
        assert not waiting or results or calls
        assert results <= waiting
        waiting = (waiting - results) | calls
    assert not waiting
