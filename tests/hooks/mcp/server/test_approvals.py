"""What waits for a person, and what people decided."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Vote
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.mcp.server.approvals import ApprovalStore, Reader, show_approval
from amplifier_hooks.mcp.server.current_bundle import CurrentBundle
from amplifier_hooks.mcp.server.presenter import BRIEF, FULL, build_presenter
from amplifier_hooks.mcp.server.tool import Refused
from tests.hooks.mcp.server.world import HOSTILE, KEYED, SECRET, World, read
from tests.support.stores import ask, make_request


async def test_the_approvals_of_this_folder_are_listed_without_secrets(
    full_world: World,
) -> None:
    """Those of other folders only to whoever says --all."""
    reply = await full_world.call("list_approvals")
    newest, waiting = read(reply)["approvals"]
    assert (waiting["status"], newest["status"]) == ("pending", "denied")
    assert waiting["question"] == "Send [REDACTED:github-token]?"
    assert (newest["decision"]["by"], newest["decision"]["via"]) == ("bob", "cli")
    assert reply.text.startswith("2 approvals, 1 waiting for a person.\nTexts in quotes")
    for secret in (SECRET, KEYED, "vault"):
        assert secret not in reply.text
    everything = read(await full_world.call("list_approvals", everything=True))["approvals"]
    assert everything[0]["question"] == "Empty the vault?"


async def test_approvals_of_another_machine_are_not_shown(world: World) -> None:
    """In a store on a server, its folders may have the same names."""
    elsewhere = await world.ask(machine="another-machine")
    assert read(await world.call("list_approvals"))["approvals"] == []
    assert (await world.call("get_approval", {"id": elsewhere.id})).is_error
    everything = await world.call("get_approval", {"id": elsewhere.id}, everything=True)
    assert read(everything)["approval"]["id"] == elsewhere.id


async def test_filters_choose_and_pages_follow_one_another(world: World) -> None:
    """Also where many in between are of other folders."""
    questions: list[tuple[Path, dict[str, str]]] = []
    for number, tool in enumerate([*["Bash"] * 6, "Write"]):
        questions.append((world.project, {"session_id": f"s{number % 2}", "tool_name": tool}))
        questions.append((world.other, {}))
    await world.ask_all(questions)
    seen: list[str] = []
    cursor = ""
    async with world.open() as toolbox:
        while True:
            page = read(await toolbox.call("list_approvals", {"limit": 3, "cursor": cursor}))
            seen += [one["id"] for one in page["approvals"]]
            cursor = page["next_cursor"]
            if not cursor:
                break
        assert len(seen) == len(set(seen)) == 7
        for arguments, count in (
            ({"session": "s1"}, 3),
            ({"tool": "Write"}, 1),
            ({"status": ["denied"]}, 0),
            ({"status": ["pending"], "hook": "production-guard"}, 7),
        ):
            assert len(read(await toolbox.call("list_approvals", arguments))["approvals"]) == count


async def test_one_is_shown_in_full_by_its_id_or_the_beginning_of_it(world: World) -> None:
    """What others wrote stays in quotes on its line."""
    approval = await world.ask(reason=HOSTILE)
    for start in (approval.id, approval.id[:8]):
        reply = await world.call("get_approval", {"id": start})
        assert read(reply)["approval"]["id"] == approval.id
    lines = reply.text.splitlines()
    assert not any(line.startswith("answer:") for line in lines)
    assert approval.nonce not in reply.text


async def test_an_id_of_none_is_refused(full_world: World) -> None:
    """Also one that a database could take for a pattern."""
    async with full_world.open() as toolbox:
        for name in ("nothing", "%%%%", "____", "../../etc", "' OR 1=1 --"):
            reply = await toolbox.call("get_approval", {"id": name})
            assert reply.is_error
            assert reply.text.startswith(f"No approval {name!r} in ")


async def test_several_with_the_same_beginning_are_named(world: World) -> None:
    """The caller can choose one of them."""
    for number, one in enumerate(await world.ask_all([(world.project, {})] * 2)):
        with closing(sqlite3.connect(world.store)) as own, own:
            own.execute("UPDATE approvals SET id = ? WHERE id = ?", (f"same-{number}", one.id))
    reply = await world.call("get_approval", {"id": "same"})
    assert reply.text in (
        "Several approvals begin with 'same': same-0, same-1",
        "Several approvals begin with 'same': same-1, same-0",
    )


async def test_a_cursor_that_is_none_is_refused(full_world: World) -> None:
    """With what would do."""
    reply = await full_world.call("list_approvals", {"cursor": "elsewhere"})
    assert "use the `next` of a page" in reply.text


async def test_a_page_of_large_questions_ends_early(world: World) -> None:
    """And the next one goes on behind it."""
    wide = {f"field {number}": "word " * 100 for number in range(20)}
    await world.ask_all([(world.project, {"tool_input": wide})] * 12)
    page = read(await world.call("list_approvals", {"limit": 50}))
    assert 1 < len(page["approvals"]) < 12
    rest = {"limit": 50, "cursor": page["next_cursor"]}
    after = read(await world.call("list_approvals", rest))
    assert len(page["approvals"]) + len(after["approvals"]) == 12


async def test_it_is_said_when_questions_also_go_to_a_server(world: World) -> None:
    """This machine's store does not have those."""
    section = {"via": ["store", "server"], "server": "https://a.example", "token": "t0ken"}
    world.save_bundle(approval=section)
    told = read(await world.call("list_approvals"))["summary"]
    assert told.endswith("Questions that went to the server of the bundle are not among them.")


