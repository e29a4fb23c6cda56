"""amplifier trust: nothing of a folder runs before a person has seen it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from amplifier_audit import AuditLog
from amplifier_hooks.agent.trust.store import TrustStore
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_amplifier, run_at_terminal
from tests.support.trust import look_at, trust_project

PLANTED = "planted-session"
COMMANDS = [
    ["audit", "list"],
    ["audit", "list", "--here"],
    ["audit", "show"],
    ["audit", "show", PLANTED],
    ["audit", "verify"],
    ["audit", "verify", PLANTED],
    ["audit", "stats"],
    ["audit", "stats", PLANTED],
    ["report", "--format", "json", "-o", "-"],
    ["report", PLANTED, "--format", "json", "-o", "-"],
    ["hooks", "stats"],
    ["hooks", "stats", "--everywhere"],
    ["hooks", "backtest", "--rules", "rules.yaml"],
    ["rules", "suggest"],
    ["sessions", "list"],
    ["replay"],
    ["replay", PLANTED],
]


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose bundle names a folder of its own, by a variable of the person."""
    made = home / "clone"
    made.mkdir()
    monkeypatch.chdir(made)
    monkeypatch.setenv("CANARY", "canary-4f1d9a7c")
    (made / "rules.yaml").write_text("- {name: no, tool: Bash, action: deny, reason: no}\n")
    bundle = {"name": "theirs", "audit": {"path": "trails/${CANARY}"}}
    (made / "amplifier.yaml").write_text(yaml.safe_dump(bundle))
    log = AuditLog(made / "trails" / "canary-4f1d9a7c" / PLANTED, name=PLANTED)
    origin = {"folder": str(made), "bundle": "theirs", "file": str(made / "amplifier.yaml")}
    log.append("bundle_loaded", origin)
    log.append("prompt", {"text": "planted text"}, session=PLANTED, turn=1)
    log.close_now()
    return made


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_reads_trails_where_an_untrusted_bundle_says(
    words: list[str], folder: Path
) -> None:
    """It says so in one line; trusted, the same bundle is heeded, without a word."""
    done = invoke(*words)
    assert "canary" not in done.output
    assert "planted text" not in done.output
    assert PLANTED not in done.stdout
    assert done.stderr.count("its audit.path was not used") == 1
    trust_project(folder)
    assert "audit.path was not used" not in invoke(*words).output


def test_the_planted_trail_is_found_once_the_bundle_is_trusted(folder: Path) -> None:
    """Else the test above would show nothing."""
    trust_project(folder)
    assert "planted text" in invoke("audit", "show").stdout
    assert PLANTED in invoke("audit", "list").stdout


READ_TO_THE_END = "\x1b[F"
TELLTALE = """
from pathlib import Path

Path(__file__).with_name("it-ran").touch()

async def on_tool_pre(event, data):
    return None
"""


@pytest.fixture
def untrusted(project: Project, home: Path) -> Path:
    """A folder whose hook, settings and script all leave a file behind when they run."""
    (home / "hook.py").write_text(TELLTALE)
    (home / "x.sh").write_text(f"touch {home}/it-ran\n")
    command = {"hooks": [{"command": "bash x.sh"}]}
    names = ("SessionStart", "PreToolUse", "UserPromptSubmit")
    (home / "s.json").write_text(json.dumps({"hooks": {name: [command] for name in names}}))
    shell = {"module": "hooks-shell", "config": {"settings": ["s.json"]}}
    return project({"text": "hi"}, hooks=["./hook.py", shell], trusted=False)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["hooks", "list"], 3),
        (["hooks", "list", "--json"], 3),
        (["hooks", "trace", "hello"], 3),
        (["hooks", "trace", "--tool", "Bash"], 3),
        (["modules", "validate", "./hook.py"], 3),
        (["doctor"], 0),
        (["doctor", "--json"], 0),
        (["trust", "--show"], 3),
        (["run", "--approve", "deny", "hello"], 3),
        (["modules", "list"], 0),
        (["sessions", "list"], 0),
    ],
)
def test_no_command_runs_what_nobody_trusted(
    untrusted: Path, home: Path, command: list[str], code: int
) -> None:
    """It is shown, or refused with the command that would change it."""
    done = invoke(*command)
    assert done.code == code, done.output
    assert not (home / "it-ran").exists()
    if code:
        assert re.search("amplifier trust|validate --run|Digest", done.output)


