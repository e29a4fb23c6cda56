"""What clients may send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.models import Choice, StandingWish
from amplifier_hooks.server.bodies import (
    ApprovalRequestBody,
    ClaimBody,
    CodeBody,
    Comment,
    DecisionBody,
    Id,
    LoginBody,
    Name,
    RecordsBody,
    RefusalsBody,
    RenewalBody,
    ResultBody,
    SessionBody,
    StandingBody,
    TokenBody,
    WitnessBody,
    check_text,
)
from tests.hooks.server.world import World, make_request

DECISION: dict[str, Any] = {"option": 1, "nonce": "n", "key": "k"}


def test_a_decision_is_a_choice():
    """With nothing in it that says who decides."""
    choice = DecisionBody(**DECISION, comment="c", standing=StandingBody(scope="exact"))
    assert isinstance(choice, Choice)
    assert (choice.option, choice.nonce, choice.key, choice.comment) == (1, "n", "k", "c")
    assert isinstance(choice.standing, StandingWish)
    assert DecisionBody(**DECISION).standing is None


@pytest.mark.parametrize(
    "option",
    [None, "", "deny", "DENY", "Allow ", "\u0410llow", True, 1.0, [1], -1, 1001, "x" * 10**6],
)
def test_an_odd_decision_value_is_refused(option: object):
    """Missing or odd decision value: a closed set, everything else is an error."""
    with pytest.raises(ValidationError):
        DecisionBody(**{**DECISION, "option": option})


@pytest.mark.parametrize("field", ["by", "decided_by", "via", "scopes", "status"])
def test_unknown_fields_are_refused(field: str):
    """Identity from the authenticated channel only."""
    with pytest.raises(ValidationError, match="Extra inputs"):
        DecisionBody(**{**DECISION, field: "ann"})


@pytest.mark.parametrize(
    "wish", [{"seconds": 0}, {"seconds": -1}, {"seconds": float("inf")}, {"uses": 0}, {"uses": 1.5}]
)
def test_a_rule_has_an_end(wish: dict[str, Any]):
    """No rule for ever, and none for nothing."""
    with pytest.raises(ValidationError):
        StandingBody(scope="exact", **wish)


def test_lists_have_limits():
    """Every limit holds at its edge."""
    one: Any = {"id": "a", "nonce": "n"}
    assert len(RefusalsBody(approvals=[one] * 500, key="k").approvals) == 500
    for count in (0, 501):
        with pytest.raises(ValidationError):
            RefusalsBody(approvals=[one] * count, key="k")
    assert TokenBody(name="n", scopes=["read"] * 32).seconds is None
    for scopes in ([], ["read"] * 33):
        with pytest.raises(ValidationError):
            TokenBody(name="n", scopes=scopes)


def test_a_code_is_for_reading_and_deciding_unless_it_says_otherwise():
    """And lasts ten minutes."""
    assert CodeBody(name="n").scopes == ["read", "decide"]
    assert CodeBody(name="n").seconds == 600
    with pytest.raises(ValidationError):
        CodeBody(name="n", seconds=86_401)
    with pytest.raises(ValidationError):
        LoginBody(code="")


def parse(**changes: Any) -> ApprovalRequestBody:
    return ApprovalRequestBody.model_validate_json(
        json.dumps({**json.loads(to_json(make_request())), **changes})
    )


def test_a_request_arrives_as_it_was_but_for_who_asks():
    """The token says who asks, whatever the body says."""
    request = parse(requester="root").asked_by("bot")
    assert request.requester == "bot"
    sent = make_request(requester="bot", key=request.key)
    assert to_json(request) == to_json(sent)


def test_a_key_is_the_agents_own():
    """Two agents never meet at a key; one agent always finds its own."""
    assert parse().asked_by("bot").key == parse().asked_by("bot").key
    assert parse().asked_by("bot").key != parse().asked_by("other").key
    assert parse(key="a").asked_by("bot").key != parse(key="b").asked_by("bot").key
    assert len(parse(key="k" * 1000).asked_by("b" * 200).key) <= 400


@pytest.mark.parametrize(
    "changes",
    [
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": 10**12},
        {"timeout": "60"},
        {"options": []},
        {"options": [{"id": number, "label": "x", "allows": False} for number in range(17)]},
        {"options": [{"id": 1, "label": "x" * 201, "allows": True}]},
        {"options": [{"id": 1, "label": "x", "allows": 1}]},
        {"prompt": "x" * (64 * 1024 + 1)},
        {"default": "maybe"},
        {"requirement": {"persons": 0}},
        {"session_id": ""},
        {"session_id": "a\0"},
        {"nonce": "n"},
    ],
)
def test_what_cannot_be_asked_is_refused(changes: dict[str, Any]):
    """Limits: prompt length, options count and length, timeout range."""
    with pytest.raises(ValidationError):
        parse(**changes)


def test_a_session_is_of_its_token_and_never_hosted():
    """What an agent says about that is passed over."""
    body = SessionBody(id="s", user="root", hosted=True, turns=3)
    entry = body.reported_by("bot")
    assert (entry.user, entry.hosted, entry.turns) == ("bot", False, 3)


@pytest.mark.parametrize("wrong", [{"id": ""}, {"status": "dead"}, {"turns": -1}, {"extra": 1}])
def test_what_is_no_session_is_refused(wrong: dict[str, Any]):
    """Closed sets."""
    with pytest.raises(ValidationError):
        SessionBody(**{"id": "s", **wrong})


def test_records_become_records():
    """In their order, at most a thousand."""
    one: Any = {"number": 1, "time": 2.5, "type": "dispatch", "body": {"a": 1}}
    (record,) = RecordsBody(records=[one]).records
    assert (record.number, record.time, record.body) == (1, 2.5, {"a": 1})
    assert len(RecordsBody(records=[one] * 1000).records) == 1000
    wrong: Any
    for wrong in ([one] * 1001, [{**one, "number": 0}], [{**one, "time": float("nan")}]):
        with pytest.raises(ValidationError):
            RecordsBody(records=wrong)


def test_a_checkpoint_has_a_size():
    """So has its proof."""
    assert WitnessBody(note="n").proof == []
    wrong: Any
    for wrong in ({"note": ""}, {"note": "x" * 70_000}, {"proof": ["a"] * 129}):
        with pytest.raises(ValidationError):
            WitnessBody(**{"note": "n", **wrong})


@pytest.mark.parametrize("lease", [0, -1, 86_401, float("inf"), float("nan"), "60"])
def test_a_lease_has_a_length(lease: Any):
    """Longer than a day nobody holds a call."""
    with pytest.raises(ValidationError):
        ClaimBody(session_id="s", tool_call_id="c", digest="d", lease=lease)
    with pytest.raises(ValidationError):
        RenewalBody(approvals=["a"], lease=lease)


@pytest.mark.parametrize("outcome", ["executed", "failed"])
def test_a_call_ends_in_one_of_two_ways(outcome: Any):
    """Unknown is what nobody said."""
    assert ResultBody(approvals=["a"], outcome=outcome).outcome == outcome


def test_everything_else_is_refused():
    """Another end, or of nothing."""
    wrong: Any
    for wrong in ({"outcome": "unknown"}, {"outcome": "approved"}, {"approvals": []}):
        with pytest.raises(ValidationError):
            ResultBody(**{"approvals": ["a"], "outcome": "failed", **wrong})


async def test_an_unknown_parameter_is_refused_with_the_nearest_one(world: World):
    """A filter with a slip would list everything."""
    await world.ask()
    async with await world.person() as person:
        slip = await person.get("/approvals?stattus=pending")
        far = await person.get("/approvals?zzz=1")
        none = await person.get("/tokens?limit=5")
        renamed = await person.get("/sessions/none?while=idle")
    assert (slip.status_code, slip.json()["error"]["code"]) == (422, "invalid")
    assert slip.json()["error"]["message"] == "'stattus' is no parameter; did you mean 'status'?"
    assert "there are: after, hook, limit, machine" in far.json()["error"]["message"]
    assert (none.status_code, "there are none here" in none.text) == (422, True)
    assert renamed.status_code == 404


async def test_every_route_refuses_a_parameter_that_it_does_not_have(world: World):
    """Also those that come later; what tells whether the server runs takes any address."""
    routes = [
        (method.upper(), path.removeprefix("/api/v1"))
        for path, methods in world.app.openapi()["paths"].items()
        for method in methods
    ]
    scopes = ("read", "decide", "run", "admin")
    async with await world.person("ann", *scopes) as person, await world.agent() as agent:
        for method, path in routes:
            client = agent if path.startswith(("/agent", "/witness")) else person
            concrete = path.replace("{id}", "x").replace("{fence}", "1").replace("{log}", "x")
            body: dict[str, Any] = {"json": {}} if method == "POST" else {}
            answer = await client.request(method, f"{concrete}?no_such=1", **body)
            wanted = 200 if path in ("/health", "/ready") else 422
            assert answer.status_code == wanted, (method, path, answer.text)
    assert len(routes) > 30


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/nothing", 404),
        ("POST", "/approvals/x/nothing", 404),
        ("POST", "/judge", 404),
        ("GET", "/nothing", 404),
        ("POST", "/approvals", 405),
        ("GET", "/approvals/x/decision", 405),
    ],
)
async def test_what_is_not_there_is_404_and_what_is_there_otherwise_405(
    world: World, method: str, path: str, status: int
):
    """With the methods that there are."""
    async with await world.person() as person:
        answer = await person.request(method, path)
    assert answer.status_code == status
    if status == 405:
        assert answer.headers["allow"] == ("GET" if method == "POST" else "POST")


@pytest.mark.parametrize("text", ["", "plain", "ä🐍\n\x1b", "\ufffe"])
def test_ordinary_text_passes_as_it_is(text: str):
    """Control characters too: they are shown visibly, not changed."""
    assert check_text(text) == text


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udfff"])
def test_what_a_column_cannot_hold_is_refused(text: str):
    """One database would refuse it, the other keep it: neither is asked."""
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        check_text(text)


@pytest.mark.parametrize(
    ("kind", "least", "most"), [(Name, 0, 400), (Id, 1, 400), (Comment, 0, 4000)]
)
def test_lengths_have_limits(kind: Any, least: int, most: int):
    """Every limit holds at its edge."""
    adapter: TypeAdapter[str] = TypeAdapter(kind)
    for length in (least, most):
        assert len(adapter.validate_python("x" * length)) == length
    wrong = [most + 1] + ([least - 1] if least else [])
    for length in wrong:
        with pytest.raises(ValidationError):
            adapter.validate_python("x" * length)
