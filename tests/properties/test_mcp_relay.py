"""The gateway's relay, whatever both ends write: what it hands on was judged, for every reader."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_core.models import HookResult
from amplifier_hooks.guards.mcp.frames import FrameError, read_frames
from tests.support.mcp.frames import KNOWN_TRICKS, draw_result, from_client, from_server, values
from tests.support.mcp.readers import JUDGED, READERS, describe
from tests.support.mcp.relaying import Line, Stage, Stages, open_stages
from tests.support.mcp.world import BUNDLE, World

Lines = list[tuple[bool, bytes]]
"""Each with whether the client sends it."""
Judged = Counter[tuple[str, str]]

lines = st.lists(
    st.tuples(st.just(True), from_client) | st.tuples(st.just(False), from_server), max_size=5
)
LONGEST = 20.0
PREFIX = "mcp__tiny__"


class Played:
    """A session that all examples share, and what its hooks have let through."""

    def __init__(self, runner: asyncio.Runner, stages: Stages) -> None:
        self._runner = runner
        self._stages = stages
        self.judged: Judged = Counter()
        hooks = stages.session.coordinator.hooks
        # Last: what comes so far was not denied, and is as the hooks before have left it.
        hooks.register("tool:pre", self._note, 100_000, "note")
        hooks.register("tool:post", self._note_result, -100_000, "note-result")
        self.shown = ""
        """Everything that hooks have seen, as JSON."""

    async def _note_result(self, event: str, data: dict[str, Any]) -> HookResult:
        self.shown += json.dumps(data["tool_result"], sort_keys=True)
        return HookResult(action="continue")

    async def _note(self, event: str, data: dict[str, Any]) -> HookResult:
        name, given = str(data["tool_name"]).removeprefix(PREFIX), data["tool_input"]
        method = name if name in JUDGED else "tools/call"
        params = {"name": name, "arguments": given} if method == "tools/call" else given
        self.judged[method, describe(method, params)] += 1
        self.shown += json.dumps(given, sort_keys=True)
        return HookResult(action="continue")

    def play(self, lines: Lines) -> Stage:
        """Send the lines; both ends answer what they are asked, and then it is over."""
        self.judged.clear()
        return self._runner.run(self._play(lines))

    def play_result(self, line: bytes) -> Stage:
        """Have a server answer a call with the line."""
        self.shown = ""
        return self._runner.run(self._play_result(line))

    async def _play_result(self, line: bytes) -> Stage:
        async with self._stages.open() as stage:
            params = {"name": "echo", "arguments": {}}
            stage.client.put({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            await stage.server.wait_for(1)
            stage.server.put(line)
            stage.server.put({"jsonrpc": "2.0", "id": 1, "result": {}})  # if that was no answer
            async with asyncio.timeout(LONGEST):
                while not stage.task.done() and all(
                    one.get("id") != 1 for one in stage.client.read()
                ):
                    await asyncio.sleep(0)
        return stage

    async def _play(self, lines: Lines) -> Stage:
        async with self._stages.open() as stage:
            for is_client, line in lines:
                (stage.client if is_client else stage.server).put(line)
            answered = {stage.client: 0, stage.server: 0}
            async with asyncio.timeout(LONGEST):
                while _answer(answered) or not stage.is_idle:
                    await asyncio.sleep(0)
        return stage


def _answer(answered: dict[Line, int]) -> bool:
    """Let both ends answer requests that they have not answered; whether there was anything."""
    is_busy = False
    for line, number in answered.items():
        for raw in line.written[number:]:
            answered[line] += 1
            is_busy = True
            message = json.loads(raw)
            if "method" in message and "id" in message:
                line.put({"jsonrpc": "2.0", "id": message["id"], "result": {"ok": True}})
    return is_busy


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A session with hooks that deny, change and add, without a trail."""
    world = World(tmp_path_factory.mktemp("relay"))
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("HOME", str(world.home))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE"):
            patch.delenv(name, raising=False)
        world.write_bundle(BUNDLE.replace("enabled: true", "enabled: false"))
        stack = AsyncExitStack()
        stages = runner.run(stack.enter_async_context(open_stages(world.project)))
        yield Played(runner, stages)
        runner.run(stack.aclose())