@pytest.mark.parametrize("command", [["trust"], ["run", "--dev", "hello"], ["chat"]])
def test_without_a_terminal_what_would_ask_is_refused(
    untrusted: Path, home: Path, command: list[str]
) -> None:
    """With the command to run where there is one."""
    done = run_amplifier(*command, stdin="hello\n")
    assert done.code == 3
    assert "has not been trusted yet. Review and allow it in a terminal" in done.stderr
    assert not (home / "it-ran").exists()


def test_what_is_trusted_runs(untrusted: Path, home: Path) -> None:
    """So the file that is left behind proves something."""
    trust_project(home)
    assert run_amplifier("run", "hello").code == 0
    assert (home / "it-ran").exists()


def test_a_list_of_hooks_that_may_not_run_names_them(untrusted: Path) -> None:
    """By module and source; for machines, too."""
    shown = invoke("hooks", "list").stdout
    assert re.search(r"hook\s+\S+/hook\.py", shown)
    assert "Nothing of this was run." in shown
    told = json.loads(invoke("hooks", "list", "--json").stdout)
    assert {"module": "hooks-shell", "source": None} in told["modules"]
    assert "amplifier trust" in told["untrusted"]


def test_showing_it_prints_every_file_and_the_digest(untrusted: Path, home: Path) -> None:
    """With which a script can trust exactly that."""
    done = invoke("trust", "--show")
    assert "│ Path(__file__)" in done.stdout
    assert "command bash x.sh" in done.stdout
    [digest] = re.findall(r"Digest ([0-9a-f]{64})", done.stdout)
    refused = invoke("trust", "--digest", "0" * 64)
    assert refused.code == 1
    assert f"has the digest {digest}, not {'0' * 64}; nothing was trusted" in refused.stderr
    assert TrustStore().list() == []
    assert invoke("trust", "--digest", digest).code == 0
    assert TrustStore().is_trusted(look_at(home))
    again = invoke("trust", "--show")
    assert (again.code, again.stdout.rstrip().endswith("✓ trusted")) == (0, True)
    assert "is trusted" in invoke("trust").stdout


def test_a_change_is_shown_as_a_difference(untrusted: Path, home: Path) -> None:
    """Since when it was trusted, and by whom."""
    trust_project(home)
    (home / "hook.py").write_text(TELLTALE.replace("return None", "return 1"))
    done = invoke("trust", "--show")
    assert done.code == 3
    assert "Trust what has changed since tester trusted it on" in done.stdout
    assert "│ -    return None" in done.stdout
    assert "│ +    return 1" in done.stdout
    assert "│ Path(__file__)" not in done.stdout


def test_trust_is_listed_and_taken_back(project: Project, home: Path) -> None:
    """For a whole folder."""
    assert "Nothing is trusted yet" in invoke("trust", "list").stdout
    project({"text": "hi"})
    assert str(home) in invoke("trust", "list").stdout.replace("\n", "")
    [one] = json.loads(invoke("trust", "list", "--json").stdout)
    assert (one["folder"], one["bundle"], one["by"]) == (str(home), "amplifier.yaml", "tester")
    assert "amplifier.yaml is no longer trusted" in invoke("trust", "--revoke").stdout
    assert "Nothing was trusted in this folder." in invoke("trust", "--revoke").stdout
    assert invoke("run", "hi").code == 3


def test_one_thing_at_a_time(home: Path) -> None:
    """Looking, trusting and taking back exclude one another."""
    done = invoke("trust", "--show", "--revoke")
    assert done.code == 2
    assert "Use only one of" in done.stderr


def test_a_folder_without_a_bundle_needs_no_trust(home: Path) -> None:
    """There is nothing to ask about."""
    done = invoke("trust")
    assert (done.code, done.stdout) == (0, "Nothing in this folder would run.\n")


@pytest.mark.parametrize(("key", "code"), [("a", 0), ("d", 3)])
def test_at_a_terminal_the_person_decides(untrusted: Path, home: Path, key: str, code: int) -> None:
    """After having seen what would be run."""
    with run_at_terminal("trust", columns=100, rows=30) as program:
        program.wait_for_question("Trust this folder?", "The bundle amplifier.yaml", "hook.py")
        program.press(READ_TO_THE_END)
        program.wait_for("Asked by  trust")
        program.press(key)
        assert program.wait_end() == code
    assert TrustStore().is_trusted(look_at(home)) is (code == 0)
    assert not (home / "it-ran").exists()


