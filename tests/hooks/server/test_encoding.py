"""Answers and errors as JSON, and figures as text."""

from __future__ import annotations

import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from pydantic import TypeAdapter

from amplifier_hooks.approvals import errors
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalPage,
    DescribedApproval,
    Identity,
    RuleList,
    SessionEntry,
    SessionRecord,
    Status,
)
from amplifier_hooks.approvals.stores.statistics import HookFigures
from amplifier_hooks.server.answers import (
    ConflictAnswer,
    DescribedSession,
    Health,
    Me,
    NewCode,
    NewToken,
    RecordPage,
    SessionPage,
    StatisticsAnswer,
    TokenList,
    TrailAnswer,
)
from amplifier_hooks.server.encoding import (
    ERRORS,
    answer,
    describe_approval,
    describe_error,
    describe_for_agent,
    encode,
)
from amplifier_hooks.server.routes.statistics import OTHERS, write_metrics
from tests.hooks.server.world import World, allow, make_request


def make(status: Status = "pending") -> Approval:
    return Approval(
        id="id",
        nonce="nonce",
        status=status,
        request=make_request(),
        created=1.0,
        deadline=2.0,
        updated=1.0,
        seconds_left=1.0,
    )


def test_values_of_any_kind_become_objects_and_lists():
    """Sets are sorted, so that the same value is the same text."""
    identity = Identity("ann", frozenset({"read", "decide"}))
    assert json.loads(encode({"who": identity, "list": (1, None)})) == {
        "who": {"name": "ann", "scopes": ["decide", "read"]},
        "list": [1, None],
    }


def test_an_approval_has_its_scopes_while_it_is_pending():
    """What a person is about to grant is shown in words before the click."""
    assert describe_approval(make())["scopes"][0]["id"] == "exact"
    assert "scopes" not in describe_approval(make("denied"))
    nested = json.loads(encode({"approvals": [make()]}))
    assert nested["approvals"][0]["request"]["options"][1]["label"] == "Allow once"


@pytest.mark.parametrize("text", ["plain", "ä🐍", "\ud800", "ä\ud800\0\u2028"])
def test_every_text_comes_back_as_it_was(text: str):
    """Also half of a surrogate pair, which UTF-8 cannot hold."""
    encoded = encode({"text": text})
    assert json.loads(encoded.encode()) == {"text": text}


def test_what_is_not_json_is_an_error_here_and_not_at_the_client():
    """NaN would end the page's parser."""
    with pytest.raises(ValueError, match="JSON"):
        encode(float("nan"))


def test_an_answer_is_json_with_its_status():
    """201 for what was made."""
    made = answer({"a": 1}, 201)
    assert (made.status_code, made.body, made.media_type) == (201, b'{"a":1}', "application/json")


def test_the_nonce_can_be_hidden():
    """Nothing else changes."""
    described = describe_for_agent(make())
    assert described["nonce"] == ""
    assert "scopes" not in described
    assert described["request"] == make().request.model_dump()


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.BadRequest("x"), 400, "bad_request"),
        (errors.NotAllowed("x"), 403, "not_allowed"),
        (errors.NotFound("x"), 404, "not_found"),
        (errors.Conflict("x"), 409, "conflict"),
        (errors.TooMany("x"), 429, "too_many"),
        (errors.StoreUnavailable("x"), 503, "unavailable"),
        (errors.StoreError("x"), 503, "unavailable"),
    ],
)
def test_each_error_of_the_store_has_a_status(error: errors.StoreError, status: int, code: str):
    """With a code for programs and the store's sentence for people."""
    found, body = describe_error(error)
    assert (found, body) == (status, {"error": {"code": code, "message": "x"}})
    assert found in ERRORS


async def test_a_conflict_says_how_it_stands(world: World):
    """With the approval, where there is one."""
    asked = await world.ask()
    assert describe_error(errors.Conflict("x", asked))[1]["approval"] is asked