def test_no_reader_sees_anything_that_hooks_have_not_let_through(played: Played) -> None:
    """Nor does any line end the relay, keep it busy, or have a request answered twice."""

    @example([(False, b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"}}')])
    @given(lines)
    def check(drawn: Lines) -> None:
        stage = played.play(drawn)
        check_readers(played, stage)
        check_answers(drawn, stage)

    check()


def test_no_reader_is_tricked_by_what_is_known_to_trick_some(played: Played) -> None:
    """Keys twice or in capitals, several messages in one, calls that nobody waits for."""
    for line in KNOWN_TRICKS:
        check_readers(played, played.play([(True, line)]))


def check_readers(played: Played, stage: Stage) -> None:
    """None of them sees a call that hooks have not let through."""
    for line in (stage.client, stage.server):
        written = b"".join(one + b"\n" for one in line.written)
        for reader in READERS:
            seen = Counter(reader.list_calls(written))
            assert seen <= played.judged, (reader.name, written)


def check_answers(drawn: Lines, stage: Stage) -> None:
    """No id is answered more often than the client has written it."""
    sent = b" ".join(line for is_client, line in drawn if is_client)
    answers = Counter(
        json.dumps(one.get("id")) for one in stage.client.read() if "method" not in one
    )
    del answers["null"]
    for id, count in answers.items():
        assert count <= sent.count(id.encode()), (id, stage.client.written)


def test_no_reader_sees_in_a_result_what_hooks_have_not_seen(played: Played) -> None:
    """Nor a question for its model that is hidden in one."""

    @given(draw_result())
    def check(line: bytes) -> None:
        stage = played.play_result(line)
        written = b"".join(one + b"\n" for one in stage.client.written)
        for reader in READERS:
            for said in reader.list_results(written):
                known = said.strip('"') in played.shown or is_replaced(said)
                assert known, (reader.name, said, written)

    check()


def is_replaced(said: str) -> bool:
    """Whether a text is one that hooks or the gateway wrote."""
    ours = ("the-judge", "denied", "not passed on", "it could not be judged", "the server")
    return any(word in said for word in ours)


METHOD = st.from_regex(r"[a-z][A-Za-z0-9_$.-]{0,20}", fullmatch=True)
"""Others could be taken for a method of the protocol by some readers, and are refused."""


@st.composite
def draw_unknown(draw: Any) -> bytes:
    """A message of a protocol to come, in any of the forms that mean the same."""
    method = draw(METHOD.filter(lambda one: one not in JUDGED))
    message: dict[str, Any] = {"method": method, "jsonrpc": "2.0"}
    message["params"] = draw(st.dictionaries(st.text(), values) | st.lists(values))
    if draw(st.booleans()):
        message["id"] = draw(st.integers() | st.text())
    message[draw(st.sampled_from(("extra", "_meta", "trace")))] = draw(values)
    indent = draw(st.sampled_from(((",", ":"), (", ", ": "), (" ,\t", "  :"))))
    return json.dumps(message, separators=indent).encode()


def test_unknown_methods_pass_byte_for_byte_in_both_directions(played: Played) -> None:
    """A newer protocol works without a newer gateway."""

    @settings(max_examples=settings().max_examples // 4)
    @given(draw_unknown(), st.booleans())
    def check(line: bytes, is_client: bool) -> None:
        stage = played.play([(is_client, line)])
        received = (stage.server if is_client else stage.client).written
        assert line in received, stage.said

    check()


@settings(max_examples=settings().max_examples // 2)
@given(from_client | from_server)
def test_a_message_is_read_or_refused(line: bytes) -> None:
    """Nothing else can come out, and what is passed on is one line for everybody."""
    try:
        frames = read_frames(line)
    except FrameError:
        return
    assert frames
    for frame in frames:
        assert len(frame.raw.decode().splitlines()) == 1
        assert json.loads(frame.raw) == frame.message
