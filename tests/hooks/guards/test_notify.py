"""hooks-notify: desktop and webhook notifications that never block."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.notify import mount, write_document
from tests.support.harness import Harness
from tests.support.http_server import receiver
from tests.support.waiting import wait_until

LINK = "https://approvals.test/approvals/ab"


def test_a_generic_document_has_words_facts_and_link() -> None:
    """Plain values, which any service can read."""
    url, document = write_document(
        "generic", "https://h.test/x", "T", "M", level="warning", link=LINK, facts={"event": "e"}
    )
    assert url == "https://h.test/x"
    assert document == {
        "text": "T: M",
        "title": "T",
        "message": "M",
        "level": "warning",
        "event": "e",
        "link": LINK,
    }
    assert "link" not in write_document("generic", "https://h.test/x", "T", "M")[1]


def test_slack_gets_text_in_which_nothing_but_the_link_is_one() -> None:
    """A prompt cannot mention a channel, nor show a link under other words."""
    _, document = write_document(
        "slack", "https://h.test", "T", "<!channel> <https://x|y>", link=LINK
    )
    assert document["text"] == (f"*T*\n&lt;!channel&gt; &lt;https://x|y&gt;\n<{LINK}|Open it>")
    assert "<" not in write_document("slack", "https://h.test", "T", "<a>")[1]["text"]


def test_teams_gets_a_card_whose_texts_are_no_markdown() -> None:
    """And one action, which opens the page."""
    _, document = write_document(
        "teams", "https://h.test", "T", "[x](https://evil.test)", link=LINK
    )
    card = document["attachments"][0]["content"]
    assert [one["type"] for one in card["body"]] == ["RichTextBlock"] * 2
    assert card["body"][1]["inlines"][0]["text"] == "[x](https://evil.test)"
    assert card["actions"] == [{"type": "Action.OpenUrl", "title": "Open it", "url": LINK}]
    assert (
        write_document("teams", "https://h.test", "T", "M")[1]["attachments"][0]["content"][
            "actions"
        ]
        == []
    )


def test_ntfy_is_posted_to_at_its_root_with_the_topic_inside() -> None:
    """A tap opens the page; what waits for a person is urgent."""
    url, document = write_document(
        "ntfy", "https://ntfy.test/base/my%20topic", "T", "M", level="warning", link=LINK
    )
    assert url == "https://ntfy.test/base/"
    expected = {"topic": "my topic", "title": "T", "message": "M", "priority": 4, "click": LINK}
    assert document == expected
    assert write_document("ntfy", "https://ntfy.test/t", "T", "M")[0] == "https://ntfy.test/"


def test_no_shape_lets_a_link_decide() -> None:
    """It opens a page; there is no button that answers."""
    for shape in ("generic", "slack", "teams", "ntfy"):
        _, document = write_document(shape, "https://h.test/t", "T", "M", link=LINK)  # type: ignore[arg-type]
        assert "Action.Http" not in json.dumps(document)
        assert "actions" not in document


def webhook(url: str, **more: Any) -> dict[str, Any]:
    return {"desktop": False, "webhooks": [{"url": url, "retry_delay": 0.01, **more}]}


async def test_a_notification_reaches_the_webhook_as_json(harness: Harness) -> None:
    """A webhook gets a JSON document at user:notification."""
    with receiver() as server:
        config = webhook(f"{server.url}/hook?key=1", headers={"X-Team": "red"})
        async with harness.mounted("notify", config):
            await harness.emit(
                "user:notification", notification_type="approval_required", message="Look\nhere"
            )
            await wait_until(lambda: bool(server.requests))
    path, headers, body = server.requests[0]
    sent = json.loads(body)
    assert path == "/hook?key=1"
    assert headers["X-Team"] == "red"
    assert headers["Content-Type"] == "application/json"
    assert sent["title"] == "Amplifier: approval required"
    assert sent["message"] == "Look here"
    assert sent["text"] == "Amplifier: approval required: Look here"
    assert (sent["event"], sent["session_id"]) == ("user:notification", "test-session")
    assert "data" not in sent


async def test_a_denial_is_told_with_the_hook_and_the_name_of_the_agent(harness: Harness) -> None:
    """In a channel that many agents share, a person knows whose hook denied, and why."""
    with receiver() as server:
        config = {**webhook(server.url), "name": "shop", "events": ["policy:violation"]}
        async with harness.mounted("notify", config):
            await harness.emit("policy:violation", hook="guard", reason="no force push")
            await wait_until(lambda: bool(server.requests))
    sent = json.loads(server.requests[0][2])
    assert (sent["title"], sent["message"]) == ("shop: denied", "guard: no force push")
    assert sent["level"] == "warning"


async def test_a_long_turn_calls_back_a_short_one_does_not(harness: Harness) -> None:
    """On orchestrator:complete, if the user has had time to look elsewhere."""
    with receiver() as server:
        async with harness.mounted("notify", webhook(server.url)):
            await harness.emit("orchestrator:complete", status="success", duration_ms=500)
            final = {"role": "assistant", "content": "All tests pass."}
            await harness.emit(
                "orchestrator:complete", status="success", duration_ms=60_000, final_message=final
            )
            await wait_until(lambda: bool(server.requests))
    assert [json.loads(body)["message"] for _, _, body in server.requests] == ["All tests pass."]


async def test_waiting_for_the_next_prompt_is_no_news_unless_wanted(harness: Harness) -> None:
    """Every turn ends in `awaiting_input`; only who asks for it is told."""
    waiting = {"notification_type": "awaiting_input", "message": "Your turn"}
    with receiver() as server:
        async with harness.mounted("notify", webhook(server.url)):
            await harness.emit("user:notification", **waiting)
        assert server.requests == []
        async with harness.mounted("notify", {**webhook(server.url), "types": ["awaiting_input"]}):
            await harness.emit("user:notification", **waiting)
    assert len(server.requests) == 1


async def test_patterns_choose_the_events_and_each_is_told_once(harness: Harness) -> None:
    """Chosen by patterns; overlapping patterns are one notification."""
    with receiver() as server:
        config = {**webhook(server.url), "events": ["policy:*", "*violation"], "include_data": True}
        async with harness.mounted("notify", config):
            await harness.emit("tool:pre", tool_name="Bash")
            await harness.emit("policy:violation", hook="guard", reason="not here")
            await wait_until(lambda: bool(server.requests))
            await asyncio.sleep(0.1)
    assert len(server.requests) == 1
    sent = json.loads(server.requests[0][2])
    assert sent["message"] == "guard: not here"
    assert sent["data"]["hook"] == "guard"


@pytest.mark.parametrize(
    ("statuses", "attempts"),
    [((200,), 1), ((500, 200), 2), ((429, 200), 2), ((404,), 1), ((503,), 2)],
)
async def test_one_retry_where_it_may_help(
    harness: Harness, statuses: tuple[int, ...], attempts: int
) -> None:
    """Timeout, one retry."""
    with receiver(*statuses) as server:
        async with harness.mounted("notify", webhook(server.url)):
            await harness.emit("user:notification", notification_type="alert", message="x")
            await wait_until(lambda: len(server.requests) == attempts)
            await asyncio.sleep(0.1)
    assert len(server.requests) == attempts


async def test_a_server_that_does_not_answer_delays_nothing(
    harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """Never blocks."""
    with receiver(delay=50) as server:
        async with harness.mounted("notify", webhook(f"{server.url}/secret", timeout=0.1)):
            started = time.monotonic()
            await harness.emit("user:notification", notification_type="alert", message="x")
            assert time.monotonic() - started < 40
            await wait_until(lambda: "tried twice" in caplog.text)
    assert "127.0.0.1 took too long" in caplog.text
    assert "secret" not in caplog.text


async def test_nobody_listening_is_a_line_in_the_log(
    harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """A failed delivery harms nobody."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    async with harness.mounted("notify", webhook(f"http://127.0.0.1:{port}")):
        await harness.emit("user:notification", notification_type="alert", message="x")
        await wait_until(lambda: "tried twice" in caplog.text)


