"""What hooks did can be seen: live, in the transcript, in figures, and as rules."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from amplifier_hooks.approvals.models import (
    Choice,
    Decider,
    SessionEntry,
    SessionRecord,
    StandingWish,
)
from tests.hooks.insight.reports.stories import write_trail
from tests.hooks.server.page.browser import People
from tests.hooks.server.page.questions import DENY, ONCE, make_question
from tests.hooks.server.page.running_server import RunningServer

GUARD = "hooks-production-guard"
TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "user", "content": "Switch the checkout on."},
    {
        "role": "assistant",
        "content": "I will edit the flag.",
        "tool_calls": [{"id": "1", "tool": "Bash", "arguments": {"command": "ls"}}],
    },
    {"role": "tool", "name": "Bash", "content": "flags.env"},
    {
        "role": "user",
        "content": "Run the tests before you go on.",
        "metadata": {"source": "hook", "hooks": ["hooks-test-runner"], "event": "tool:post"},
    },
]


def make_records(first: int, *actions: str) -> list[SessionRecord]:
    """Dispatches that ended in these actions."""
    return [
        SessionRecord(
            number=number,
            time=time.time(),
            type="dispatch",
            event="tool:pre",
            turn=1,
            body={
                "action": action,
                "hooks": [{"hook": GUARD, "id": 1, "action": action, "ms": 1.25, "reason": "why"}],
                "data": {"tool_name": "Bash", "tool_input": {"command": f"echo {number}"}},
            },
        )
        for number, action in enumerate(actions, first)
    ]


def add_session(server: RunningServer, name: str) -> None:
    """A session with a transcript and some records."""
    entry = SessionEntry(
        id=name,
        machine="build-3",
        user="ann",
        name=f"Flags {name}",
        bundle="shop",
        working_dir="/home/ann/shop",
        status="running",
        turns=2,
    )
    server.run(server.store.sessions.save(entry, TRANSCRIPT))
    server.run(server.store.records.publish(name, make_records(1, "continue", "deny")))


def test_the_timeline_of_a_session_is_live(page: Page, server: RunningServer) -> None:
    """It begins with what hooks decided, adds what comes, and shows the rest when asked."""
    add_session(server, "live-1")
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="Flags live-1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Flags live-1")
    records = page.locator(".record")
    expect(records).to_have_count(1)
    expect(records).to_contain_text([f"deny {GUARD}"])
    server.run(server.store.records.publish("live-1", make_records(3, "ask_user")))
    expect(records).to_have_count(2)
    expect(records.last).to_contain_text("Bash: echo 3")
    page.get_by_label("Show also events").check()
    expect(records).to_have_count(3)


def test_the_transcript_marks_what_hooks_injected(page: Page, server: RunningServer) -> None:
    """With the hook's name and event; the conversation's own messages are not marked."""
    add_session(server, "talk-1")
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="Flags talk-1").click()
    page.get_by_role("tab", name="Transcript").click()
    expect(page.locator(".message")).to_have_count(4)
    injected = page.locator(".message.injected")
    expect(injected).to_have_count(1)
    expect(injected).to_contain_text("Injected by hooks-test-runner on tool:post")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Trail")).to_be_focused()
    expect(page.locator(".verdict")).to_contain_text("no witness has seen it")


CALL = {"tool": "Edit", "arguments": {"file_path": "a.py"}}


@pytest.mark.parametrize(
    ("content", "tool_calls", "shown"),
    [
        ([{"type": "tool_call", "id": "1", "name": "Edit", "input": {}}], [{"id": "1", **CALL}], 1),
        ([{"type": "tool_use", "id": "1", "name": "Edit", "input": {}}], [{"id": "1", **CALL}], 1),
        ([{"type": "tool_call", "name": "Edit", "input": {}}], [CALL], 1),
        ([{"type": "tool_call", "id": "1", "name": "Edit", "input": {}}], [{"id": "2", **CALL}], 2),
        ([{"type": "text", "text": "Now."}], [{"id": "1", **CALL}, {"id": "2", **CALL}], 2),
        ("Now.", [{"id": "1", **CALL}], 1),
        ([{"type": "tool_call", "id": "1", "name": "Edit", "input": {}}], None, 1),
    ],
)
def test_the_transcript_shows_each_call_once(
    page: Page, server: RunningServer, content: Any, tool_calls: Any, shown: int
) -> None:
    """Whether it is a block of the content, stands beside it, or both."""
    message = {"role": "assistant", "content": content, "tool_calls": tool_calls}
    entry = SessionEntry(id="calls-1", name="Calls", status="running")
    server.run(server.store.sessions.save(entry, [message]))
    page.goto("/sessions/calls-1")
    page.get_by_role("tab", name="Transcript").click()
    expect(page.locator(".message")).to_have_count(1)
    expect(page.locator(".tool-call")).to_have_count(shown)


def test_registrations_of_hooks_are_hidden_until_asked_for(
    page: Page, server: RunningServer
) -> None:
    """A session begins with dozens of them, before anything has happened."""
    add_session(server, "quiet-1")
    registered = [
        SessionRecord(
            number=number,
            time=time.time(),
            type=kind,
            event="tool:pre",
            hook=GUARD,
            body={"priority": 0},
        )
        for number, kind in enumerate(["hook_registered"] * 30 + ["hook_unregistered"] * 30, 3)
    ]
    server.run(server.store.records.publish("quiet-1", registered))
    page.goto("/sessions/quiet-1")
    expect(page.locator(".record")).to_have_count(1)
    expect(page.get_by_text("62 records, 61 of them quiet")).to_be_visible()
    page.get_by_label("registrations of hooks").check()
    expect(page.locator(".record")).to_have_count(62)


def test_the_report_of_a_session_can_be_saved_and_needs_no_network(
    page: Page,
    people: People,
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The saved file is whole: it asks for nothing, and is styled by itself."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    add_session(server, "report-1")
    write_trail(tmp_path / "amplifier" / "audit", "report-1")
    page.goto("/sessions/report-1")
    page.get_by_role("tab", name="Trail").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download report").click()
    assert saved.value.suggested_filename == "report-report-1.html"
    saved.value.save_as(tmp_path / "report.html")
    reader, asked = people.open(), []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto((tmp_path / "report.html").as_uri())
    expect(reader.get_by_role("heading", level=1)).to_have_text("Session report-1")
    expect(reader.locator(".tile.bad b")).to_have_css("display", "block")
    expect(reader.get_by_role("img", name="Time line")).to_be_visible()
    assert asked == [(tmp_path / "report.html").as_uri()]


def test_statistics_show_answers_times_and_overrulings(page: Page, server: RunningServer) -> None:
    """As charts, each with the same figures as a table."""
    hook = "hooks-figures"
    records = make_records(1, "continue", "continue", "deny")
    for one in records:
        one.body["hooks"][0]["hook"] = hook  # type: ignore[index]
    records[0].body["hooks"][0]["shadowed"] = "ask_user"  # type: ignore[index]
    records[1].body["hooks"][0]["error"] = "OSError: no"  # type: ignore[index]
    server.run(server.store.sessions.save(SessionEntry(id="figures-1")))
    server.run(server.store.records.publish("figures-1", records))
    for option in (ONCE, ONCE, DENY):
        server.decide(server.ask(make_question(hook=hook)), option)
    page.get_by_role("link", name="Statistics").click()
    card = page.get_by_role("region", name=hook, exact=True)
    expect(card).to_contain_text("3 calls, 1.3 ms on average")
    expect(card).to_contain_text("p50 within 5 ms, p95 within 5 ms")
    expect(card).to_contain_text("1 failure, 0 time-outs")
    expect(card).to_contain_text("In shadow mode, without an effect: ask user 1 time")
    expect(card).to_contain_text("people allowed 2 of them (67 %)")
    expect(card.get_by_role("img")).to_have_count(3)
    expect(card.locator(".bar.deny").first).to_be_attached()
    card.get_by_text("Answers over time: table").click()
    cells = card.get_by_role("table", name="Answers over time").get_by_role("cell")
    expect(cells).to_have_text(["2", "1"])


def test_standing_rules_are_listed_and_revoked(page: Page, server: RunningServer) -> None:
    """In the words that the person read; after a question that begins on "Cancel"."""
    asked = server.ask(make_question())
    choice = Choice(
        option=ONCE,
        nonce=asked.nonce,
        key="k",
        standing=StandingWish(scope="exact", seconds=3600.0, uses=7),
    )
    decider = Decider("bob", "cli", frozenset({"decide"}))
    server.run(server.store.approvals.decide(asked.id, choice, decider))
    page.get_by_role("link", name="Rules").click()
    card = page.locator("rules-view .card")
    expect(card).to_contain_text("Allow Bash with exactly this input")
    expect(card).to_contain_text("By bob on")
    expect(card).to_contain_text("7 left")
    card.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No rules")).to_be_visible()
    (rule,) = server.run(server.store.rules.list(include_ended=True))
    assert rule.revoked_by == "ann"


def test_admins_make_and_revoke_access(page: Page, server: RunningServer) -> None:
    """A token is shown once; what it may do is what was ticked."""
    page.get_by_role("link", name="Access").click()
    page.get_by_label("Name").fill("ci")
    page.get_by_label("ask and report").check()
    page.get_by_label("see everything").uncheck()
    page.get_by_role("button", name="Make a token for a program").click()
    secret = page.get_by_label("Token; it is not shown again").input_value()
    identity = server.run(server.store.access.identify_token(secret))
    assert identity is not None
    assert (identity.name, identity.scopes) == ("ci", frozenset({"agent"}))
    page.locator("tokens-view .card").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.locator("tokens-view .card")).to_contain_text("Revoked")
    assert server.run(server.store.access.identify_token(secret)) is None
