"""hooks-redaction: what is masked, asked about, and kept out of logs."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import ScriptedApproval
from amplifier_core.utils.copying import freeze
from amplifier_hooks.agent.loops.model_call import SharedConversation
from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.redaction import FIELDS, Config, Masking, SecretFilter, watch_logs
from tests.hooks.guards.policy.secrets.test_checks import CODE
from tests.support.harness import Harness, finish


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"patterns": {"x": "(?=a)b"}}, "no look-around"),
        ({"patterns": {"x": r"(a)\1"}}, "back-references"),
        ({"patterns": {"x": "("}}, "not a pattern"),
        ({"allow": ["("]}, "not a pattern"),
        ({"patterns": {"a b": "x"}}, "'a b' is not a name"),
        ({"off": ["github-tokens"]}, "did you mean 'github-token'?"),
        ({"events": ["tool:pree"]}, "did you mean 'tool:pre'?"),
        ({"on_write": "shout"}, "on_write"),
        ({"allowlist": []}, "unknown option 'allowlist'"),
    ],
)
async def test_a_bad_config_says_what_is_wrong(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    """Patterns are compiled at load; their errors say what the engine lacks."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("redaction", config)
    assert words in str(refused.value)


def test_every_event_that_carries_text_is_covered() -> None:
    """The five events of the specification are among those that are looked through."""
    assert {
        "tool:pre",
        "tool:post",
        "prompt:submit",
        "provider:request",
        "provider:response",
    } <= set(FIELDS)


def test_by_default_a_person_is_asked_once_at_a_time() -> None:
    """A yes to one token is no yes to all that follow."""
    config = Config()
    assert config.on_write == "ask"
    assert config.approval_options == ["Allow once", "Deny"]


def test_the_page_lists_every_shape() -> None:
    """A reader learns which names `off` takes."""
    page = Path(__file__).parents[3] / "docs" / "modules" / "hooks-redaction.md"
    listed = page.read_text()
    assert [name for name in SHAPES if f"`{name}`" not in listed] == []


def redact(text: str) -> str:
    return text.replace("hunter2", "***") if "hunter2" in text else text


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a handler of the root logger writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)


def test_messages_arguments_and_tracebacks_are_cleaned(written: io.StringIO) -> None:
    """Whatever part of a line has the secret; the rest of the line stays."""
    end = watch_logs(redact)
    log = logging.getLogger("amplifier_core.anything")
    log.error("it is %s", "hunter2")
    try:
        int("hunter2")
    except ValueError:
        log.exception("failed %d times", 3)
    end()
    text = written.getvalue()
    assert "hunter2" not in text
    assert "it is ***" in text
    assert "failed 3 times" in text
    assert "ValueError: invalid literal for int() with base 10: '***'" in text
    log.error("it is %s", "hunter2")
    assert "it is hunter2" in written.getvalue()


def test_the_lines_of_the_application_stay_as_they_are(written: io.StringIO) -> None:
    """Only loggers of this package are ours to rewrite."""
    end = watch_logs(redact)
    logging.getLogger("somebody.else").error("it is hunter2")
    end()
    assert "it is hunter2" in written.getvalue()


def test_a_line_that_cannot_be_looked_through_is_withheld() -> None:
    """Fails closed, and never raises into what it tells of."""
    record = logging.LogRecord("amplifier_x", logging.ERROR, "f", 1, "%d hunter2", ("a",), None)
    assert SecretFilter(redact).filter(record)
    assert record.getMessage() == "[withheld: TypeError]"


TOKEN = "ghp_" + "Zz9" * 12
PAYLOADS: dict[str, dict[str, Any]] = {
    "tool:post": {
        "tool_name": "Read",
        "tool_input": {"a": ["SECRET"]},
        "tool_result": {"success": True, "output": {"SECRET": ["SECRET"]}, "error": None},
    },
    "content_block:end": {"block_index": 0, "block": {"type": "text", "text": "SECRET"}},
    "prompt:submit": {"prompt": "use SECRET", "metadata": {"k": "SECRET"}},
    "provider:request": {"messages": [{"role": "user", "content": [{"text": "SECRET"}]}]},
    "provider:response": {"response": {"content": [{"type": "text", "text": "SECRET"}]}},
    "provider:retry": {"error": {"message": "SECRET"}},
    "tool:error": {"tool_name": "x", "error": {"message": "SECRET"}},
    "error:orchestration": {"error": {"message": "SECRET"}},
    "mcp:list": {
        "server": "x",
        "method": "tools/list",
        "items": [{"name": "a", "inputSchema": {"properties": {"b": {"default": "SECRET"}}}}],
        "instructions": "log in with SECRET",
    },
}


