"""hooks-redaction: no secret reaches a tool, a model, a screen or the trail."""

from __future__ import annotations

import json
import string
import time
from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.message_models import Message
from amplifier_foundation.hooks.redaction import FIELDS
from amplifier_foundation.policy.patterns import PatternSet, compile_pattern
from amplifier_foundation.policy.redactor import Redactor
from amplifier_foundation.policy.secret_shapes import SHAPES
from tests.support.harness import Harness

REDACTOR = Redactor(SHAPES, "test", "[REDACTED:{name}]")
TOGETHER = PatternSet(list(SHAPES.values()), "test")
ALONE = [compile_pattern(source, "test") for source in SHAPES.values()]
ALNUM = string.ascii_letters + string.digits


def letters(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most or least + 8)


def after(prefix: str, alphabet: str, least: int, most: int | None = None) -> Any:
    return letters(alphabet, least, most).map(lambda body: prefix + body)


URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
SECRETS: dict[str, Any] = {
    "private-key": letters(ALNUM + "+/", 64, 200).map(
        lambda b: f"-----BEGIN RSA PRIVATE KEY-----\n{b}\n-----END RSA PRIVATE KEY-----"
    ),
    "anthropic-key": after("sk-ant-api03-", URLSAFE, 24),
    "openrouter-key": after("sk-or-v1-", HEX, 64),
    "openai-key": after("sk-proj-", URLSAFE, 24, 120),
    "aws-access-key": after("AKIA", string.ascii_uppercase + "234567", 16, 16),
    "aws-secret-key": letters(ALNUM + "/+", 40, 40),
    "github-token": after("ghp_", ALNUM, 36, 36) | after("github_pat_", ALNUM + "_", 40),
    "gitlab-token": after("glpat-", URLSAFE, 20),
    "slack-token": after("xoxb-", string.digits + "-" + string.ascii_letters, 20, 60),
    "slack-webhook": after("https://hooks.slack.com/services/", ALNUM + "/", 24, 40),
    "discord-webhook": after("https://discord.com/api/webhooks/123456/", URLSAFE, 40, 60),
    "stripe-key": after("sk_live_", ALNUM, 24),
    "google-api-key": after("AIza", URLSAFE, 35, 35),
    "google-oauth": after("GOCSPX-", URLSAFE, 28),
    "npm-token": after("npm_", ALNUM, 36, 36),
    "pypi-token": after("pypi-", URLSAFE, 40, 100),
    "huggingface-token": after("hf_", ALNUM, 34),
    "sendgrid-key": st.tuples(letters(URLSAFE, 22), letters(URLSAFE, 43)).map(
        lambda p: f"SG.{p[0]}.{p[1]}"
    ),
    "twilio-key": after("SK", HEX, 32, 32),
    "mailgun-key": after("key-", HEX, 32, 32),
    "telegram-token": after("123456789:AA", URLSAFE, 33, 33),
    "digitalocean-token": after("dop_v1_", HEX, 64, 64),
    "shopify-token": after("shpat_", HEX, 32, 32),
    "vault-token": after("hvs.", URLSAFE, 24, 90),
    "databricks-token": after("dapi", HEX, 32, 32),
    "azure-account-key": letters(ALNUM + "+/", 86, 86).map(lambda body: body + "=="),
    "age-key": after("AGE-SECRET-KEY-1", string.ascii_uppercase + string.digits, 58, 58),
    "jwt": st.tuples(letters(URLSAFE, 16), letters(URLSAFE, 16), letters(URLSAFE, 20)).map(
        lambda p: f"eyJ{p[0]}.eyJ{p[1]}.{p[2]}"
    ),
    "url-password": letters(ALNUM + "!#$%&*+-=?@_~", 8, 30),
    "authorization": letters(ALNUM + "-._~+", 20, 60),
    "bearer-token": letters(ALNUM + "-._~+", 20, 60),
    "key-value": letters(ALNUM + "!#%*+-_~?@^.", 8, 30).map(lambda body: body + "7q!"),
}
FRAMES = {
    "aws-secret-key": "aws_secret_access_key = {}",
    "azure-account-key": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};",
    "url-password": "postgres://user:{}@host:5432/db",
    "authorization": "Authorization: Basic {}",
    "bearer-token": "curl -H 'X-Auth: Bearer {}'",
    "key-value": "DB_PASSWORD={}",
}


