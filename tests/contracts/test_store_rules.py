"""What every database promises of standing rules: they allow what a person granted, no more."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import ApprovalRequest, StandingRule, StandingWish
from amplifier_hooks.approvals.stores.scopes import describe_width
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import DENY, ManualClock, ask, decide, make_request, require


async def grant(
    store: Store, scope: str = "exact", seconds: float = 100.0, uses: Any = None, **facts: Any
) -> StandingRule:
    approval = await ask(store, **facts)
    wish = StandingWish(scope=scope, seconds=seconds, uses=uses)
    decided = await decide(store, approval, standing=wish)
    return await store.rules.get(decided.rule_id)


async def test_a_rule_allows_the_same_again_in_other_sessions(
    store: Store, clock: ManualClock
) -> None:
    """Exactly the same, and its use is counted; it says in words what it allows, and by whom."""
    rule = await grant(store)
    assert (rule.author, rule.uses, rule.expires) == ("ann", 0, clock.now + 100)
    assert "Write with exactly this input" in rule.description
    used = await store.rules.find_rule(make_request())
    assert (used.id, used.uses, used.last_used) == (rule.id, 1, clock.now)


async def test_a_rule_allows_nothing_else(store: Store) -> None:
    """Each fact on which it rests must be the same."""
    await grant(store)
    same = make_request()
    other: dict[str, Any]
    for other in (
        {"digest": "other"},
        {"prompt": "Another question of the same hook?"},
        {"hook": "other"},
        {"event": "prompt:submit"},
        {"tool_name": "Edit"},
        {"machine": "server"},
        {"requester": "another agent"},
        {"working_dir": "/home/ann/project/sub"},
        {"default": "allow"},
        {"requirement": require(persons=2)},
        {"requirement": require(scope="release")},
        {"requirement": require(requester_may_approve=False), "requester": "ANN"},
    ):
        assert await store.rules.find_rule(same.model_copy(update=other)) is None, other
    assert (await store.rules.find_rule(same)).uses == 1


async def test_a_rule_of_who_asks_does_not_allow_what_somebody_else_must(store: Store) -> None:
    """However the name is spelled; the same rule still allows what they may allow themselves."""
    rule = await grant(store, requester="ANN")
    assert rule.author == "ann"
    own = make_request(requester="ANN")
    by_others = own.model_copy(update={"requirement": require(requester_may_approve=False)})
    assert await store.rules.find_rule(by_others) is None
    assert (await store.rules.find_rule(own)).uses == 1


async def test_a_rule_by_somebody_else_allows_what_who_asks_must_not(store: Store) -> None:
    """That is what the requirement asks for."""
    await grant(store, requester="bot")
    strict = make_request(requester="bot", requirement=require(requester_may_approve=False))
    assert (await store.rules.find_rule(strict)).uses == 1


async def test_a_rule_for_a_folder_answers_the_question_it_was_made_for(store: Store) -> None:
    """Not the other questions of its hook, of which `hooks-rules` has as many as it has rules."""
    typos: dict[str, Any] = {"hook": "hooks-rules", "prompt": "Fix typos?"}
    rule = await grant(store, "below:/home/ann/project", **typos)
    assert "when hook hooks-rules asks “Fix typos?”" in rule.description
    other = {"file_path": "legal/contract.md", "content": "Fix typos?"}
    assert await store.rules.find_rule(make_request(**typos, digest="2", tool_input=other))
    legal = make_request(
        hook="hooks-rules",
        prompt="LEGAL: only with the lawyer's yes",
        digest="3",
        tool_input=other,
    )
    assert await store.rules.find_rule(legal) is None


async def test_a_rule_of_an_earlier_version_answers_only_its_own_prompt(store: Store) -> None:
    """It was meant for every question of its hook, and says that it is too wide."""
    rule = await grant(store, "below:/home/ann/project", prompt="Fix typos?")
    await store.engine.write(lambda one: one.run("UPDATE rules SET question = ''"))
    old = await store.rules.get(rule.id)
    assert describe_width(rule) == ""
    assert "it now answers only “Fix typos?”" in describe_width(old)
    assert await store.rules.find_rule(make_request(prompt="LEGAL?", digest="2")) is None
    assert await store.rules.find_rule(make_request(prompt="Fix typos?", digest="2"))


async def test_a_rule_ends_by_time_use_or_a_person(store: Store, clock: ManualClock) -> None:
    """Never past its expiry, its uses or its revocation, at the exact moment."""
    timed = await grant(store, seconds=100, digest="timed")
    counted = await grant(store, uses=3, digest="counted")
    revoked = await grant(store, digest="revoked")
    found = await asyncio.gather(
        *(store.rules.find_rule(make_request(digest="counted")) for _ in range(10))
    )
    assert sum(one is not None for one in found) == 3
    done = await store.rules.revoke(revoked.id, "bob")
    assert (done.revoked_by, done.revoked_at) == ("bob", clock.now)
    assert (await store.rules.revoke(revoked.id, "cho")).revoked_by == "bob"
    assert await store.rules.find_rule(make_request(digest="revoked")) is None
    clock.advance(99.999)
    assert await store.rules.find_rule(make_request(digest="timed")) is not None
    assert [one.id for one in await store.rules.list()] == [timed.id]
    clock.advance(0.001)
    assert await store.rules.find_rule(make_request(digest="timed")) is None
    assert await store.rules.list() == []
    ended = await store.rules.list(include_ended=True)
    assert {one.id for one in ended} == {timed.id, counted.id, revoked.id}
    with pytest.raises(NotFound):
        await store.rules.revoke("none", "bob")


async def test_a_rule_for_a_folder_covers_real_paths_below_it(store: Store, tmp_path: Path) -> None:
    """Not what only looks like it: no `..`, no link out, no neighbour with a longer name."""
    base = tmp_path.resolve()
    (base / "src" / "deep").mkdir(parents=True)
    (base / "src2").mkdir()
    (base / "src" / "out").symlink_to(base / "src2")
    facts: dict[str, Any] = {"working_dir": str(base), "tool_input": {"file_path": "src/a.py"}}
    await grant(store, f"below:{base}/src", **facts)

    def edit(path: str, **more: Any) -> ApprovalRequest:
        return make_request(
            **{**facts, "digest": "other", "tool_input": {"file_path": path}, **more}
        )

    for path in ("src/b.py", "src/deep/c.py", f"{base}/src/d.py", "src2/../src/e.py"):
        assert await store.rules.find_rule(edit(path)), path
    for path in ("src2/a.py", "src/../a.py", "src/out/a.py", "/etc/passwd", "", "src/\0", "~/a"):
        assert await store.rules.find_rule(edit(path)) is None, path
    assert await store.rules.find_rule(edit("src/b.py", tool_name="Bash")) is None


async def test_a_folder_that_became_a_link_is_no_longer_covered(
    store: Store, tmp_path: Path
) -> None:
    """An agent cannot point what was granted elsewhere."""
    base = tmp_path.resolve()
    (base / "src").mkdir()
    (base / "secret").mkdir()
    facts: dict[str, Any] = {"working_dir": str(base), "tool_input": {"file_path": "src/a.py"}}
    await grant(store, f"below:{base}/src", **facts)
    assert await store.rules.find_rule(make_request(**facts))
    (base / "src").rmdir()
    (base / "src").symlink_to(base / "secret")
    assert await store.rules.find_rule(make_request(**facts)) is None


async def test_a_rule_is_made_only_by_an_answer_that_allows(store: Store) -> None:
    """And only in a scope that was offered, for a time and a count that make sense."""
    wish = StandingWish(scope="exact")
    wrong: Any
    for facts, wrong in (
        ({}, {"option": DENY, "standing": wish}),
        ({"default": "allow"}, {"standing": wish}),
        ({"requirement": require(persons=2)}, {"standing": wish}),
        ({"editable": True}, {"standing": wish, "edited_input": {"file_path": "b"}}),
        ({}, {"standing": StandingWish(scope="below:/")}),
        ({}, {"standing": StandingWish(scope="below:/home/ann")}),
        ({}, {"standing": StandingWish(scope="exact", seconds=math.inf)}),
        ({}, {"standing": StandingWish(scope="exact", seconds=0)}),
        ({}, {"standing": StandingWish(scope="exact", seconds=1e12)}),
        ({}, {"standing": StandingWish(scope="exact", seconds=60, uses=0)}),
    ):
        approval = await ask(store, **facts)
        with pytest.raises(BadRequest):
            await decide(store, approval, **wrong)
        assert (await store.approvals.get(approval.id)).status == "pending"
    assert await store.rules.list(include_ended=True) == []
