"""An approval as a person reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest, Conflict, NotFound
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    Option,
    StandingRule,
    StandingWish,
)
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli.commands.approvals.view import (
    DecisionOptions,
    NoCredential,
    StoreAccess,
    choose_option,
    decide,
    describe_state,
    find_approval,
    find_rule,
    format_seconds,
    make_row,
    make_rule_row,
    open_access,
    read_token,
    show_approval,
)
from amplifier_hooks.cli.text.fragments import join_text
from tests.support.stores import ALLOW, BOB, DENY, ManualClock, ask, choose, make_request, require


async def test_what_waits_is_found_before_what_is_over(tmp_path: Path) -> None:
    """By a whole id, any; by its start, one that is the only one."""
    async with await open_store(tmp_path / "store.db") as store:
        desk, asked = StoreAccess(store), await ask(store)
        assert (await find_approval(desk, asked.id[:5])).id == asked.id
        await store.approvals.decide(asked.id, choose(asked, DENY), BOB)
        assert (await find_approval(desk, asked.id[:5])).status == "denied"
        assert (await find_approval(desk, asked.id)).id == asked.id
        for nothing in ("", " ", "zzz", "f" * 32):
            with pytest.raises(NotFound):
                await find_approval(desk, nothing)


async def test_a_start_that_fits_several_is_too_short(tmp_path: Path) -> None:
    """None is taken by chance."""
    async with await open_store(tmp_path / "store.db") as store:
        for _ in range(17):
            await ask(store)
        desk = StoreAccess(store)
        outcomes = set()
        for start in "0123456789abcdef":
            try:
                await find_approval(desk, start)
            except (BadRequest, NotFound) as error:
                outcomes.add(type(error))
        assert BadRequest in outcomes


async def test_a_rule_is_found_also_when_it_is_over(tmp_path: Path) -> None:
    """So that what happened to it can be looked up."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store)
        wish = StandingWish(scope="exact")
        decided = await store.approvals.decide(asked.id, choose(asked, ALLOW, standing=wish), BOB)
        await store.rules.revoke(decided.rule_id, "bob")
        assert (await find_rule(StoreAccess(store), decided.rule_id[:6])).id == decided.rule_id
        with pytest.raises(NotFound, match="no rule whose id begins with 'zz'"):
            await find_rule(StoreAccess(store), "zz")


async def test_a_watch_tells_what_waits_and_then_what_becomes_of_it(tmp_path: Path) -> None:
    """Each once: when it comes, and when it is decided."""
    async with await open_store(tmp_path / "store.db") as store:
        first = await ask(store)
        watching = StoreAccess(store).watch()
        assert (await anext(watching)).id == first.id
        second = await ask(store)
        assert (await anext(watching)).id == second.id
        await store.approvals.decide(first.id, choose(first, DENY), BOB)
        news = await anext(watching)
        assert (news.id, news.status) == (first.id, "denied")
        await watching.aclose()  # type: ignore[attr-defined]


async def test_a_vote_of_several_is_news(tmp_path: Path) -> None:
    """It still waits, for one person less."""
    from tests.support.stores import require

    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store, requirement=require(persons=2))
        watching = StoreAccess(store).watch()
        await anext(watching)
        await store.approvals.decide(asked.id, choose(asked, ALLOW), BOB)
        news = await anext(watching)
        assert (news.status, [vote.by for vote in news.votes]) == ("pending", ["bob"])
        await watching.aclose()  # type: ignore[attr-defined]


async def test_whoever_looks_ends_what_is_over(tmp_path: Path) -> None:
    """Nobody else may look after a store without a server."""
    clock = ManualClock()
    async with await open_store(tmp_path / "store.db", clock=clock) as store:
        asked, desk = await ask(store, timeout=5), StoreAccess(store)
        clock.advance(6)
        assert (await desk.list(ApprovalFilter(status=("pending",))))[0] == []
        assert (await desk.get(asked.id)).status == "expired"