# Without letters and digits, so that no filling contains the secret by chance.
FILLING = st.text(st.characters(exclude_characters=ALNUM), max_size=30)


@st.composite
def framed_secrets(draw: Any) -> tuple[str, str]:
    """A secret, and a text with it somewhere inside."""
    name = draw(st.sampled_from(sorted(SECRETS)))
    secret = draw(SECRETS[name])
    frame = FRAMES.get(name, "{}")
    before, behind = draw(FILLING), draw(FILLING)
    return secret, f"{before} {frame.replace('{}', secret)} {behind}"


def hidden_part(secret: str) -> str:
    """What must be gone: of a URL only the part behind the public address."""
    return secret.partition("hooks.slack.com/")[2] or secret.partition("webhooks/")[2] or secret


def nested(leaves: Any) -> Any:
    keys = st.text(max_size=5)
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(keys, inner, max_size=4)
            | st.tuples(inner, inner)
            | st.dictionaries(leaves.filter(lambda v: isinstance(v, str)), inner, max_size=2)
        ),
        max_leaves=12,
    )


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary()
)


def everything_in(value: Any) -> str:
    """All texts of a value, in one; plain recursion, unlike what is tested."""
    if isinstance(value, dict):
        return "\n".join(everything_in(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return "\n".join(everything_in(part) for part in value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)


def test_every_shape_has_a_generator_and_there_are_about_25() -> None:
    """About 25 named secret shapes."""
    assert set(SECRETS) == set(SHAPES)
    assert len(SHAPES) >= 25


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_secret_is_replaced_by_the_name_of_its_shape(name: str) -> None:
    """Replaced by `[REDACTED:name]`."""
    body = "Ab1" * 14 if name != "aws-secret-key" else "Ab1/" * 10
    examples = {
        "private-key": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
        "anthropic-key": f"sk-ant-api03-{body}",
        "openrouter-key": f"sk-or-v1-{body}",
        "openai-key": f"sk-proj-{body}",
        "aws-access-key": "AKIAIOSFODNN7EXAMPLE".replace("8", "2"),
        "aws-secret-key": f"aws_secret_access_key = {body}",
        "github-token": f"ghp_{body[:36]}",
        "gitlab-token": f"glpat-{body[:20]}",
        "slack-token": "xoxb-123456789012-abcdefABCDEF",
        "slack-webhook": f"https://hooks.slack.com/services/T0/B0/{body[:24]}",
        "discord-webhook": f"https://discord.com/api/webhooks/12345/{body}",
        "stripe-key": f"sk_live_{body[:24]}",
        "google-api-key": f"AIza{body[:35]}",
        "google-oauth": f"GOCSPX-{body[:28]}",
        "npm-token": f"npm_{body[:36]}",
        "pypi-token": f"pypi-{body}",
        "huggingface-token": f"hf_{body[:34]}",
        "sendgrid-key": f"SG.{body[:22]}.{body}",
        "twilio-key": "SK" + "0a" * 16,
        "mailgun-key": "key-" + "0a" * 16,
        "telegram-token": f"123456789:AA{body[:33]}",
        "digitalocean-token": "dop_v1_" + "0a" * 32,
        "shopify-token": "shpat_" + "0a" * 16,
        "vault-token": f"hvs.{body}",
        "databricks-token": "dapi" + "0a" * 16,
        "azure-account-key": f"AccountKey={body * 2}==",
        "age-key": "AGE-SECRET-KEY-1" + "A1" * 29,
        "jwt": f"eyJ{body}.eyJ{body}.{body}",
        "url-password": "mysql://root:s3cr3t@db/x",
        "authorization": "Authorization: Basic dXNlcjpwYXNz",
        "bearer-token": f"with Bearer {body}",
        "key-value": "password=hunter2",
    }
    text = f"before {examples[name]} behind"
    found = REDACTOR.redact_text(text)
    assert f"[REDACTED:{name}]" in found
    assert found.startswith("before ")
    assert found.endswith(" behind")


@given(framed_secrets())
def test_no_secret_stays_in_a_text(framed: tuple[str, str]) -> None:
    """Generated secrets at every position of a text: none left, and nothing found twice."""
    secret, text = framed
    clean = REDACTOR.redact_text(text)
    assert hidden_part(secret) not in clean
    assert REDACTOR.redact_text(clean) == clean


@given(st.data())
def test_no_secret_stays_in_nested_data(data: Any) -> None:
    """Secrets at every depth and position of nested data, keys included: none left."""
    pairs = data.draw(st.lists(framed_secrets(), min_size=1, max_size=4))
    leaves = SCALARS | st.sampled_from([text for _, text in pairs])
    value = data.draw(nested(leaves))
    value = [value, {text: {"deep": [(text,)]} for _, text in pairs}]
    clean = everything_in(REDACTOR.redact(value))
    for secret, _ in pairs:
        assert hidden_part(secret) not in clean


@given(
    nested(
        st.none() | st.booleans() | st.integers() | st.text(string.ascii_letters + " ", max_size=9)
    )
)
def test_data_without_secrets_is_the_very_same_object(value: Any) -> None:
    """Values that no hook touched keep their identity."""
    assert REDACTOR.redact(value) is value


@given(st.text())
def test_any_text_survives(text: str) -> None:
    """Lone surrogates, controls, anything: no text makes it raise."""
    REDACTOR.redact_text(text)
    assert (
        REDACTOR.redact_text("a\udc80 password=hunter22 \ud800").count("[REDACTED:key-value]") == 1
    )


@given(st.text(max_size=300), st.lists(framed_secrets(), max_size=3))
def test_the_one_pass_search_finds_what_each_pattern_finds(text: str, framed: list[Any]) -> None:
    """Looking for all patterns at once overlooks none."""
    whole = text.join(part for _, part in framed) + text
    together = [number for number, _ in TOGETHER.find_candidates(whole)]
    assert together == [number for number, one in enumerate(ALONE) if one.occurs_in(whole)]


@pytest.mark.parametrize(
    "code",
    [
        "token = get_token()",
        "def login(password: str, token: str) -> None:",
        "self.password = password",
        "password = os.environ['DB_PASSWORD']",
        "if token == other_token:",
        "max_tokens=4000, tokens: 12",
        "token_count: 1234567",
        "api_key=config.api_key",
        "secret = secrets[name]",
        "PASSWORD=$DB_PASSWORD",
        "bypass=12345678",
        "https://example.com/a:b/c@d",
        "the password is required",
        "task-1234567890abcdefghijklmnop",
    ],
)
def test_programs_about_secrets_are_not_secrets(code: str) -> None:
    """Source code must survive, or agents could not edit it."""
    assert REDACTOR.redact_text(code) == code


def test_a_value_under_a_secret_key_is_hidden_whatever_it_looks_like() -> None:
    """key=value also means the keys of nested data."""
    given_data = {"password": "plain words", "user": "me", "deep": [{"api_key": b"abcdef", "n": 1}]}
    mark = "[REDACTED:key-value]"
    assert REDACTOR.redact(given_data) == {
        "password": mark,
        "user": "me",
        "deep": [{"api_key": mark.encode(), "n": 1}],
    }


def test_depth_and_cycles_stop_nothing() -> None:
    """T21: depth 10,000 and data that contains itself."""
    token = "ghp_" + "a" * 36
    deep: Any = token
    for _ in range(10_000):
        deep = [deep]
    clean = REDACTOR.redact(deep)
    while isinstance(clean, list):
        clean = clean[0]
    assert clean == "[REDACTED:github-token]"
    cyclic: dict[str, Any] = {"t": token}
    cyclic["self"] = [cyclic]
    copy = REDACTOR.redact(cyclic)
    assert copy["t"] == "[REDACTED:github-token]"
    assert copy["self"][0] is copy
    assert cyclic["t"] == token


def test_every_kind_of_container_keeps_its_kind() -> None:
    """Tuples, sets, named tuples, models and their like come back as what they were."""
    token = "ghp_" + "a" * 36
    mark = "[REDACTED:github-token]"
    point = namedtuple("point", "x y")
    value = (
        {token, "b"},
        frozenset({token}),
        point(token, 1),
        OrderedDict(a=token),
        bytearray(token.encode()),
        Message(role="user", content=token),
    )
    clean = REDACTOR.redact(value)
    assert clean[0] == {mark, "b"}
    assert clean[1] == frozenset({mark})
    assert clean[2] == point(mark, 1)
    assert clean[3] == {"a": mark}
    assert clean[4] == bytearray(mark.encode())
    assert isinstance(clean[5], Message)
    assert clean[5].content == mark


def test_two_secret_keys_do_not_swallow_each_other() -> None:
    """Keys that become the same name keep their values apart."""
    clean = REDACTOR.redact({"ghp_" + letter * 36: letter for letter in "abc"})
    assert list(clean.values()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "password=" * 50_000,
        "-----BEGIN PRIVATE KEY-----" * 20_000,
        "a://" * 200_000,
        "eyJ" * 200_000,
        "x" * 2_000_000,
        "password: " + "\\" * 500_000,
        '"token": "' + 'a\\"' * 200_000,
    ],
    ids=["words", "pem", "urls", "jwt", "plain", "slashes", "quotes"],
)
def test_hostile_texts_cannot_stall(text: str) -> None:
    """The time grows no faster than the text."""
    start = time.perf_counter()
    REDACTOR.redact_text(text)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(x+x+)+y"])
def test_hostile_own_patterns_cannot_stall(pattern: str) -> None:
    """Own patterns run on the linear-time engine, too."""
    start = time.perf_counter()
    assert not compile_pattern(pattern, "test").occurs_in("a" * 100_000 + "b")
    assert time.perf_counter() - start < 5


PAYLOADS: dict[str, dict[str, Any]] = {
    "tool:pre": {"tool_name": "Bash", "tool_input": {"command": "SECRET"}},
    "tool:post": {
        "tool_name": "Read",
        "tool_input": {"a": ["SECRET"]},
        "tool_result": {"success": True, "output": {"SECRET": ["SECRET"]}, "error": None},
    },
    "prompt:submit": {"prompt": "use SECRET", "metadata": {"k": "SECRET"}},
    "provider:request": {"messages": [{"role": "user", "content": [{"text": "SECRET"}]}]},
    "provider:response": {"response": {"content": [{"type": "text", "text": "SECRET"}]}},
    "tool:error": {"tool_name": "x", "error": {"message": "SECRET"}},
}


@pytest.mark.parametrize("event", PAYLOADS)
async def test_each_event_carries_on_without_the_secret(event: str, tmp_path: Path) -> None:
    """Through `modify` on tool input, tool result, prompt, messages and response."""
    token = "ghp_" + "Zz9" * 12
    harness = Harness(tmp_path)
    await harness.mount("redaction")
    data = json.loads(json.dumps(PAYLOADS[event]).replace("SECRET", token))
    result = await harness.hooks.emit(event, data)
    assert result.action == "continue"
    assert token not in repr(result.data)
    assert "[REDACTED:github-token]" in repr(result.data)
    assert token in repr(data)


async def test_later_hooks_and_the_screen_see_no_secret(tmp_path: Path) -> None:
    """Display and trail through the scrubber; hooks behind it see what it left."""
    token = "ghp_" + "Zz9" * 12
    harness = Harness(tmp_path)
    seen: list[Any] = []

    async def spy(event: str, data: dict[str, Any]) -> dict[str, Any]:
        seen.append(data)
        return {"action": "continue", "user_message": f"leaking {token}"}

    harness.hooks.register("tool:pre", spy)
    await harness.mount("redaction", {"notify": True})
    call = {"tool_name": "Bash", "tool_input": {"command": f"echo {token}"}}
    await harness.coordinator.execute_with_hooks("tool:pre", call)
    shown = repr(harness.coordinator.screen.messages)
    assert token not in repr(seen)
    assert token not in shown
    assert "leaking [REDACTED:github-token]" in shown
    assert "A secret was replaced in tool_input" in shown
    assert token not in repr(harness.coordinator.recorded.__dict__)


async def test_tools_that_need_the_secret_can_be_excepted(tmp_path: Path) -> None:
    """`allow_in_tools` leaves the input of these tools alone, and only their input."""
    token = "ghp_" + "Zz9" * 12
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"allow_in_tools": ["vault_*"]})
    kept = await harness.answer("vault_put", {"value": token})
    assert kept.data is not None
    assert kept.data["tool_input"] == {"value": token}
    result = {"tool_name": "vault_put", "tool_input": {}, "tool_result": {"output": token}}
    after_tool = await harness.hooks.emit("tool:post", result)
    assert token not in repr(after_tool.data)


