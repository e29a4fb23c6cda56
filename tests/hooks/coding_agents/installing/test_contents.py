"""The content of a settings file, with and without us."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.installing.agents import AGENTS, Options
from amplifier_hooks.coding_agents.installing.contents import (
    Contents,
    build_plugin,
    list_plugin_entries,
    read_contents,
)
from amplifier_hooks.coding_agents.installing.line import GuestCommand, make_guest_command
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, SettingsFile

COMMAND = GuestCommand(Path("/p"), Path("/c.py"), Path("/f"))
PLUGIN = build_plugin(AGENTS["opencode"], Options(COMMAND))

# Plays one call after the other, each with a process that answers as the test says.
_DRIVER = """
import { Amplifier } from "./plugin.mjs";
import { readFileSync, writeFileSync } from "node:fs";
const hooks = await Amplifier({ directory: "/project" });
const results = [];
for (const { name, input, output, answer } of JSON.parse(readFileSync("calls.json"))) {
  writeFileSync("answer", answer);
  let error = null;
  try {
    if (hooks[name]) await hooks[name](input, output);
    else await hooks.event({ event: { type: name, properties: input } });
  } catch (one) { error = one.message; }
  const heard = JSON.parse(readFileSync("heard"));
  results.push({ error, output, heard });
}
console.log(JSON.stringify(results));
"""
BEFORE = {"tool": "bash", "sessionID": "s", "callID": "c"}
SHELL = {"command": "ls"}


@pytest.fixture
def play(tmp_path: Path) -> Any:
    """The plugin, with a client that hears and answers; its calls and what became of them."""
    if shutil.which("node") is None:
        pytest.skip("there is no node to run the plugin with")
    client = f"cd {tmp_path}; cat > heard; . ./answer"

    def run(*calls: dict[str, Any]) -> list[dict[str, Any]]:
        start = PLUGIN.index("= {") + 2
        lines, end = json.JSONDecoder().raw_decode(PLUGIN, start)
        for row in lines.values():
            row["line"] = client
        text = PLUGIN[:start] + json.dumps(lines) + PLUGIN[end:]
        (tmp_path / "plugin.mjs").write_text(text)
        (tmp_path / "driver.mjs").write_text(_DRIVER)
        (tmp_path / "calls.json").write_text(json.dumps(calls))
        done = subprocess.run(
            ["node", "driver.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    return run


def call(name: str, answer: str, input: dict[str, Any], output: Any) -> dict[str, Any]:
    """One event."""
    return {"name": name, "answer": answer, "input": input, "output": output}


def before(answer: str) -> dict[str, Any]:
    """A tool is about to run."""
    return call("tool.execute.before", answer, BEFORE, {"args": {**SHELL, "timeout": 1}})


def after(answer: str) -> dict[str, Any]:
    """A tool has run."""
    return call(
        "tool.execute.after", answer, {**BEFORE, "args": SHELL}, {"output": "o", "title": "t"}
    )


def prompt(answer: str) -> dict[str, Any]:
    """A person has written something."""
    part = {"id": "p1", "sessionID": "s", "messageID": "m", "type": "text", "text": "hi"}
    return call("chat.message", answer, {"sessionID": "s"}, {"message": {}, "parts": [part]})


def say(**answer: Any) -> str:
    """A script that prints an answer."""
    return f"echo '{json.dumps(answer)}'"


def test_answers_are_obeyed(play: Any) -> None:
    """Deny, rewrite, replace and inject; no answer means go ahead."""
    found = play(
        before(""),
        before("echo '{}'"),
        before(say(deny="no shell")),
        before(say(args={"command": "true"})),
        after(say(output="hidden")),
        after(say(context=["look", "here"])),
        prompt(say(prompt="hello")),
        prompt(say(context=["rules"])),
        prompt(say(deny="not today")),
    )
    assert [one["error"] for one in found] == [
        *(None, None, "no shell", None),
        *(None, None, None, None, "not today"),
    ]
    assert found[0]["output"] == {"args": {**SHELL, "timeout": 1}}
    assert found[3]["output"] == {"args": {"command": "true"}}
    assert found[4]["output"] == {"output": "hidden", "title": "t"}
    assert found[5]["output"]["output"] == "o\n\nlook\n\nhere"
    assert [one["text"] for one in found[6]["output"]["parts"]] == ["hello"]
    added = found[7]["output"]["parts"][1]
    assert (added["text"], added["synthetic"], added["messageID"]) == ("rules", True, "m")


def test_whatever_goes_wrong_blocks_at_gates(play: Any) -> None:
    """And nowhere else."""
    wrong = ["exit 1", "echo why >&2; exit 2", "kill -9 $$", "echo rubbish", "echo '[]'", "echo {"]
    found = play(
        *(before(one) for one in wrong),
        *(after(one) for one in wrong),
        *(prompt(one) for one in wrong),
        call("session.idle", "exit 1", {"sessionID": "s"}, {}),
    )
    assert all(one["error"] for one in found[:-1])
    assert found[1]["error"] == "why"
    assert found[-1]["error"] is None


def test_events_are_told_as_our_table_reads_them(play: Any) -> None:
    """Those of a sub-agent under the session that started it."""
    info = {"id": "child", "parentID": "s"}
    found = play(
        before(""),
        after(""),
        prompt(""),
        call("session.created", "", {"info": info}, {}),
        call("tool.execute.before", "", {**BEFORE, "sessionID": "child"}, {"args": SHELL}),
    )
    assert found[3]["error"] is None
    heard = [one["heard"] for one in found]
    common = {"session_id": "s", "cwd": "/project", "hook_event_name": "tool.execute.before"}
    tool = {"tool_name": "bash", "tool_input": SHELL, "tool_use_id": "c"}
    assert heard[0] == {**common, **tool, "tool_input": {**SHELL, "timeout": 1}}
    assert heard[1]["tool_response"] == "o"
    assert heard[2]["prompt"] == "hi"
    assert heard[3] == heard[2]  # the start of a sub-agent is no start of a session
    assert heard[4] == {**common, **tool, "agent_id": "child"}


def test_the_lines_of_a_plugin_can_be_read_back() -> None:
    """Only of one that is ours."""
    found = list_plugin_entries("opencode", PLUGIN)
    assert set(found) == set(AGENTS["opencode"].list_events())
    assert "opencode chat.message 590" in found["chat.message"][0]["command"]
    assert list_plugin_entries("opencode", "export const Mine = 1") == {}
    broken = PLUGIN.replace("const LINES = {", "const LINES = {,")
    assert list_plugin_entries("opencode", broken) == {"?": [{"command": ""}]}


OPTIONS = Options(make_guest_command(Path("/f")))
PATH = Path("/h/settings.json")


def make_file(content: bytes | None) -> SettingsFile:
    """As if it had been read."""
    return SettingsFile(PATH, PATH, content, None)


@pytest.mark.parametrize(
    ("agent", "content"),
    [("claude", None), ("codex", b""), ("gemini", b"{}"), ("cursor", b" \n"), ("opencode", None)],
)
def test_an_empty_file_is_filled_and_emptied(agent: str, content: bytes | None) -> None:
    """Whatever emptiness it had."""
    before = read_contents(AGENTS[agent], make_file(content))
    assert before.entries == {}
    full = read_contents(AGENTS[agent], make_file(before.add(OPTIONS, content)))
    assert set(full.entries) == set(AGENTS[agent].list_events())
    assert full.is_empty(full.remove(None))


def test_what_others_say_is_not_empty() -> None:
    """So the file stays."""
    contents = read_contents(AGENTS["claude"], make_file(b'{"model": "opus"}'))
    assert not contents.is_empty(b'{"model": "opus"}')
    assert contents.is_empty(b"{ }\n")


@pytest.mark.parametrize(
    "do",
    [lambda one: one.entries, lambda one: one.add(OPTIONS, None), lambda one: one.remove(None)],
)
def test_a_broken_file_is_refused_with_path_line_and_remedy(do: Callable[[Contents], Any]) -> None:
    """Whatever is done with it."""
    contents = read_contents(AGENTS["codex"], make_file(b'{\n"hooks": {,}\n}'))
    with pytest.raises(SettingsError, match=r"settings\.json, line 2: .*Correct the file"):
        do(contents)
