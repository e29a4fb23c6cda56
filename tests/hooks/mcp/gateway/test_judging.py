"""A connection's session, and the requests that go through its hooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer
from amplifier_core.models import HookResult
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.mcp.gateway.judging import load_gateway_plan, open_gateway_session
from tests.support.gateway import Wire, open_wire, say
from tests.support.trust import trust_project

BUNDLE = """\
name: quiet
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
hooks:
  - module: hooks-progress-monitor
  - module: hooks-rules
    config: {rules: [{name: hi, event: "session:start", action: continue, user_message: Hello}]}
audit: {enabled: false}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bundle that a person trusts."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "AMPLIFIER_STORE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "amplifier.yaml").write_text(BUNDLE)
    trust_project(folder)
    return folder


async def test_a_session_judges_with_the_hooks_of_a_bundle(project: Path) -> None:
    """What they show goes to the diagnostics, and people are asked through the store."""
    said: list[str] = []
    session = await open_gateway_session(project, "", said.append)
    assert session.coordinator.session_id.startswith("mcp-")
    assert said == ["Hello"]
    assert session.coordinator.config["approval"]["via"] == "store"
    async with session.judge_one() as passing:
        inject = HookResult(action="inject_context", context_injection="Mind this.")
        session.coordinator.hooks.register("tool:pre", lambda event, data: inject, name="x")
        await session.coordinator.process_hook_result(inject, "tool:pre", "x")
    assert session.take_texts(passing) == ["Mind this."]
    session.keep_texts(passing)
    async with session.judge_one() as later:
        assert session.take_texts(later) == ["Mind this."]
    assert session.take_texts(later) == []
    await session.end("complete")


async def test_nobody_can_write_where_we_keep_what_people_allowed(project: Path) -> None:
    """An agent with a server for files would otherwise decide for itself."""
    session = await open_gateway_session(project, "", lambda text: None)
    allowed = Path.home() / ".local/share/amplifier/mcp/x.json"
    for key in ("path", "destination", "uri"):
        data = {"tool_name": "mcp__fs__write", "tool_input": {key: str(allowed)}}
        outcome = await session.coordinator.judge("tool:pre", {**data, "tool_call_id": "1"})  # type: ignore[arg-type]
        assert not outcome.allowed, key
    await session.end("complete")


def test_a_client_may_ask_for_the_same_thing_often(project: Path) -> None:
    """What counts calls by turns has none to count by, and is left out."""
    plan, guarded = load_gateway_plan(project)
    modules = [one["module"] for one in plan.bundle.mount_plan["hooks"]]
    assert modules == ["hooks-rules", "hooks-production-guard"]
    assert guarded


def test_a_bundle_that_nobody_trusts_judges_nothing(project: Path) -> None:
    """The gateway does not start then."""
    with (project / "amplifier.yaml").open("a") as bundle:
        bundle.write("# changed\n")
    with pytest.raises(Untrusted, match="amplifier trust"):
        load_gateway_plan(project)


async def call(wire: Wire, response: dict[str, Any], method: str = "tools/call") -> dict[str, Any]:
    """What the client gets when the server answers so."""
    wire.ask(1, method, name="look", uri="a:b")
    await wire.server.wait_for(1)
    wire.server.put({"jsonrpc": "2.0", "id": 1, **response})
    return (await wire.client.wait_for(1))[0]


def leave(**result: Any) -> Any:
    return lambda data: HookResult(action="modify", data={**data, "tool_result": result})


async def test_hooks_see_an_error_of_the_server_in_words(tmp_path: Path) -> None:
    """A model reads it too, so that they can change it; what they leave alone passes."""
    error = {"code": -32002, "message": "token abc is wrong", "data": {"x": 1}}
    async with open_wire(tmp_path) as wire:
        assert (await call(wire, {"error": error}))["error"] == error
    async with open_wire(tmp_path) as wire:
        seen: list[Any] = []

        def change(data: dict[str, Any]) -> HookResult:
            seen.append(data["tool_result"])
            left = {"success": False, "output": "wrong", "error": "wrong"}
            return HookResult(action="modify", data={**data, "tool_result": left})

        wire.on("tool:post", change)
        got = await call(wire, {"error": error})
        assert got["error"] == {"code": -32002, "message": "wrong"}
        assert seen[0]["output"] == {"message": "token abc is wrong", "data": {"x": 1}}
        assert not seen[0]["success"]