@pytest.mark.parametrize("event", PAYLOADS)
@pytest.mark.parametrize(
    ("secret", "name"), [(TOKEN, "github-token"), ("password=hunter22", "key-value")]
)
async def test_each_event_carries_on_without_the_secret(
    event: str, secret: str, name: str, tmp_path: Path
) -> None:
    """Through `modify` on tool results, prompts, messages, replies and errors."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    data = json.loads(json.dumps(PAYLOADS[event]).replace("SECRET", secret))
    result = await harness.hooks.emit(event, data)
    hidden = secret.removeprefix("password=")
    assert result.action == "continue"
    assert hidden not in repr(result.data)
    assert f"[REDACTED:{name}]" in repr(result.data)
    assert hidden in repr(data)


async def test_a_schema_with_a_field_for_a_password_stays_as_it_is(tmp_path: Path) -> None:
    """Names of parameters in a server's list hold no secrets."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    field = {"type": "string", "description": "The password of the account"}
    schema = {"type": "object", "properties": {"password": field}, "required": ["password"]}
    items = [{"name": "login", "description": "Log in.", "inputSchema": schema}]
    listed = await harness.judge("mcp:list", server="x", method="tools/list", items=items)
    assert (listed.data or {})["items"] == items


SOURCE_CODE = "this.token = token;\npassword=hunter22\n"


async def test_the_tool_calls_of_a_reply_are_left_alone(tmp_path: Path) -> None:
    """They run as the model wrote them; what is in them is judged before they do."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    call = {"id": "1", "name": "Write", "arguments": {"content": SOURCE_CODE + TOKEN}}
    block = {
        "type": "tool_call",
        "id": "1",
        "name": "Write",
        "input": {"content": SOURCE_CODE + TOKEN},
    }
    reply = {"content": [{"type": "text", "text": TOKEN}, block], "tool_calls": [call]}
    result = await harness.hooks.emit("provider:response", {"response": reply})
    seen = result.data["response"]
    assert seen["tool_calls"] == [call]
    assert seen["content"] == [{"type": "text", "text": "[REDACTED:github-token]"}, block]


async def test_a_reply_that_is_a_model_stays_one(tmp_path: Path) -> None:
    """Loops of the ecosystem hand it on as it is."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    call = ToolCall(id="1", name="Write", arguments={"content": TOKEN})
    reply = ChatResponse(content=[TextBlock(text=f"a {TOKEN}")], tool_calls=[call])
    result = await harness.hooks.emit("provider:response", {"response": reply})
    seen = result.data["response"]
    assert isinstance(seen, ChatResponse)
    assert seen.text == "a [REDACTED:github-token]"
    assert seen.tool_calls == [call]
    plain = ChatResponse(content=[TextBlock(text="nothing")])
    same = await harness.hooks.emit("provider:response", {"response": plain})
    assert same.data["response"] is plain
    odd = await harness.hooks.emit("provider:response", {"response": f"just {TOKEN}"})
    assert odd.data["response"] == "just [REDACTED:github-token]"


async def test_the_person_can_be_told(tmp_path: Path) -> None:
    """With `notify` each replacement is a message."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"notify": True})
    await harness.run("prompt:submit", prompt=f"use {TOKEN}", metadata={})
    assert "A secret was replaced in prompt (prompt:submit)." in repr(harness.shown)


async def test_screen_trail_and_records_see_no_secret(tmp_path: Path) -> None:
    """Through the scrubber: texts by their shape, and values by their key."""
    harness = Harness(tmp_path)

    async def gossip(event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"action": "continue", "user_message": f"leaking {TOKEN}"}

    harness.hooks.register("tool:pre", gossip)
    await harness.mount("redaction", {"on_write": "off"})
    call = {"tool_name": "Bash", "tool_input": {"command": f"echo {TOKEN}", "password": "plain"}}
    await harness.coordinator.execute_with_hooks("tool:pre", call)
    assert TOKEN not in repr(harness.shown)
    assert "leaking [REDACTED:github-token]" in repr(harness.shown)
    recorded = repr(harness.trail.records)
    assert TOKEN not in recorded
    assert "'password': '[REDACTED:key-value]'" in recorded


async def test_own_patterns_shapes_and_replacement_are_configurable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """patterns, off, allow, environment and replacement."""
    monkeypatch.setenv("MY_DEPLOY_TOKEN", "a.b*c(d)e+f$g")
    harness = Harness(tmp_path)
    config = {
        "patterns": {"card": r"\b\d{4}-\d{4}-\d{4}-\d{4}\b", "badge": "badge=(?P<secret>[0-9]+)"},
        "off": ["github-token"],
        "allow": ["hunter2"],
        "environment": ["MY_*_TOKEN"],
        "replacement": "<{name}>",
    }
    await harness.mount("redaction", config)
    text = f"1111-2222-3333-4444 badge=77 {TOKEN} x a.b*c(d)e+f$g y password=hunter2 z"
    result = await harness.hooks.emit("prompt:submit", {"prompt": text})
    assert result.data is not None
    expected = f"<card> badge=<badge> {TOKEN} x <env-MY_DEPLOY_TOKEN> y password=hunter2 z"
    assert result.data["prompt"] == expected


async def test_own_patterns_count_in_what_is_written(tmp_path: Path) -> None:
    """Who names a shape means it: own patterns are no guesses."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"patterns": {"badge": "badge=[0-9]+"}, "on_write": "deny"})
    denied = await harness.judge("tool:pre", tool_name="Write", tool_input={"content": "badge=77"})
    assert "badge in 'content'" in denied.denial


