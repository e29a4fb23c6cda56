"""What a person allowed for always answers for them, until it is over or taken back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from amplifier_core.approval import ApprovalAnswer, ApprovalGate
from amplifier_hooks.approvals.models import StandingWish
from amplifier_hooks.approvals.remote import RemoteApproval, answer_by_rule
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import answer, list_states, make_asker

ALWAYS = StandingWish(scope="exact", seconds=3600)


async def grant(store: Store, system: RemoteApproval, scope: StandingWish = ALWAYS) -> str:
    """Have a person allow the question for always; the id of the rule."""
    asking = asyncio.create_task(system.decide(question()))
    decided = await answer(store, standing=scope)
    await asking
    return decided.rule_id


def question(file: str = "a.txt", digest: str = "d1"):  # type: ignore[no-untyped-def]
    return replace(ask("Write", file_path=file, content="x"), session_id="s", digest=digest)


async def test_a_standing_rule_answers_in_another_session_and_is_named(
    store: Store, tmp_path: Path
) -> None:
    """The gate sees that a rule decided, and nobody is asked."""
    system = RemoteApproval(store.as_link(), make_asker(tmp_path))
    rule = await grant(store, system)
    again = replace(question(), session_id="tomorrow", tool_call_id="c9")
    decision = await ApprovalGate(system).ask(again)
    assert (decision.allowed, decision.how) == (True, "rule")
    assert decision.by == f"rule:standing {rule}"
    assert await list_states(store) == ["approved"]


async def test_another_input_is_asked_about_and_so_is_everything_after_a_revocation(
    store: Store, tmp_path: Path
) -> None:
    """A rule covers what the person has read, for as long as they want it."""
    system = RemoteApproval(store.as_link(), make_asker(tmp_path))
    rule = await grant(store, system)
    assert await system.find_standing(question(digest="d2")) is None
    await store.rules.revoke(rule, "ann")
    assert await system.find_standing(question()) is None


async def test_a_rule_for_a_folder_is_judged_where_the_files_are(
    store: Store, tmp_path: Path
) -> None:
    """A link that leads out of the folder since then is asked about."""
    (tmp_path / "docs").mkdir()
    system = RemoteApproval(store.as_link(), make_asker(tmp_path))
    asking = asyncio.create_task(system.decide(question("docs/a.txt")))
    await answer(store, standing=StandingWish(scope=f"below:{tmp_path}/docs", seconds=3600))
    await asking
    assert await system.find_standing(question("docs/b.txt", "d2")) is not None
    (tmp_path / "docs" / "out").symlink_to("/etc")
    assert await system.find_standing(question("docs/out/passwd", "d3")) is None
    assert await system.find_standing(question("docs/../b.txt", "d4")) is None


async def test_a_question_whose_default_is_yes_is_never_answered_by_a_rule(
    store: Store, tmp_path: Path
) -> None:
    """It needs none, and a rule must not outlive what the hook wants."""
    system = RemoteApproval(store.as_link(), make_asker(tmp_path))
    await grant(store, system)
    assert await system.find_standing(replace(question(), default="allow")) is None


def test_a_rule_says_yes_for_this_time_only() -> None:
    """Also where only an always was offered."""
    rule = type("Rule", (), {"id": "7"})()
    assert answer_by_rule(ask(), rule) == ApprovalAnswer("Allow once", by="rule:standing 7")
    only = replace(ask(), options=("Allow always", "Deny"))
    assert answer_by_rule(only, rule).option == "Allow once"
