"""amplifier audit show and tail."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest

from amplifier_audit import AuditLog
from amplifier_hooks.agent.session.inspection.trails import find_home
from tests.audit.support import FAST, write_log
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import PROGRAM, Outcome, invoke, run_at_terminal


def list_trails(*arguments: object) -> Outcome:
    return invoke("audit", "list", *arguments)


def write_trail(name: str) -> None:
    """A trail of another version, which does not say where it comes from."""
    asyncio.run(write_log(find_home() / name, 3))


def test_a_trail_is_listed_with_what_tells_it_from_others(project: Project, home: Path) -> None:
    """When, where, of which bundle, how much, and what there is to verify it with."""
    project({"text": "Hello."}, name="mine")
    assert invoke("run", "hello").code == 0
    (row,) = json.loads(list_trails("--json").stdout)
    assert (row["folder"], row["bundle"], row["sessions"]) == (str(home), "mine", 1)
    assert row["records"] > 10
    head, line, hint = list_trails().stdout.splitlines()
    assert head.split() == ["trail", "when", "records", "sessions", "bundle", "proof", "folder"]
    cells = [row["id"][:8], "just", "now", f"{row['records']:,}", "1", "mine", "not", "signed", "~"]
    assert line.split() == cells
    assert hint.startswith("amplifier audit verify ID")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_list_fits_the_terminal(project: Project, columns: int) -> None:
    """A narrow one, too."""
    project()
    for number in range(3):
        write_trail(f"abc-{number}")
    with run_at_terminal("audit", "list", columns=columns) as program:
        assert program.wait_end() == 0
        lines = program.lines()
    assert sum("abc-" in line for line in lines) == 3
    assert max(map(len, lines)) < columns


def test_the_list_can_be_cut_and_kept_to_this_folder(project: Project, home: Path) -> None:
    """The latest first, and how many more there are."""
    project({"text": "Hello."})
    assert invoke("run", "hello").code == 0
    for number in range(3):
        write_trail(f"abc-{number}")
    assert "3 more; --limit 0 shows all" in list_trails("--limit", "1").stdout
    assert len(json.loads(list_trails("--limit", "0", "--json").stdout)) == 4
    assert len(json.loads(list_trails("--here", "--json").stdout)) == 1


def test_without_any_trail_the_list_says_where_it_looked(home: Path) -> None:
    """Or that none is of this folder."""
    assert list_trails().stdout == f"No trails in {find_home()} yet.\n"
    assert list_trails("--here").stdout == "No trails of this folder yet.\n"


def test_what_cannot_be_read_is_listed_as_such(home: Path, log: Path) -> None:
    """It hides nothing else; a writer that gave up is named, a signature too."""
    find_home().mkdir(parents=True)
    (find_home() / "empty").mkdir()
    (find_home() / "not a name").mkdir()
    log.rename(find_home() / "signed")
    write_trail("failed")
    (find_home() / "failed" / "failed").write_text("disk full")
    rows = {row["id"]: row for row in json.loads(list_trails("--json").stdout)}
    assert rows["empty"]["proof"].startswith("cannot be read: ")
    assert rows["signed"]["proof"] == "signed"
    assert rows["signed"]["sessions"] == 2
    assert rows["failed"]["proof"] == "the writer gave up"


def stats(*arguments: object) -> Outcome:
    return invoke("audit", "stats", *arguments)


def test_each_hook_is_counted(log: Path) -> None:
    """Calls, denials, questions that were put to somebody, injections, failures, and time."""
    rows = {row["hook"]: row for row in json.loads(stats(log, "--json").stdout)}
    assert rows["guard"] == {
        "hook": "guard",
        "calls": 11,
        "denials": 2,
        "asks": 0,
        "injections": 0,
        "errors": 0,
        "p50_ms": pytest.approx(4.0, rel=0.03),
        "p95_ms": pytest.approx(9.0, rel=0.03),
        "p99_ms": pytest.approx(9.0, rel=0.03),
    }
    assert (rows["asker"]["asks"], rows["asker"]["errors"]) == (0, 10)
    assert rows["linter"]["injections"] == 10


def test_the_table_has_its_numbers_to_the_right(log: Path) -> None:
    """The names to the left, below a head."""
    assert stats(log).stdout.splitlines() == [
        "hook    calls  denied  asked  injected  failed  p50 ms  p95 ms  p99 ms",
        "asker      10       0      0         0      10       1       1       1",
        "guard      11       2      0         0       0       4     9.2     9.2",
        "linter     10       0      0        10       0     0.5     0.5     0.5",
    ]


def test_only_the_selected_records_count(log: Path) -> None:
    """The same filters as for the records themselves."""
    assert json.loads(stats(log, "--json", "--session", "s2").stdout)[0]["calls"] == 1
    assert len(stats(log, "--session", "nobody").stdout.splitlines()) == 1


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
HOOK = """
from amplifier_core.models import HookResult