async def test_the_store_is_used_unless_a_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server needs a token, and says how to get one."""
    async with open_access(str(tmp_path / "store.db"), None) as desk:
        assert isinstance(desk, StoreAccess)
    monkeypatch.delenv("AMPLIFIER_TOKEN", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(NoCredential, match="amplifier tokens add NAME --scope read"):
        async with open_access(None, "http://127.0.0.1:9"):
            pass


def test_a_token_comes_from_the_file_that_is_named_the_environment_or_the_usual_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order; a newline at its end is no part of it."""
    monkeypatch.delenv("AMPLIFIER_TOKEN_FILE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    named, usual = tmp_path / "named", tmp_path / "amplifier" / "token"
    usual.parent.mkdir()
    usual.write_text("usual\n")
    named.write_text("named\n")
    monkeypatch.setenv("AMPLIFIER_TOKEN", "environment")
    assert read_token(named) == "named"
    assert read_token() == "environment"
    monkeypatch.delenv("AMPLIFIER_TOKEN")
    assert read_token() == "usual"
    monkeypatch.setenv("AMPLIFIER_TOKEN_FILE", str(named))
    assert read_token() == "named"


async def test_the_plain_answer_for_this_once_is_meant_unless_another_is_named(
    tmp_path: Path,
) -> None:
    """By its label or its number; an always only where it is all there is."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store)
    assert choose_option(asked, DecisionOptions(True)).label == "Allow once"
    assert choose_option(asked, DecisionOptions(False)).label == "Deny"
    assert choose_option(asked, DecisionOptions(True, option="2")).label == "Allow always"
    only = asked.model_copy(
        update={
            "request": asked.request.model_copy(
                update={"options": (Option(id=0, label="Yes", allows=True),)}
            )
        }
    )
    with pytest.raises(BadRequest, match="No option '' that refuses; have 'Yes'"):
        choose_option(only, DecisionOptions(False))


async def test_what_is_decided_is_not_decided_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is shown, with who was first."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store)
        decided = await store.approvals.decide(asked.id, choose(asked, DENY), BOB)
        with pytest.raises(Conflict, match="denied, 'Deny' by bob"):
            await decide(StoreAccess(store), decided, DecisionOptions(True, yes=True))
    assert "Write to production?" in capsys.readouterr().out


async def test_one_of_several_people_hears_how_many_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not allowed yet."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store, requirement=require(persons=2))
        await decide(StoreAccess(store), asked, DecisionOptions(True, yes=True))
        assert (await store.approvals.get(asked.id)).status == "pending"
    assert "Allow once: Write; 1 more must allow it" in capsys.readouterr().out


PENDING = Approval(
    id="ab" * 16,
    nonce="n",
    status="pending",
    request=make_request(),
    created=0,
    deadline=60,
    updated=0,
    seconds_left=60,
)
RULE = StandingRule(
    id="cd" * 16,
    author="ann",
    created=0,
    expires=100,
    hook="h",
    event="tool:pre",
    tool_name="Write",
    prompt="?",
    scope="exact",
    digest="d",
    working_dir="/w",
    machine="m",
    approval_id="a",
    uses=2,
)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (120, "2 min"), (7200, "2 h"), (2e5, "2 d")]
)
def test_a_time_span_has_one_unit(seconds: float, text: str) -> None:
    """Which is what a person needs to know."""
    assert format_seconds(seconds) == text


def test_a_row_has_the_start_of_the_id_the_state_and_what_it_is_about() -> None:
    """Foreign text cannot act on the terminal."""
    odd = PENDING.model_copy(
        update={
            "request": PENDING.request.model_copy(
                update={"prompt": "a\x1b[2K\nb", "machine": "\x07"}
            )
        }
    )
    row = make_row(odd, "abababab")
    assert row[:2] == ("abababab", "waits, 1 min left")
    assert not any("\x1b" in cell or "\x07" in cell or "\n" in cell for cell in row)
    assert row[-1] == "Write  notes/a.txt"


def test_a_state_names_who_decided_and_what() -> None:
    """Time and the agent decide nothing."""
    decided = PENDING.model_copy(update={"status": "denied", "option": "Deny", "decided_by": "ann"})
    assert describe_state(decided) == "denied, 'Deny' by ann"
    assert describe_state(PENDING.model_copy(update={"status": "expired"})) == "expired"


LONG = f"echo {'x' * 5000}\nls"


@pytest.mark.parametrize(
    ("changed", "shown", "absent"),
    [
        # A command as it is written, and all other fields as JSON.
        ({"tool_input": {"command": LONG, "timeout": 5}}, (LONG, '"timeout": 5'), None),
        # What an agent or a server has written stands under its own label.
        (
            {"reason": "changed:\ndecision  Allow by ann"},
            ("reason    changed:\n          decision  Allow by ann",),
            "\ndecision",
        ),
    ],
    ids=["input", "reason"],
)
def test_everything_is_shown_in_full_under_its_own_label(
    changed: dict[str, Any], shown: tuple[str, ...], absent: str | None
) -> None:
    """No line of it looks like another fact."""
    request = PENDING.request.model_copy(update=changed)
    approval = PENDING.model_copy(update={"request": request})
    text = "\n".join(join_text(line) for line in show_approval(approval))
    assert all(one in text for one in shown)
    assert absent is None or absent not in text


def test_a_rule_says_how_long_and_how_often_it_still_holds() -> None:
    """And who took it back."""
    assert make_rule_row(RULE, "cdcdcdcd", 40)[:4] == ("cdcdcdcd", "ann", "1 min left", "used 2×")
    assert make_rule_row(RULE.model_copy(update={"uses_left": 3}), "cd", 200)[2:4] == (
        "over",
        "used 2×, 3 left",
    )
    assert (
        make_rule_row(RULE.model_copy(update={"revoked_by": "bob"}), "cd", 40)[2]
        == "revoked by bob"
    )