async def test_the_desktop_is_told_through_notify_send(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Desktop (notify-send if there): nothing in a message is an option or mark-up."""
    program = tmp_path / "bin" / "notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/shown"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    async with harness.mounted("notify"):
        await harness.emit(
            "user:notification", notification_type="error", message="--icon=<b>x</b>"
        )
        await wait_until(
            lambda: bool((tmp_path / "shown").exists() and (tmp_path / "shown").read_text())
        )
    assert (tmp_path / "shown").read_text().splitlines() == [
        "--app-name=Amplifier",
        "--urgency=critical",
        "--",
        "Amplifier: error",
        "--icon=&lt;b&gt;x&lt;/b&gt;",
    ]


async def test_the_same_words_at_once_again_are_said_once(harness: Harness) -> None:
    """A burst of the same notification is one."""
    with receiver() as server:
        async with harness.mounted("notify", {**webhook(server.url), "min_interval": 60}):
            for _ in range(5):
                await harness.emit("user:notification", notification_type="alert", message="x")
            await harness.emit("user:notification", notification_type="alert", message="y")
            await wait_until(lambda: len(server.requests) >= 2)
    assert sorted(json.loads(body)["message"] for _, _, body in server.requests) == ["x", "y"]


async def test_sub_agents_finish_quietly(harness: Harness) -> None:
    """Only the session's own turns call the user back, unless wanted."""
    done = {"status": "success", "duration_ms": 99_000, "session_id": "child"}
    with receiver() as server:
        async with harness.mounted("notify", webhook(server.url)):
            await harness.emit("orchestrator:complete", **done)
        assert server.requests == []
        async with harness.mounted("notify", {**webhook(server.url), "sub_agents": True}):
            await harness.emit("orchestrator:complete", **done)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("hook", "sentence"),
    [
        ({"url": "ftp://x"}, "must be an address that begins with http:// or https://"),
        ({"url": "http://a b"}, "no address may have"),
        ({"url": "http://a:port"}, "webhooks.0.url"),
        ({"url": "http://a", "headers": {"X": "a\r\nY: b"}}, "one line of ASCII"),
        ({}, "option 'webhooks.0.url' is required"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, hook: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, {"webhooks": [hook]})
    assert sentence in str(caught.value)


ASKED: dict[str, Any] = {
    "notification_type": "approval_required",
    "message": "Write it?",
    "metadata": {"hook": "gate", "tool_name": "Write"},
}


async def test_a_waiting_approval_comes_with_a_link_that_shows_it(harness: Harness) -> None:
    """In the shape that the service takes; the id is looked up beside the agent."""
    asked: list[tuple[str, str]] = []

    async def find(hook: str, prompt: str, seconds: float) -> str:
        asked.append((hook, prompt))
        return "ab12"

    harness.coordinator.register_capability("approval.find", find)
    with receiver() as server:
        config = {**webhook(server.url, shape="slack"), "page": "https://team.test/"}
        async with harness.mounted("notify", config):
            await harness.emit("user:notification", **ASKED)
            await wait_until(lambda: bool(server.requests))
    assert asked == [("gate", "Write it?")]
    text = json.loads(server.requests[0][2])["text"]
    assert "<https://team.test/approvals/ab12|Open it>" in text


async def test_without_a_place_to_look_there_is_no_link(harness: Harness) -> None:
    """A session that asks at the terminal, and a notification that asks nothing."""
    with receiver() as server:
        config = {**webhook(server.url), "page": "https://team.test"}
        async with harness.mounted("notify", config):
            await harness.emit("user:notification", **ASKED)
            await wait_until(lambda: bool(server.requests))
    assert "link" not in json.loads(server.requests[0][2])


async def test_an_approval_that_is_not_there_in_time_leads_to_the_page(harness: Harness) -> None:
    """Where everything that waits is listed."""

    async def find(hook: str, prompt: str, seconds: float) -> None:
        return None

    harness.coordinator.register_capability("approval.find", find)
    with receiver() as server:
        config = {**webhook(server.url), "page": "https://team.test"}
        async with harness.mounted("notify", config):
            await harness.emit("user:notification", **ASKED)
            await wait_until(lambda: bool(server.requests))
    assert json.loads(server.requests[0][2])["link"] == "https://team.test"


@pytest.mark.parametrize(
    "wrong", [{"page": "team.test"}, {"webhooks": [{"url": "https://h.test", "shape": "irc"}]}]
)
async def test_a_page_is_an_address_and_a_shape_is_known(
    harness: Harness, wrong: dict[str, Any]
) -> None:
    """Anything else is said at the mount."""
    with pytest.raises(ModuleLoadError, match="hooks-notify"):
        await mount(harness.coordinator, wrong)