async def test_a_result_can_be_withheld(tmp_path: Path) -> None:
    """Of a tool as an error result, of a resource as an error."""
    deny = HookResult(action="deny", reason="secret")
    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", deny)
        assert (await call(wire, {"result": say("key")}))["result"]["isError"]
    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", deny)
        got = await call(wire, {"result": {"contents": []}}, "resources/read")
        assert got["error"]["message"].endswith("secret")


async def test_a_resource_can_be_changed_and_keeps_its_form(tmp_path: Path) -> None:
    """What is no object would not be read by any client."""
    contents = {"contents": [{"uri": "a:b", "text": "new"}]}
    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", leave(success=True, output=contents))
        got = await call(wire, {"result": {"contents": []}}, "resources/read")
        assert got["result"] == contents
    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", leave(success=True, output="text"))
        got = await call(wire, {"result": {"contents": []}}, "resources/read")
        assert "a hook left a str" in got["error"]["message"]


async def test_texts_for_the_model_wait_for_a_result_that_can_carry_them(tmp_path: Path) -> None:
    """A resource cannot; the next tool can."""
    async with open_wire(tmp_path) as wire:
        said = HookResult(action="inject_context", context_injection="Mind this.")
        wire.on("tool:post", said, "mcp__srv__resources/read")
        await call(wire, {"result": {"contents": []}}, "resources/read")
        wire.ask(2, name="look")
        await wire.server.wait_for(2)
        wire.answer(2, say("seen"))
        content = (await wire.client.wait_for(2))[1]["result"]["content"]
        assert [one["text"] for one in content] == ["seen", "Mind this."]


@pytest.mark.parametrize("result", [[], "text", None, 5])
async def test_a_result_of_no_known_form_passes_or_is_withheld(tmp_path: Path, result: Any) -> None:
    """Nobody can change what nobody can read."""
    async with open_wire(tmp_path) as wire:
        assert (await call(wire, {"result": result}))["result"] == result
    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", HookResult(action="deny", reason="odd"))
        assert (await call(wire, {"result": result}))["result"]["isError"]


async def test_a_call_that_runs_in_the_background_is_judged_when_its_result_is_fetched(
    tmp_path: Path,
) -> None:
    """Its first answer is only that it has begun."""
    async with open_wire(tmp_path) as wire:
        wire.on("tool:post", leave(success=True, output="masked"), "mcp__srv__tasks/result")
        started = {"task": {"taskId": "t", "status": "working"}}
        assert (await call(wire, {"result": started}))["result"] == started
        wire.ask(2, "tasks/result", taskId="t")
        await wire.server.wait_for(2)
        wire.answer(2, say("secret"))
        assert (await wire.client.wait_for(2))[1]["result"] == say("masked")


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("tools/call", {**say('{"a": 1}'), "structuredContent": {"a": 1}}),
        ("tools/call", {"content": [{"type": "image", "data": "/9j/", "mimeType": "image/png"}]}),
        ("resources/read", {"contents": [{"uri": "a:b", "text": "x"}]}),
    ],
)
async def test_what_a_person_says_with_a_yes_leaves_the_result_whole(
    method: str, result: dict[str, Any], tmp_path: Path
) -> None:
    """It would not fit the schema of the tool, and what was done would look like a failure."""
    person = ScriptedApproval(ApprovalAnswer("Allow", comment="be careful"))
    async with open_wire(tmp_path, person) as wire:
        ask = HookResult(action="ask_user", approval_prompt="?", approval_options=["Allow", "Deny"])
        wire.on("tool:pre", ask)
        wire.ask(1, method, name="t", uri="a:b")
        await wire.server.wait_for(1)
        wire.answer(1, result)
        got = (await wire.client.wait_for(1))[0]["result"]
        said = "The user allowed this and said: be careful"
        if method == "tools/call":
            assert got["content"].pop()["text"] == said
        assert got == result
