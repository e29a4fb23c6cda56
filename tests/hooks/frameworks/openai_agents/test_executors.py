"""Tools that are no functions: shells, patches, and tools whose input is one text."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    LocalShellTool,
    Runner,
    ShellTool,
)
from agents.testing import ScriptedModel, assistant_message
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionShellToolCall
from openai.types.responses.response_output_item import LocalShellCall, LocalShellCallAction

from amplifier_core import HookResult
from amplifier_hooks.frameworks.openai_agents import runner as amplify
from tests.adapters.drivers.openai_agents import CONFIG, read_requests
from tests.adapters.stage import DONE, Stage, change_input, change_output

DENY = HookResult(action="deny", reason="against the rules")


class Editor:
    """Keeps what it was told to do."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []

    def create_file(self, operation: Any) -> str:
        self.done.append((operation.type, operation.path))
        return f"created {operation.path}"

    async def update_file(self, operation: Any) -> str:
        self.done.append((operation.type, operation.path))
        return f"updated {operation.path}"

    def delete_file(self, operation: Any) -> None:
        self.done.append((operation.type, operation.path))


class Bench:
    """One tool of each kind, each keeping what it has run, and a call of it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.done: list[Any] = []
        self.tool, self.item, self.arguments = getattr(self, f"make_{kind}")()

    def make_shell(self) -> Any:
        def execute(request: Any) -> str:
            self.done.append(request.data.action.commands)
            return "listed"

        item = ResponseFunctionShellToolCall(
            id="s1",
            call_id="call_1",
            type="shell_call",
            status="completed",
            action={"commands": ["ls"]},  # type: ignore[arg-type]
        )
        return ShellTool(executor=execute), item, {"commands": ["ls"]}

    def make_local_shell(self) -> Any:
        async def execute(request: Any) -> str:
            self.done.append(request.data.action.command)
            return "listed"

        action = LocalShellCallAction(type="exec", command=["ls"], env={})
        item = LocalShellCall(
            id="s1", call_id="call_1", type="local_shell_call", status="completed", action=action
        )
        return LocalShellTool(executor=execute), item, {"command": ["ls"], "env": {}}

    def make_custom(self) -> Any:
        async def invoke(context: Any, text: str) -> str:
            self.done.append(text)
            return "listed"

        item = ResponseCustomToolCall(
            call_id="call_1", type="custom_tool_call", name="custom", input="ls"
        )
        return CustomTool("custom", "Does.", invoke), item, {"input": "ls"}

    def make_patch(self) -> Any:
        editor = Editor()
        self.done = editor.done
        operation = {"type": "create_file", "path": "a.txt", "diff": "+a"}
        item = {
            "type": "apply_patch_call",
            "id": "p1",
            "call_id": "call_1",
            "status": "completed",
            "operation": operation,
        }
        return ApplyPatchTool(editor=editor), item, operation

    async def run(self, stage: Stage) -> str:
        """Run an agent with it, twice over in hooks; gives what the model read last."""
        model = ScriptedModel([[self.item], [assistant_message(DONE)]])
        hooks = stage.hooks
        agent = amplify(Agent("agent", tools=[self.tool], model=model), hooks)
        amplify(Agent("other", tools=[self.tool]), hooks)
        result = await Runner.run(agent, "Go.", run_config=CONFIG)
        assert result.final_output == DONE
        return read_requests(model)[-1]


KINDS = ["shell", "local_shell", "custom", "patch"]
NAMES = {"patch": "apply_patch"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_is_seen_and_runs(stage: Stage, kind: str) -> None:
    """Once, by its name and with what it would do."""
    stage.listen("tool:pre", "tool:post", "provider:response")
    bench = Bench(kind)
    read = await bench.run(stage)
    assert len(bench.done) == 1
    assert "listed" in read or "created a.txt" in read
    assert stage.heard.names == [
        "provider:response",
        "tool:pre",
        "tool:post",
        "provider:response",
    ]
    pre = stage.heard.events[1][1]
    assert pre["tool_name"] == NAMES.get(kind, kind)
    assert pre["tool_input"] == bench.arguments
    wanted = stage.heard.events[0][1]["response"]["tool_calls"][0]
    assert wanted["name"] == NAMES.get(kind, kind)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_denied_call_does_not_run(stage: Stage, kind: str) -> None:
    """The model reads why."""
    stage.answer("tool:pre", DENY)
    bench = Bench(kind)
    assert "against the rules" in await bench.run(stage)
    assert bench.done == []


CHANGES: dict[str, tuple[dict[str, Any], Any]] = {
    "shell": ({"commands": ["pwd"]}, ["pwd"]),
    "local_shell": ({"command": ["pwd"]}, ["pwd"]),
    "custom": ({"input": "pwd"}, "pwd"),
    "patch": ({"path": "b.txt"}, ("create_file", "b.txt")),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_is_changed(stage: Stage, kind: str) -> None:
    """What a hook left is what runs, and what it leaves of the result is what the model reads."""
    given, done = CHANGES[kind]
    stage.answer("tool:pre", change_input(**given))
    stage.answer("tool:post", change_output("[removed]"))
    bench = Bench(kind)
    assert "[removed]" in await bench.run(stage)
    assert bench.done == [done]


async def test_a_patch_of_another_kind_does_not_run(stage: Stage) -> None:
    """A hook cannot make a deletion of it."""
    stage.answer("tool:pre", change_input(type="delete_file"))
    bench = Bench("patch")
    read = await bench.run(stage)
    assert bench.done == []
    assert "delete_file" in read or "failed" in read


@pytest.mark.parametrize("kind", KINDS)
async def test_other_agents_use_them_as_ever(stage: Stage, kind: str) -> None:
    """A tool that a governed agent has is nobody else's concern."""
    bench = Bench(kind)
    amplify(Agent("governed", tools=[bench.tool]), stage.hooks)
    stage.answer("tool:pre", DENY)
    model = ScriptedModel([[bench.item], [assistant_message(DONE)]])
    free = Agent("free", tools=[bench.tool], model=model)
    assert (await Runner.run(free, "Go.", run_config=CONFIG)).final_output == DONE
    assert len(bench.done) == 1


def test_a_hosted_shell_is_left_alone(stage: Stage) -> None:
    """There is nothing here that would run."""
    tool = ShellTool(environment={"type": "container_auto"})
    amplify(Agent("agent", tools=[tool]), stage.hooks)
    assert tool.executor is None


async def test_an_editor_has_what_it_had(stage: Stage) -> None:
    """Other methods of the application's editor can be reached."""
    bench = Bench("patch")
    amplify(Agent("agent", tools=[bench.tool]), stage.hooks)
    assert bench.tool.editor.done is bench.done