@pytest.mark.parametrize(
    ("config", "heard"),
    [
        ({"events": ["prompt:submit"]}, ["prompt:submit"]),
        ({"events": ["tool:pre"]}, ["tool:pre"]),
        ({"events": ["tool:pre", "tool:post"], "on_write": "off"}, ["tool:post"]),
    ],
)
async def test_only_the_wanted_events_are_heard(
    config: dict[str, Any], heard: list[str], tmp_path: Path
) -> None:
    """`events` narrows it down."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", config)
    assert list(harness.hooks.list_handlers()) == heard


async def test_log_lines_are_cleaned_while_it_is_mounted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A hook that fails with a secret in its message does not write it to the log."""
    harness = Harness(tmp_path)
    cleanup = await harness.mount("redaction")

    async def fail(event: str, data: dict[str, Any]) -> None:
        raise ValueError(f"cannot use {TOKEN}")

    harness.hooks.register("prompt:submit", fail)
    with caplog.at_level(logging.DEBUG):
        await harness.run("prompt:submit", prompt="x", metadata={})
    await finish(cleanup)
    assert "cannot use [REDACTED:github-token]" in caplog.text
    assert TOKEN not in caplog.text


SOURCE = "\n".join(CODE) + "\npassword=hunter22\nDB_PASSWORD=correct-horse\n"


async def judge(tmp_path: Path, tool: str, tool_input: Any, **config: Any) -> tuple[Any, Harness]:
    approval = config.pop("approval", None)
    harness = Harness(tmp_path, approval=approval)
    await harness.mount("redaction", config)
    return await harness.judge("tool:pre", tool_name=tool, tool_input=tool_input), harness


@pytest.mark.parametrize("tool", ["Write", "Edit", "Bash", "anything"])
@pytest.mark.parametrize("on_write", ["ask", "deny", "tell-and-redact", "off"])
async def test_source_code_reaches_the_disk_as_it_was_written(
    tool: str, on_write: str, tmp_path: Path
) -> None:
    """Guesses do not count: `this.token = token;` stays what it is, and so does a password."""
    given = {"file_path": "a.js", "content": SOURCE, "password": "hunter22", "command": SOURCE}
    outcome, harness = await judge(tmp_path, tool, given, on_write=on_write)
    assert outcome.allowed
    assert outcome.data["tool_input"] == given
    assert harness.shown == []


@pytest.mark.parametrize(("answer", "allowed"), [("Allow once", True), ("Deny", False)])
async def test_a_person_decides_about_a_token(answer: str, allowed: bool, tmp_path: Path) -> None:
    """Asked with tool, shape and place; the input is shown as it is, and runs as it is."""
    approval = ScriptedApproval(answer)
    given = {"command": f"deploy {TOKEN}"}
    outcome, _ = await judge(tmp_path, "Bash", given, approval=approval)
    assert outcome.allowed is allowed
    (question,) = approval.questions
    assert question.prompt == (
        "The input of Bash holds a secret: github-token in 'command'. Let Bash use it as it is?"
    )
    assert TOKEN not in question.prompt
    assert question.tool_input == given
    if allowed:
        assert outcome.data["tool_input"] == given


async def test_with_nobody_to_ask_a_token_is_not_written(tmp_path: Path) -> None:
    """The agent reads why, and nothing is replaced behind its back."""
    outcome, _ = await judge(tmp_path, "Write", {"content": TOKEN})
    assert not outcome.allowed
    assert "holds a secret: github-token in 'content'" in outcome.denial
    assert TOKEN not in outcome.denial


