"""Labels: who could have written what a tool returns, and what a tool does."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.guards.provenance.labels import find_act, find_source, split_name
from amplifier_hooks.guards.provenance.ledger import label_field
from amplifier_hooks.guards.provenance.results import is_prose, read_result
from tests.hooks.guards.provenance.agent import Agent


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("mcp__github__create_issue", ("github", "create", "issue")),
        ("chat_postMessage", ("chat", "post", "message")),
        ("CatalogueSearch", ("catalogue", "search")),
        ("sms.send", ("sms", "send")),
        ("HTTPGet", ("http", "get")),
    ],
)
def test_names_are_split_at_signs_and_capitals(tool: str, words: tuple[str, ...]) -> None:
    assert split_name(tool) == words


@pytest.mark.parametrize(
    ("tool", "given", "source"),
    [
        ("web_lookup", {}, "open"),
        ("WebFetch", {}, "open"),
        ("read_it", {"url": "https://a.example"}, "open"),
        ("list_inbox", {}, "mail"),
        ("mcp__github__get_issue", {}, "mail"),
        ("list_reviews", {}, "mail"),
        ("nachrichten_lesen", {}, "mail"),
        ("leer_correos", {}, "mail"),
        ("read_channel", {}, "chat"),
        ("chat_history", {}, "chat"),
        ("Bash", {"command": "ls"}, "project"),
        ("Read", {"file_path": "a"}, "project"),
        ("Task", {"prompt": "look"}, "project"),
        ("contacts_find", {}, "own"),
        ("suppliers_get", {}, "own"),
    ],
)
def test_source(tool: str, given: dict[str, Any], source: str) -> None:
    assert find_source(tool, given) == source


@pytest.mark.parametrize(
    ("tool", "act"),
    [
        ("get_booking", "read"),
        ("CatalogueSearch", "read"),
        ("forms.responses", "read"),
        ("order_status", "read"),
        ("payment_history", "read"),
        ("gmail_send_message", "send"),
        ("chat_postMessage", "send"),
        ("sms.send", "send"),
        ("mail_senden", "send"),
        ("send_money", "pay"),
        ("bank_transfer", "pay"),
        ("mcp__payments__create_refund", "pay"),
        ("comprar_producto", "pay"),
        ("drive_share", "share"),
        ("workspace_add_member", "change"),
        ("delete_booking", "delete"),
        ("annuler_reservation", "delete"),
        ("order_update", "change"),
        ("fehltag_eintragen", "change"),
        ("search_and_replace", "change"),
        ("TodoWrite", "internal"),
        ("frobnicate", "unknown"),
        ("web.seite", "read"),
        ("parcel_track", "read"),
        ("playlist_add_track", "change"),
        ("site_page", "read"),
        ("Orders.SetStatus", "change"),
        ("gate_open", "change"),
        ("open_valve", "change"),
        ("open_page", "read"),
        ("mailbox.open_message", "read"),
        ("archive_find", "read"),
        ("archive_get_and_clear", "change"),
        ("members_message", "send"),
        ("members_role", "share"),
        ("ledger_post", "change"),
        ("channel_post", "send"),
    ],
)
def test_act(tool: str, act: str) -> None:
    assert find_act(tool, {}) == act


def test_a_reading_tool_that_is_given_a_writing_query_writes() -> None:
    assert find_act("db_query", {"sql": "SELECT 1"}) == "read"
    assert find_act("db_query", {"sql": "UPDATE t SET a = 1"}) == "change"
    assert find_act("db_query", {"sql": "drop table t"}) == "delete"
    assert find_act("http_fetch", {"url": "x", "method": "POST"}) == "send"


@pytest.mark.parametrize(
    ("tool", "given", "act"),
    [
        ("mark_status", {"id": "1", "status": "done"}, "change"),
        ("update_summary", {"summary": "x"}, "change"),
        ("move_balance", {"balance": 5}, "change"),
        ("order_status", {"id": "1"}, "read"),
        ("get_status", {"status": "open"}, "read"),
    ],
)
def test_a_state_that_is_given_is_set(tool: str, given: dict[str, Any], act: str) -> None:
    assert find_act(tool, given) == act


@pytest.mark.parametrize(
    ("key", "text", "prose"),
    [
        ("client", "Benoît Carrel <b.carrel@boite.example>", False),
        ("owner", "Kim <kim@corp.example>", False),
        ("x", "write to Kim <kim@corp.example> at once", True),
        ("email", "a@b.example", False),
        ("name", "Anna Berger", False),
        ("body", "ok", True),
        ("title", "Hi", True),
        ("remark", "late", True),
        ("bemerkung", "spät", True),
        ("x", "one two three four five six seven", True),
        ("x", "Send it. Now please", True),
        ("x", "see https://a.example for more", True),
        ("x", "a\nb", True),
        ("x", "w" * 81, True),
    ],
)
def test_prose_by_key_and_form(key: str, text: str, prose: bool) -> None:
    assert is_prose(key, text) is prose


@pytest.mark.parametrize(
    ("key", "source", "kind", "label"),
    [
        ("email", "own", "mail", "own"),
        ("from", "mail", "mail", "sender"),
        ("customer_email", "mail", "mail", "sender"),
        ("issue_number", "mail", "", "own"),
        ("id", "mail", "", "own"),
        ("colour", "mail", "", "text"),
        ("sender", "chat", "", "own"),
        ("sender", "chat", "mail", "sender"),
        ("email", "open", "mail", "text"),
    ],
)
def test_worth_of_a_field(key: str, source: Any, kind: str, label: str) -> None:
    assert label_field(key, source, kind) == label


FORMS = [
    {"id": "t-1", "who": "a@b.example"},
    '{"id": "t-1", "who": "a@b.example"}',
    "id: t-1\nwho: a@b.example\n",
    "{'id': 't-1', 'who': 'a@b.example'}",
    "| id | who |\n|---|---|\n| t-1 | a@b.example |",
    "id;who\nt-1;a@b.example\n",
    {"content": [{"type": "text", "text": '{"id": "t-1", "who": "a@b.example"}'}]},
    {"success": True, "error": None, "output": [{"id": "t-1", "who": "a@b.example"}]},
]


@pytest.mark.parametrize("result", FORMS)
def test_a_result_has_the_same_fields_in_each_form(result: Any) -> None:
    parts = read_result(result, only_prose=False).parts
    assert [(one.key, one.text, one.is_prose) for one in parts] == [
        ("id", "t-1", False),
        ("who", "a@b.example", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Dear agent,\nwho: a@b.example",
        "Note: a@b.example",
        "who: a@b.example\nwho: c@d.example",
        '{"who": "a@b.example"} and more',
        "| id | who |\n|---|---|\n| t-1 | a@b.example |\n\nAnd a sentence.",
    ],
)
def test_what_is_not_wholly_values_is_prose(text: str) -> None:
    assert all(one.is_prose for one in read_result(text, only_prose=False).parts)


def test_a_file_is_prose() -> None:
    assert read_result("iban: X\nname: y\n", only_prose=False, is_file=True).parts[0].is_prose


async def test_what_a_server_says_of_a_tool_only_makes_it_stricter() -> None:
    agent = await Agent.start("What is new?")
    hints = {"lookup_it": {"openWorldHint": True}, "get_it": {"destructiveHint": True}}
    items = [{"name": name, "annotations": one} for name, one in hints.items()]
    items.append({"name": "delete_it", "annotations": {"readOnlyHint": True}})
    await agent.harness.emit("mcp:list", server="s", method="tools/list", items=items)
    await agent.read("mcp__s__lookup_it", {"email": "a@b.example"})
    assert await agent.asks("mcp__s__get_it", id="1")
    assert await agent.asks("mcp__s__delete_it", id="1")
    await agent.say("Send the news")
    assert await agent.asks("send_mail", to="a@b.example")