async def test_own_patterns_shapes_and_replacement_are_configurable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """patterns, off, environment and replacement."""
    monkeypatch.setenv("MY_DEPLOY_TOKEN", "a.b*c(d)e+f$g")
    harness = Harness(tmp_path)
    config = {
        "patterns": {"card": r"\b\d{4}-\d{4}-\d{4}-\d{4}\b", "badge": "badge=(?P<secret>[0-9]+)"},
        "off": ["github-token"],
        "environment": ["MY_*_TOKEN"],
        "replacement": "<{name}>",
    }
    await harness.mount("redaction", config)
    github = "ghp_" + "a" * 36
    text = f"1111-2222-3333-4444 badge=77 {github} x a.b*c(d)e+f$g y"
    result = await harness.hooks.emit("prompt:submit", {"prompt": text})
    assert result.data is not None
    assert result.data["prompt"] == f"<card> badge=<badge> {github} x <env-MY_DEPLOY_TOKEN> y"


async def test_only_the_wanted_events_are_heard(tmp_path: Path) -> None:
    """`events` narrows it down."""
    harness = Harness(tmp_path)
    await harness.mount("redaction", {"events": ["prompt:submit"]})
    assert list(harness.hooks.list_handlers()) == ["prompt:submit"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"patterns": {"x": "(?=a)b"}}, "no look-around"),
        ({"patterns": {"x": r"(a)\1"}}, "back-references"),
        ({"patterns": {"x": "("}}, "not a pattern"),
        ({"patterns": {"a b": "x"}}, "'a b' is no name"),
        ({"off": ["github-tokens"]}, "did you mean 'github-token'?"),
        ({"events": ["tool:pree"]}, "did you mean 'tool:pre'?"),
    ],
)
async def test_a_bad_config_says_what_is_wrong(
    tmp_path: Path, config: dict[str, Any], words: str
) -> None:
    """Patterns are compiled at load; their errors say what the engine lacks."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("redaction", config)
    assert words in str(refused.value)


def test_every_event_that_carries_text_is_covered() -> None:
    """The five events of the specification are among those that are looked through."""
    assert {
        "tool:pre",
        "tool:post",
        "prompt:submit",
        "provider:request",
        "provider:response",
    } <= set(FIELDS)