async def test_a_token_can_be_denied_outright(tmp_path: Path) -> None:
    """The reason says what to do instead."""
    outcome, _ = await judge(tmp_path, "Write", {"a": [TOKEN]}, on_write="deny")
    assert not outcome.allowed
    assert "have the program read it from its environment" in outcome.denial


async def test_a_token_that_is_replaced_is_told_of(tmp_path: Path) -> None:
    """`tell-and-redact`: the person sees it, whether `notify` is set or not."""
    given = {"content": f"a {TOKEN} b\npassword=hunter22"}
    outcome, harness = await judge(tmp_path, "Write", given, on_write="tell-and-redact")
    assert outcome.data["tool_input"] == {
        "content": "a [REDACTED:github-token] b\npassword=hunter22"
    }
    assert harness.shown == [
        (
            "Write goes on without a secret that was in its input: github-token in 'content'",
            "warning",
            "hook:hooks-redaction",
        )
    ]


async def test_off_lets_everything_through(tmp_path: Path) -> None:
    """For those whose tools need their tokens."""
    outcome, _ = await judge(tmp_path, "Bash", {"command": TOKEN}, on_write="off")
    assert outcome.data["tool_input"] == {"command": TOKEN}


async def test_tools_that_need_the_secret_can_be_excepted(tmp_path: Path) -> None:
    """`allow_in_tools` leaves the input of these tools alone, and only their input."""
    options = {"allow_in_tools": ["vault_*"]}
    outcome, harness = await judge(tmp_path, "vault_put", {"value": TOKEN}, **options)
    assert outcome.data["tool_input"] == {"value": TOKEN}
    result = {"tool_name": "vault_put", "tool_input": {}, "tool_result": {"output": TOKEN}}
    after_tool = await harness.hooks.emit("tool:post", result)
    assert TOKEN not in repr(after_tool.data)


async def test_what_another_hook_put_in_is_seen_too(tmp_path: Path) -> None:
    """The guard stands behind the hooks that change a call: what is judged is what runs."""
    harness = Harness(tmp_path)

    async def add(event: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"action": "modify", "data": {**data, "tool_input": {"command": TOKEN}}}

    harness.hooks.register("tool:pre", add)
    await harness.mount("redaction", {"on_write": "deny"})
    assert not (await harness.judge("tool:pre", tool_name="Bash", tool_input={})).allowed


MARK = "[REDACTED:github-token]"


@pytest.mark.parametrize(
    ("tool", "tool_input", "stopped"),
    [
        ("Write", {"file_path": "a.env", "content": f"TOKEN={MARK}"}, True),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": MARK}, True),
        ("MultiEdit", {"path": "a", "edits": [{"new_string": f"b {MARK}"}]}, True),
        ("Edit", {"file_path": "a", "old_string": MARK, "new_string": f"b {MARK}"}, False),
        ("MultiEdit", {"path": "a", "edits": [{"old_string": MARK, "new_string": MARK}]}, False),
        ("mcp__fs__write_file", {"path": "a.env", "content": f"TOKEN={MARK}"}, True),
        ("mcp__fs__edit_file", {"path": "a", "edits": [{"newText": MARK}]}, True),
        ("mcp__fs__edit_file", {"path": "a", "edits": [{"oldText": MARK, "newText": MARK}]}, False),
        ("mcp__fs__search_files", {"path": "a", "pattern": MARK}, False),
        ("mcp__chat__send", {"text": MARK}, False),
        ("Bash", {"command": f"grep '{MARK}' ."}, False),
        ("Write", {"file_path": "a", "content": "[REDACTED:unknown-thing]"}, False),
    ],
)
async def test_a_mark_does_not_overwrite_the_value_it_stands_for(
    tool: str, tool_input: dict[str, Any], stopped: bool, tmp_path: Path
) -> None:
    """An agent that read a masked file would write the mask back."""
    outcome, _ = await judge(tmp_path, tool, tool_input, on_write="deny")
    assert outcome.allowed is not stopped
    if stopped:
        assert f"{MARK} stands for a value that was not shown" in outcome.denial


async def test_a_person_is_asked_or_told_about_a_mark(tmp_path: Path) -> None:
    """As the option says; the question names the file."""
    approval = ScriptedApproval("Allow once")
    given = {"file_path": "a.env", "content": MARK}
    outcome, _ = await judge(tmp_path, "Write", given, approval=approval)
    assert outcome.allowed
    assert f"Write would write {MARK} to a.env." in approval.questions[0].prompt
    outcome, harness = await judge(tmp_path, "Write", given, on_write="tell-and-redact")
    assert outcome.allowed
    assert f"Write writes {MARK} to a.env" in harness.shown[0][0]