async def test_a_wrong_field_is_named_without_being_repeated(world: World):
    """A secret in the wrong field does not come back."""
    async with await world.person() as person:
        body = {"name": "x", "scopes": ["read"], "password": "hunter2"}
        answer = await person.post("/tokens", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid"
    assert "password" in answer.json()["error"]["message"]
    assert "hunter2" not in answer.text


async def test_a_failure_of_ours_is_500_with_a_sentence_and_nothing_else(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """The log has the traceback; the client has not."""

    async def fail(*_: object, **__: object):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(world.store.rules, "list", fail)
    token = await world.token("ann", "read")
    transport = httpx2.ASGITransport(app=world.app, raise_app_exceptions=False)
    base = f"{world.address}/api/v1"
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url=base, headers=headers) as client:
        answer = await client.get("/rules")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "failure"
    assert "secret detail" not in answer.text
    assert "secret detail" in caplog.text


async def test_answers_fit_their_description(world: World):
    """Clients are written by the description."""
    asked = await world.ask()
    async with await world.person() as person:
        page = ApprovalPage.model_validate_json((await person.get("/approvals")).text)
        path = f"/approvals/{asked.id}/decision"
        decision = allow(asked, standing={"scope": "exact"})
        decided = await person.post(path, json=decision)
        late = await person.post(path, json=allow(asked, key="later"))
        rules = RuleList.model_validate_json((await person.get("/rules")).text)
    assert page.approvals[0].scopes[0].id == "exact"
    described = DescribedApproval.model_validate_json(decided.text)
    assert (described.status, described.scopes) == ("approved", ())
    assert ConflictAnswer.model_validate_json(late.text).approval.id == asked.id
    assert rules.rules[0].approval_id == asked.id


async def test_answers_about_access_fit_their_description(world: World):
    """Clients are written by the description."""
    async with await world.person() as person:
        assert Me.model_validate_json((await person.get("/me")).text).name == "ann"
        made = await person.post("/tokens", json={"name": "x", "scopes": ["read"]})
        assert NewToken.model_validate_json(made.text).token.name == "x"
        listed = TokenList.model_validate_json((await person.get("/tokens")).text)
        assert {one.name for one in listed.tokens} == {"ann", "x"}
        code = await person.post("/codes", json={"name": "x"})
        assert NewCode.model_validate_json(code.text).code
        assert Health.model_validate_json((await person.get("/health")).text).status == "ok"


async def test_answers_about_sessions_fit_their_description(world: World):
    """Clients are written by the description."""
    await world.ask()
    await world.store.sessions.save(SessionEntry(id="session-1", user="bot", status="waiting"))
    await world.store.records.publish(
        "session-1", [SessionRecord(number=1, time=1.0, type="dispatch")]
    )
    async with await world.person() as person:
        page = SessionPage.model_validate_json((await person.get("/sessions")).text)
        one = await person.get("/sessions/session-1")
        records = await person.get("/sessions/session-1/records")
        trail = await person.get("/sessions/session-1/trail")
        figures = await person.get("/statistics")
    assert page.sessions[0].id == "session-1"
    described = TypeAdapter(DescribedSession).validate_json(one.text)
    assert described.approval_required[0].request.session_id == "session-1"
    assert RecordPage.model_validate_json(records.text).records[0].number == 1
    assert TrailAnswer.model_validate_json(trail.text).source == "none"
    assert StatisticsAnswer.model_validate_json(figures.text).overrulings[0].asked == 1


NOBODY = HookFigures(0, "", "", "")
STATES = {"approvals": {"pending": 2, "approved": 1}, "sessions": {"running": 3}}

LABELS = ("hook", "event", "action", "outcome", "status", "le")


def read(text: bytes) -> dict[tuple[str, ...], float]:
    """The samples by name and label values, as a client of Prometheus reads them."""
    found = {}
    for family in text_string_to_metric_families(text.decode()):
        assert family.type != "unknown", f"{family.name} has no type"
        for sample in family.samples:
            values = (sample.labels[label] for label in LABELS if label in sample.labels)
            key = (sample.name.removeprefix("amplifier_"), *values)
            assert key not in found, "each series once"
            found[key] = sample.value
    return found


def test_what_hooks_did_is_told_by_hook_event_and_action() -> None:
    """An answer in the shadow is a continue, and told apart."""
    figures = [
        HookFigures(0, "h", "tool:pre", "continue", 5),
        HookFigures(0, "h", "tool:pre", "shadow:deny", 2, failures=1, timeouts=1),
        HookFigures(0, "h", "tool:pre", "ask_user", 3, asked=3, allowed=2, refused=1, overruled=2),
        HookFigures(0, "h", "tool:post", "inject_context", 1, injected_tokens=40),
    ]
    told = read(write_metrics(figures, NOBODY, STATES))
    assert told["hook_calls_total", "h", "tool:pre", "continue"] == 7
    assert told["hook_calls_total", "h", "tool:pre", "ask_user"] == 3
    assert told["hook_shadowed_total", "h", "tool:pre", "deny"] == 2
    assert told["hook_failures_total", "h"] == told["hook_timeouts_total", "h"] == 1
    assert told["hook_asked_total", "h"] == 3
    assert told["hook_overruled_total", "h"] == told["hook_decisions_total", "h", "allowed"] == 2
    assert told["hook_decisions_total", "h", "expired"] == 0
    assert told["hook_injected_tokens_total", "h"] == 40
    assert (told["approvals", "approved"], told["approvals_waiting",]) == (1, 2)
    assert told["sessions", "running"] == 3


def test_what_is_not_known_of_questions_is_a_gauge() -> None:
    """A result may still come, and a counter never becomes less."""
    asked = {"asked": 4, "handed_over": 3, "not_run": 1, "not_known": 1, "allowed": 1}
    figures = [
        HookFigures(0, "h", "tool:pre", "ask_user", 4, **asked),
        HookFigures(0, "h", "tool:pre", "deny", 1, contradicted=1),
    ]
    text = write_metrics(figures, NOBODY, STATES)
    told = read(text)
    assert told["hook_handed_over_total", "h"] == 3
    assert (
        told["hook_handed_over", "h", "not_run"] == told["hook_handed_over", "h", "not_known"] == 1
    )
    assert told["hook_contradicted_total", "h"] == 1
    assert b"# TYPE amplifier_hook_handed_over gauge" in text


def test_times_are_a_histogram_whose_last_bucket_has_all() -> None:
    """In seconds; figures from before times were counted are left out."""
    quick = HookFigures(0, "h", "e", "deny", 2, 4.0, timed=2, within_1=1, within_5=2, within_25=2)
    old = HookFigures(0, "old", "e", "deny", 9)
    told = read(write_metrics([quick, old], NOBODY, {}))
    name = "hook_duration_seconds"
    assert told[f"{name}_bucket", "h", "0.001"] == 1
    assert told[f"{name}_bucket", "h", "0.005"] == 2
    assert told[f"{name}_bucket", "h", "+Inf"] == told[f"{name}_count", "h"] == 2
    assert told[f"{name}_sum", "h"] == 0.004
    assert (f"{name}_count", "old") not in told


def test_names_that_agents_made_up_do_not_break_the_format() -> None:
    """Quotes, line ends and backslashes arrive as they are, half a character as a "?"."""
    odd = 'a"b\\n\n} 1\ud800'
    told = read(write_metrics([HookFigures(0, odd, "e", "deny", 1)], NOBODY, {}))
    assert told["hook_calls_total", odd.replace("\ud800", "?"), "e", "deny"] == 1


def test_what_is_not_told_apart_is_one_series() -> None:
    """So that made-up names do not fill the memory of whoever scrapes."""
    rest = HookFigures(0, "", "", "", 7)
    told = read(write_metrics([], rest, {}))
    assert told["hook_calls_total", OTHERS, OTHERS, OTHERS] == 7


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), unique=True))
def test_any_name_is_one_label(names: list[tuple[str, str, str]]) -> None:
    """Quotes, backslashes and new lines are escaped."""
    figures = [HookFigures(0, *one, 1) for one in names]
    told = read(write_metrics(figures, NOBODY, STATES))
    calls = sum(value for key, value in told.items() if key[0] == "hook_calls_total")
    assert calls == len(names)
    assert {key[1] for key in told if key[0] == "hook_failures_total"} == {one[0] for one in names}