PRESENTER = build_presenter(None)
WAITING = Approval(
    id="a1",
    nonce="n0nce-of-this-question",
    status="pending",
    request=make_request(tool_input={"command": f"send {SECRET}", "password": KEYED}),
    created=1_800_000_000.0,
    deadline=1_800_000_060.0,
    updated=1_800_000_000.0,
    seconds_left=59.5,
    fence=7,
)


def test_nothing_that_helps_to_decide_is_shown() -> None:
    """Not the nonce, not the keys, not the claim; nor what the input keeps secret."""
    shown = show_approval(WAITING, PRESENTER, FULL).model_dump_json()
    for hidden in (WAITING.nonce, WAITING.request.key, SECRET, KEYED, "fence", "nonce", "digest"):
        assert hidden not in shown
    assert WAITING.id in shown


def test_a_question_whose_time_is_over_counts_as_expired() -> None:
    """Nobody may have swept the store, and this server cannot."""
    assert show_approval(WAITING, PRESENTER, BRIEF).seconds_left == 59
    late = show_approval(WAITING.model_copy(update={"seconds_left": 0.0}), PRESENTER, BRIEF)
    assert (late.status, late.seconds_left) == ("expired", None)


def test_a_decision_is_shown_with_who_made_it_and_their_words() -> None:
    """And the input that was allowed in place of the one asked about."""
    decided = WAITING.model_copy(
        update={
            "status": "approved",
            "option": "Allow once",
            "decided_by": "bob",
            "decided_via": "web",
            "decided_at": 1_800_000_030.0,
            "comment": f"fine, but not {SECRET}",
            "edited_input": {"command": "send nothing"},
            "votes": (Vote(by="bob", via="web", at=1_800_000_030.0, option="Allow once"),),
        }
    )
    shown = show_approval(decided, PRESENTER, BRIEF)
    assert shown.decision is not None
    assert (shown.decision.by, shown.decision.option) == ("bob", "Allow once")
    assert shown.decision.comment == "fine, but not [REDACTED:github-token]"
    assert shown.decision.edited_input == {"command": "send nothing"}
    assert shown.decision.at == "2027-01-15T08:00:30+00:00"
    assert shown.allowed_by == ["bob"]


def test_long_inputs_are_cut() -> None:
    """A page holds many of them."""
    long = WAITING.model_copy(
        update={"request": make_request(tool_input={"content": "word " * 10_000})}
    )
    assert len(json.dumps(show_approval(long, PRESENTER, BRIEF).model_dump())) < 3_000


def count(transaction: Transaction) -> int:
    return len(list_approvals(transaction, ApprovalFilter())[0])


async def test_a_store_that_was_named_comes_before_the_bundles_and_that_before_ones_own(
    world: World,
) -> None:
    """The bundle's only as long as a person trusts it: it could name any database."""
    for name, questions in (("named.db", 3), ("of-bundle.db", 2)):
        async with await open_store(world.home / name) as store:
            for _ in range(questions):
                await ask(store)
    await world.ask()
    section = {"via": "store", "store": str(world.home / "of-bundle.db")}
    world.save_bundle(approval=section)
    bundle = CurrentBundle(world.project)
    assert await ApprovalStore(bundle, str(world.home / "named.db")).read(count) == 3
    assert await ApprovalStore(bundle).read(count) == 2
    world.save_bundle(trusted=False, approval=section, description="changed")
    assert await ApprovalStore(CurrentBundle(world.project)).read(count) == 1


async def test_what_is_wrong_with_a_store_is_said(world: World) -> None:
    """With its address."""
    (world.home / "notes.db").write_text("milk, eggs and so on, which is no database of anybody")
    bundle = CurrentBundle(world.project)
    with pytest.raises(Refused, match=r"notes\.db does not work"):
        await ApprovalStore(bundle, str(world.home / "notes.db")).read(count)
    with pytest.raises(Refused, match="use a path"):
        await ApprovalStore(bundle, "mysql://host/base").read(count)


async def test_a_store_that_is_not_there_is_not_made(world: World) -> None:
    """Nobody has asked anything yet."""
    store = ApprovalStore(CurrentBundle(world.project))
    assert await store.read(count) is None
    await store.close()
    assert not world.store.exists()


def test_what_opens_a_store_here_has_no_method_that_writes() -> None:
    """Reading and closing is all."""
    assert {name for name in vars(Reader) if not name.startswith("_")} == {"read", "close"}
