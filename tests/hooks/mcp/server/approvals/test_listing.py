"""What waits for a person, and what people decided."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.hooks.mcp.server.world import HOSTILE, KEYED, SECRET, World, read


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
        for given, count in (
            ({"session": "s1"}, 3),
            ({"tool": "Write"}, 1),
            ({"status": ["denied"]}, 0),
            ({"status": ["pending"], "hook": "production-guard"}, 7),
        ):
            assert len(read(await toolbox.call("list_approvals", given))["approvals"]) == count


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