async def look(event, data):
    if data["tool_name"] == "Read":
        raise KeyError("path")
    if "curl" in str(data["tool_input"]):
        return HookResult(action="deny", reason="nothing is fetched here")
    if data["tool_name"] == "Write":
        return HookResult(action="inject_context", context_injection="be careful")
    return HookResult()

async def mount(coordinator, config=None):
    return coordinator.hooks.register("tool:pre", look, name="mine")
"""


def show(*arguments: object) -> Outcome:
    return invoke("audit", "show", *arguments)


def run_a_session(project: Project) -> None:
    """A prompt, calls of all kinds, a denial, a failing hook, and an answer."""
    Path("mine.py").write_text(HOOK)
    project(
        {
            "text": "I look first.",
            "tool_calls": [{"name": "Bash", "input": {"command": "echo hello"}}],
        },
        {"tool_calls": [{"name": "Write", "input": {"file_path": "a.txt", "content": "a"}}]},
        {"tool_calls": [{"name": "Bash", "input": {"command": "curl localhost"}}]},
        {"tool_calls": [{"name": "Read", "input": {"file_path": "missing.txt"}}]},
        {"text": "All done."},
        hooks=[{"module": "mine", "source": "./mine.py"}],
    )
    done = invoke("run", "do the work", "--approve", "deny")
    assert done.code == 0, done.stderr


def test_a_session_is_told_in_the_order_it_happened(project: Project) -> None:
    """One line for each thing that a person cares about, at any width, and no ids."""
    run_a_session(project)
    for columns in (40, 80, 200):
        check_story(columns)


def check_story(columns: int) -> None:
    with run_at_terminal("audit", "show", columns=columns, rows=60) as program:
        assert program.wait_end() == 0
        lines = [line for line in program.lines() if line]
    assert max(map(len, lines)) < columns
    told = " ".join(line[8:].strip() if line[2:3] == ":" else line.strip() for line in lines)
    expected = [
        "session started",
        "› do the work",
        "‹ I look first.",
        "● Bash echo hello",
        "✓ Bash hello",
        "● Write a.txt",
        "+ mine tells the agent: be careful",
        "✓ Write Created",
        "● Bash curl localhost",
        "✗ denied by mine: nothing is fetched here",
        "● Read missing.txt",
        "✗ mine failed on tool:pre: KeyError: 'path'",
        "✗ Read No file 'missing.txt'",
        "‹ All done.",
        "session ended · 4 tool calls",
    ]
    places = [told.replace("  ", " ").find(text) for text in expected]
    assert places == sorted(places), told
    assert -1 not in places, told
    assert not UUID.search(told)
    assert told.count("KeyError") == 1


def test_a_session_is_found_by_the_start_of_its_id(tmp_path: Path) -> None:
    """As lists show it; one that several begin with is refused, and a whole id is always meant."""
    log = AuditLog(tmp_path / "log", name="log")
    for session in ("claude-1", "claude-1-child", "claude-2"):
        log.append("note", {}, session=session)
    log.close_now()
    shown = show(tmp_path / "log", "--json", "--session", "claude-1-")
    assert [json.loads(one)["session"] for one in shown.stdout.splitlines()] == ["claude-1-child"]
    shown = show(tmp_path / "log", "--json", "--session", "claude-1")
    assert [json.loads(one)["session"] for one in shown.stdout.splitlines()] == ["claude-1"]
    refused = show(tmp_path / "log", "--session", "claude-")
    assert refused.code == 2
    assert "Several sessions begin with 'claude-': claude-1, claude-1-child" in refused.output


def test_the_rest_of_the_records_is_shown_on_request(project: Project) -> None:
    """`--all` has one line for each record that `--json` has."""
    run_a_session(project)
    heading, *rows = show("--all").stdout.splitlines()
    records = [json.loads(line) for line in show("--json").stdout.splitlines()]
    assert re.fullmatch(r"\w+day, \d{4}-\d\d-\d\d", heading)
    assert len(rows) == len(records)
    assert [row.split()[1:3] for row in rows] == [[str(r["seq"]), r["type"]] for r in records]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ((), 15),
        (("--session", "s2"), 2),
        (("--hook", "guard"), 11),
        (("--hook", "linter"), 10),
        (("--event", "tool:pre"), 10),
        (("--action", "deny"), 2),
        (("--action", "ask_user"), 10),
        (("--type", "checkpoint"), 2),
        (("--before", "2999"), 15),
        (("--session", "s1", "--limit", "3"), 3),
    ],
)
def test_records_are_selected(log: Path, options: tuple[str, ...], count: int) -> None:
    """By session, hook, event, action, type and time; as JSON, or below a day."""
    lines = show(log, "--json", *options).stdout.splitlines()
    assert len(lines) == count
    assert len(show(log, "--all", *options).stdout.splitlines()) == count + 1


def test_who_would_see_nothing_is_told_why(log: Path) -> None:
    """No record matches, or none of them is worth a line of the story."""
    nothing = show(log, "--after", "2999")
    assert (nothing.stdout, nothing.stderr) == ("", "0 records to show.\n")
    quiet = show(log, "--type", "checkpoint")
    assert quiet.stderr == "2 records to show, none of them shown here; --all shows them.\n"


def test_a_denial_names_the_hook_and_the_reason(log: Path) -> None:
    """Who decided what, and why, before anything else; nothing steers the terminal."""
    (_, line, _) = show(log, "--all", "--action", "deny").stdout.splitlines()
    assert "action=deny reason=why\\u{1B}[2J guard:deny linter:inject_context" in line
    shown = show(log).stdout
    assert "forged" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


async def test_a_long_body_is_cut_to_a_line(tmp_path: Path) -> None:
    """All of it is in the JSON."""
    trail = await AuditLog.open(tmp_path / "log", FAST)
    await trail.commit(trail.append("mine", {"text": "x" * 900}))
    await trail.close()
    (_, line) = show(tmp_path / "log", "--type", "mine").stdout.splitlines()
    assert line.endswith("xxx…")
    assert line.count("x") < 400
    (record,) = show(tmp_path / "log", "--type", "mine", "--json").stdout.splitlines()
    assert json.loads(record)["body"]["text"] == "x" * 900


async def test_values_that_are_kept_apart_are_shown_when_they_are_wanted(tmp_path: Path) -> None:
    """Without --reveal their place says so."""
    from amplifier_audit import AuditSettings

    trail = await AuditLog.open(tmp_path / "log", AuditSettings(values="committed"))
    trail.append("user_message", {"text": "the secret", "level": "info"}, hook="mine")
    await trail.commit()
    await trail.close()
    assert "· mine: (stored separately; --reveal shows it)" in show(tmp_path / "log").stdout
    assert "· mine: the secret" in show(tmp_path / "log", "--reveal").stdout


@pytest.mark.parametrize("as_json", [False, True])
async def test_tail_follows_a_log_that_is_being_written(tmp_path: Path, as_json: bool) -> None:
    """Each record as it comes, on a line of its own."""
    trail = await AuditLog.open(tmp_path / "log", FAST)
    command = [*PROGRAM, "audit", "tail", str(tmp_path / "log"), "--type", "mine"]
    follower = subprocess.Popen(
        [*command, *["--json"] * as_json], text=True, stdout=subprocess.PIPE
    )
    assert follower.stdout is not None
    reading = asyncio.create_task(asyncio.to_thread(follower.stdout.readline))
    while not reading.done():
        await trail.commit(trail.append("mine", {"action": "deny", "reason": "because"}))
        await asyncio.wait([reading], timeout=0.05)
    line = await reading
    if not as_json:  # the day stands above the first line
        line = await asyncio.to_thread(follower.stdout.readline)
    follower.kill()
    follower.wait()
    follower.stdout.close()
    await trail.close()
    if as_json:
        assert json.loads(line)["body"] == {"action": "deny", "reason": "because"}
    else:
        assert line.endswith("· mine  action=deny reason=because\n")
