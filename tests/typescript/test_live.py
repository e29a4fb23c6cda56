"""Programs of Node behind `amplifier judge` and `amplifier serve`, as a person starts them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from amplifier_audit import open_log, read_records, verify
from tests.hooks.server.page.browser import launch
from tests.repository.test_typescript import CLIENT, README
from tests.typescript.conftest import AMPLIFIER, Example, World, read_until

OWN_LOOP = """
- tool_calls:
    - {name: shell, input: {command: echo one}}
    - {name: shell, input: {command: rm notes.txt}}
- text: I am done.
"""

AGENT = """
- tool_calls:
    - {name: Append, input: {file_path: notes.txt, line: written by the agent}}
- text: I wrote it.
"""


def read_trail(folder: Path) -> list[dict[str, Any]]:
    """The records of the only session, whose trail verifies."""
    (log,) = (folder / "trail").iterdir()
    assert verify(log).verdict == "consistent"
    return list(read_records(open_log(log)))


def count(records: list[dict[str, Any]], kind: str) -> int:
    """How many records of a type there are."""
    return [one["type"] for one in records].count(kind)


def test_a_loop_does_what_hooks_allow(world: World, example: Example) -> None:
    """The loop of the page, as the one in Python: one call runs, one is denied, all is recorded."""
    world.judge()
    world.serve_models(OWN_LOOP)
    assert world.node(example("own-loop"), "Clean up") == "I am done.\n"
    assert (world.folder / "notes.txt").read_text() == "mine\n"
    records = read_trail(world.folder)
    assert count(records, "session_started") == count(records, "session_ended") == 1
    assert count(records, "tool_started") == count(records, "tool_finished") == 1
    said = world.amplifier("audit", "show")
    assert "denied by hooks-rules: notes stay" in said
    assert "line 3 is too long" in said


FORMS = {
    "chat": """[
      {role: "assistant", content: null, tool_calls: ids.map((id) => (
        {id, type: "function", function: {name: "note", arguments: "{}"}}))},
      ...ids.map((tool_call_id) => ({role: "tool", tool_call_id, content: "noted"}))]""",
    "responses": """[
      ...ids.map((call_id) => ({type: "function_call", call_id, name: "note", arguments: "{}"})),
      ...ids.map((call_id) => ({type: "function_call_output", call_id, output: "noted"}))]""",
    "anthropic": """[
      {role: "assistant", content: ids.map((id) => (
        {type: "tool_use", id, name: "note", input: {}}))},
      {role: "user", content: ids.map((tool_use_id) => (
        {type: "tool_result", tool_use_id, content: "noted"}))}]""",
}
ROLES = {"chat": "system", "responses": "system", "anthropic": "user"}

PLACES = """
import { Guard } from "@amplifier-hooks/client";
const ids = ["c1", "c2"];
await new Guard().session("Go.", async (run) => {
  const calls = ids.map((id) => run.call("note", {text: id}, () => "noted", {id}));
  await Promise.all(calls);
  const own = [{role: "user", content: run.prompt}, ...FORM];
  const sent = await run.messages(own);
  const again = await run.messages([...own, {role: "assistant", content: "Yes."}]);
  console.log(JSON.stringify({own, sent, again}));
});
"""


@pytest.mark.parametrize("form", sorted(FORMS))
def test_what_hooks_add_follows_the_results_of_all_calls(world: World, form: str) -> None:
    """The own messages are as they were, and nothing is between them, in every form."""
    world.judge()
    told = json.loads(world.node(PLACES.replace("FORM", FORMS[form])))
    own = told["own"]
    for sent in (told["sent"], told["again"]):
        assert sent[: len(own)] == own
        added = sent[len(own) : len(own) + 2]
        assert {one["content"] for one in added} == {"line 3 is too long"}
    assert {one["role"] for one in told["sent"][len(own) :]} == {ROLES[form]}
    assert len(told["sent"]) == len(own) + 2
    assert told["again"][-1] == {"role": "assistant", "content": "Yes."}


CHANGED = """
import { Guard } from "@amplifier-hooks/client";
const guard = new Guard({onShown: (one) => console.log(`shown ${one.text}`)});
const note = (left) => console.log(left.text);
await guard.conversation(async () => {
  await guard.session("One.", (run) => run.call("note", {text: "milk"}, note));
  await guard.session("Two.", (run) => run.call("note", {text: "eggs"}, note));
});
"""


def test_a_conversation_is_one_session_and_a_changed_call_runs_so(world: World) -> None:
    world.judge()
    assert world.node(CHANGED) == "shown Oats are better.\noat milk\neggs\n"
    records = read_trail(world.folder)
    assert count(records, "session_started") == count(records, "session_ended") == 1
    assert count(records, "tool_started") == count(records, "tool_finished") == 2


NOTES = """
import { Guard } from "@amplifier-hooks/client";
const guard = new Guard();
await guard.session("Go.", async (run) => {
  await run.call("note", {text: "a"}, () => "noted");
  console.log(JSON.stringify([run.takeNotes(), run.takeNotes()]));
}, {requests: false});
"""


def test_a_program_that_shows_no_requests_gets_notes_once(world: World) -> None:
    world.judge()
    first, second = json.loads(world.node(NOTES))
    assert first == [{"text": "line 3 is too long", "role": "system", "lasting": True}]
    assert second == []


KILLED = """
import { Guard } from "@amplifier-hooks/client";
const guard = new Guard({patience: 1, onShown: () => {}});
await guard.session("Go.", async (run) => {
  await run.call("note", {text: "a"}, () => console.log("ran a"));
  process.kill(Number(process.argv[2]), "SIGKILL");
  console.log(String(await run.call("note", {text: "b"}, () => console.log("ran b"))));
});
"""


def test_a_judge_that_is_killed_in_the_middle_allows_nothing_more(world: World) -> None:
    judge = world.judge()
    said = world.node(KILLED, str(judge.pid))
    assert said.startswith("ran a\nnote was not run: the judge did not answer")
    assert "ran b" not in said


def test_an_agent_waits_for_the_answer_in_the_browser(
    world: World, example: Example, tmp_path: Path
) -> None:
    """`amplifier serve` judges, its page asks, and the yes there is what runs the call."""
    world.serve_models(AGENT)
    token = world.amplifier("tokens", "add", "agent", "--scope", "judge").split()[-1]
    with world.start(str(AMPLIFIER), "serve", "--port", "0") as serving:
        link = read_until(serving, r"(http://\S+#code=\S+)")[1]
        world.env["AMPLIFIER_JUDGE_URL"] = link.split("/#")[0]
        world.env["AMPLIFIER_JUDGE_TOKEN"] = token
        with launch() as browser:
            page = browser.new_page(reduced_motion="reduce")
            page.goto(link)
            expect(page.locator("app-shell")).to_be_visible()
            with world.start("node", str(example("ai-sdk-agent")), "Write it") as agent:
                dialog = page.locator("dialog.approval[open]")
                expect(dialog).to_have_attribute("data-settled", "")
                expect(dialog).to_contain_text("May it be written?")
                expect(dialog).to_contain_text("written by the agent")
                page.screenshot(path=tmp_path / "asked.png")
                assert (world.folder / "notes.txt").read_text() == "mine\n"
                dialog.get_by_role("button", name="Allow").first.click()
                expect(dialog).to_have_count(0)
                assert agent.wait(60) == 0
                said = agent.stdout.read() if agent.stdout else ""
                page.screenshot(path=tmp_path / "answered.png")
    assert "Waiting for a person: May it be written?" in said
    assert said.endswith("I wrote it.\n")
    assert (world.folder / "notes.txt").read_text() == "mine\nwritten by the agent\n"
    assert count(read_trail(world.folder), "approval_decided") == 1


def test_a_no_from_another_process_runs_nothing(world: World, example: Example) -> None:
    """`amplifier approvals` answers what `amplifier judge` asks, by the id that is printed."""
    world.judge()
    world.serve_models(AGENT)
    with world.start("node", str(example("ai-sdk-agent")), "Write it") as agent:
        found = read_until(agent, r"amplifier approvals allow (\w+)")
        world.amplifier("approvals", "deny", found[1], "--yes", "--comment", "not today")
        assert agent.wait(60) == 0
        said = agent.stdout.read() if agent.stdout else ""
    assert said.endswith("I wrote it.\n")  # the script of the model says so whatever happens
    assert (world.folder / "notes.txt").read_text() == "mine\n"
    assert "not today" in world.amplifier("audit", "show")


def test_the_package_is_used_as_its_readme_says(world: World, tmp_path: Path) -> None:
    """Packed, installed into an empty project, and its first program compiled and denied."""
    program = README.split("```ts\n")[1].split("```")[0]
    output = README.split("```text\n")[1].split("```")[0]
    project = tmp_path / "own"
    project.mkdir()
    (project / "package.json").write_text('{"type": "module"}')
    (project / "first.ts").write_text(program)
    for folder, command in (
        (CLIENT, ["npm", "pack", "--pack-destination", str(project)]),
        (project, ["npm", "install", "--offline", "./amplifier-hooks-client-0.1.0.tgz"]),
        (project, [str(CLIENT / "node_modules" / ".bin" / "tsc"), "--strict", "--target", "es2022",
                   "--module", "nodenext", "--types", "node",
                   "--typeRoots", str(CLIENT / "node_modules" / "@types"), "first.ts"]),
    ):  # fmt: skip
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    world.amplifier("trust", "--revoke")
    (world.folder / "amplifier.yaml").unlink()
    world.judge()
    assert world.node(project / "first.js") == output