Conversation = list[dict[str, Any]]


def change_in_place(messages: Conversation, place: int, text: str) -> None:
    messages[place]["content"] = text


def change_in_a_block(messages: Conversation, place: int, text: str) -> None:
    messages[place]["content"] = [{"type": "text", "text": "first"}]
    messages[place]["content"][0]["text"] = text


def put_in_place(messages: Conversation, place: int, text: str) -> None:
    messages[place] = {"role": "user", "content": text}


def drop(messages: Conversation, place: int, text: str) -> None:
    messages.pop(place)


def swap(messages: Conversation, place: int, text: str) -> None:
    messages[place], messages[0] = messages[0], messages[place]


def add(messages: Conversation, place: int, text: str) -> None:
    messages.append({"role": "user", "content": text})


EDITS = [add, change_in_a_block, change_in_place, drop, put_in_place, swap]
TEXTS = ["a plain text", f"with {TOKEN}", "password=hunter22", "another one"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(EDITS), st.integers(0, 9), st.sampled_from(TEXTS)),
            max_size=3,
        ),
        max_size=6,
    )
)
async def test_whatever_becomes_of_a_conversation_no_request_has_a_secret(
    tmp_path: Path, requests: list[list[tuple[Any, int, str]]]
) -> None:
    """A message that was looked through before is not looked through again, and only such a one."""
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    shared = SharedConversation()
    messages: Conversation = [{"role": "user", "content": "go"}]
    for edits in requests:
        for edit, place, text in edits:
            if messages or edit is add:
                edit(messages, place % max(len(messages), 1), text)
        shown = shared.show(messages)
        sent = (await harness.hooks.emit("provider:request", {"messages": shown})).data
        assert sent is not None
        assert TOKEN not in repr(sent)
        assert "hunter22" not in repr(sent)
        kept = [one for one in shown if TOKEN not in repr(one) and "hunter22" not in repr(one)]
        assert [one for one in sent["messages"] if "REDACTED" not in repr(one)] == kept


async def test_a_message_of_the_last_request_is_not_looked_through_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a turn costs as much after hundreds of others as after a few."""
    seen: list[Any] = []
    look = Redactor.redact

    def note(self: Redactor, value: Any) -> Any:
        seen.append(value)
        return look(self, value)

    monkeypatch.setattr(Redactor, "redact", note)
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    shared, messages = SharedConversation(), [{"role": "user", "content": text} for text in "abc"]
    await harness.hooks.emit("provider:request", {"messages": shared.show(messages)})
    assert seen == messages
    seen.clear()
    messages.append({"role": "user", "content": "d"})
    messages[1]["content"] = "changed"
    await harness.hooks.emit("provider:request", {"messages": shared.show(messages)})
    assert seen == [messages[1], messages[3]]


async def answer_of(masking: Masking, event: str, data: dict[str, Any]) -> HookResult:
    """The answer, whether it is there at once or comes from a thread."""
    answer = masking.on_event(event, data)
    return answer if isinstance(answer, HookResult) else await answer


async def test_a_message_that_can_change_is_looked_through_each_time() -> None:
    """Only what is read-only is known by its identity, and only while it is that very object."""
    masking = Masking(Redactor(SHAPES, "test", "[REDACTED:{name}]"), notify=False)
    plain = {"role": "user", "content": "nothing"}
    for messages in ([freeze(plain)], [plain]):
        answer = await answer_of(masking, "provider:request", {"messages": messages})
        assert answer.action == "continue"
    plain["content"] = TOKEN
    answer = await answer_of(masking, "provider:request", {"messages": [plain]})
    assert TOKEN not in repr(answer.data)
    assert answer.action == "modify"


async def test_a_long_text_holds_up_nothing_else(tmp_path: Path) -> None:
    """It is looked through in a thread; what is short is not, because a thread costs more."""
    threads: list[str] = []

    class Noting(Redactor):
        def redact(self, value: Any) -> Any:
            threads.append(threading.current_thread().name)
            return super().redact(value)

    masking = Masking(Noting(SHAPES, "test", "[REDACTED:{name}]"), notify=False)
    for text in ("short", f"{'long ' * 30_000} {TOKEN}"):
        for event, data in (
            ("tool:post", {"tool_result": {"output": [text]}}),
            ("provider:request", {"messages": [{"role": "user", "content": text}]}),
        ):
            answer = await answer_of(masking, event, data)
            assert (answer.action == "modify") is (TOKEN in text)
            assert TOKEN not in repr(answer.data)
    main = threading.main_thread().name
    assert [name == main for name in threads] == [True, True, False, False]