def test_the_first_run_asks_and_goes_on(untrusted: Path, home: Path) -> None:
    """Nobody needs to know of the command first."""
    with run_at_terminal("run", "hello", columns=100, rows=30) as program:
        program.wait_for_question("Trust this folder?")
        program.press(READ_TO_THE_END)
        program.wait_for("Asked by  trust")
        program.press("a")
        program.wait_for("hi")
        assert program.wait_end() == 0
    assert (home / "it-ran").exists()


def test_names_and_contents_cannot_steer_the_terminal(project: Project, home: Path) -> None:
    """Escape sequences are spelled out wherever they stand."""
    evil = "evil\x1b[2J.py"
    (home / evil).write_text("# \x1b]0;title\x07\n")
    project({"text": "hi"}, hooks=[f"./{evil}"], name="n\x1b[31m", trusted=False)
    for command in (["trust", "--show"], ["hooks", "list"], ["doctor"], ["run", "x"]):
        done = invoke(*command)
        assert "\x1b[2J" not in done.output
        assert "\x1b]0" not in done.output
        assert "\x1b[31m" not in done.output


DAMAGED = "is damaged and trusts nothing: "


def test_a_damaged_record_is_said(project: Project, home: Path) -> None:
    """By who lists, and by who refuses; not taken for a folder that nobody has looked at."""
    project({"text": "hi"}, trusted=True)
    [record] = TrustStore().root.glob("*.json")
    record.write_text("{")
    listed = invoke("trust", "list")
    assert listed.code == 1
    assert DAMAGED in listed.stderr
    assert str(record) in listed.stderr.replace("\n", "")
    assert "Nothing is trusted" not in listed.output
    as_json = invoke("trust", "list", "--json")
    assert (json.loads(as_json.stdout), as_json.code) == ([], 1)
    shown = invoke("trust", "--show")
    assert "What was trusted here is not known any more" in shown.stdout
    refused = invoke("run", "hello")
    assert refused.code == 3
    assert "is not known to be trusted: its record" in refused.stderr.replace("\n", " ")


def test_a_bundle_with_a_time_to_answer_can_be_trusted(project: Project, home: Path) -> None:
    """As docs/bundles.md has it, from the first look to the run."""
    project({"text": "hi"}, approval={"timeout": 60}, trusted=False)
    [digest] = re.findall(r"Digest ([0-9a-f]{64})", invoke("trust", "--show").stdout)
    done = invoke("trust", "--digest", digest)
    assert (done.code, "is trusted" in done.stdout) == (0, True)
    assert "amplifier.yaml" in invoke("trust", "list").stdout
    assert invoke("run", "hello").code == 0


def test_a_bundle_can_be_looked_at_without_its_variables(project: Project, home: Path) -> None:
    """The token is the agent's; whoever looks at the bundle needs none."""
    server = {"via": "server", "server": "${APPROVAL_SERVER}", "token": "${AMPLIFIER_TOKEN}"}
    project({"text": "hi"}, approval=server, trusted=False)
    shown = invoke("trust", "--show")
    assert shown.code == 3
    text = shown.stdout.replace("\n", " ")
    assert "Left out here: " in text
    assert "variable 'AMPLIFIER_TOKEN' is not set" in text
    assert "variable 'APPROVAL_SERVER' is not set" in text
    assert "token: ${AMPLIFIER_TOKEN}" in shown.stdout
    [digest] = re.findall(r"Digest ([0-9a-f]{64})", shown.stdout)
    assert invoke("trust", "--digest", digest).code == 0
    refused = invoke("run", "hello")
    assert refused.code == 3
    assert "'AMPLIFIER_TOKEN' is not set" in refused.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    "hook",
    [
        {"module": "mine", "source": "${WHERE}/hook.py"},
        {"module": "hooks-rules", "config": {"file": "${WHERE}/rules.yaml"}},
        {"module": "hooks-shell", "config": {"hooks": {"Stop": [{"command": "${WHERE}"}]}}},
    ],
)
def test_a_variable_that_says_what_runs_has_to_be_set(
    project: Project, home: Path, hook: dict[str, object]
) -> None:
    """Nobody could be shown what would run."""
    project({"text": "hi"}, hooks=[hook], trusted=False)
    shown = invoke("trust", "--show")
    assert shown.code == 3
    assert "'WHERE' is not set" in shown.stderr.replace("\n", " ")
    assert "Digest" not in shown.stdout
