"""Secrets found in text and in nested data."""

from __future__ import annotations

import base64
import string
import time
from collections import OrderedDict, namedtuple
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.message_models import Message
from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.policy.secrets.redactor import (
    find_base64,
    is_picture,
    read_percent,
    read_wrapped,
)
from amplifier_hooks.guards.policy.secrets.shapes import TOKENS
from tests.hooks.guards.policy.secrets.secrets_made import (
    REDACTOR,
    framed_secrets,
)

PNG = "iVBORw0KGgo" + "aB3d" * 600
TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("start", ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"])
def test_a_picture_is_known_by_how_it_begins(start):
    """In each of the four forms that models take."""
    assert is_picture(start + "aB3d" * 600 + "==")


@pytest.mark.parametrize(
    "text", ["", PNG[:1000], "x" * 5000, f"{PNG} {TOKEN}", f"{PNG}\n", f"{PNG}=a", TOKEN * 100]
)
def test_nothing_else_is_one(text):
    """A text that only begins like a picture is looked through."""
    assert not is_picture(text)


def test_a_picture_stays_as_it_is_and_a_text_beside_it_does_not():
    """Whatever its letters happen to look like."""
    redactor = Redactor(SHAPES, "test", "[hidden]")
    picture = PNG + "AKIAIOSFODNN7EXAMPLE"
    value = [{"type": "text", "text": f"the key {TOKEN}"}, {"source": {"data": picture}}]
    left = redactor.redact(value)
    assert left[1] == value[1]
    assert TOKEN not in left[0]["text"]


@given(
    st.text(st.characters(max_codepoint=127), min_size=1).filter(lambda text: quote(text) != text)
)
def test_percent_escapes_are_read_and_located(text: str) -> None:
    """Each letter of the reading is found where its escape begins."""
    written = quote(text, "")
    reading = read_percent(written)
    assert reading is not None
    assert reading.text == unquote(written)
    for place, letter in enumerate(reading.text):
        start, end = reading.locate(place, place + 1)
        assert written[start] in {letter, "%"}
        assert end == start + 1


def test_a_text_without_escapes_has_no_other_reading() -> None:
    """Nothing is paid where nothing is encoded."""
    assert read_percent("100% of it") is None
    assert read_wrapped("two\nlines") is None
    assert read_wrapped("ghp_ at the beginning of a word") is None


def test_lines_are_joined_where_a_token_runs_over_their_end() -> None:
    """The reading has no line ends, and its parts are located over them."""
    text = "x ghp_abc\n  def y"
    reading = read_wrapped(text)
    assert reading is not None
    assert reading.text == "x ghp_abcdef y"
    assert reading.locate(2, 12) == (2, len("x ghp_abc\n  def"))


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=18, max_size=60))
def test_printable_base64_is_read(said: str) -> None:
    """Standard and URL-safe, with and without padding."""
    for encoder in (base64.b64encode, base64.urlsafe_b64encode):
        word = encoder(said.encode()).decode()
        for written in (word, word.rstrip("=")):
            assert [one for *_, one in find_base64(f"a: {written}\n")] == [said]


def test_what_is_not_text_in_base64_is_no_reading() -> None:
    """Hashes, names and pictures decode to nothing that can be read."""
    assert list(find_base64(base64.b64encode(bytes(range(128, 200))).decode())) == []


EVERY = Redactor(SHAPES, "test", "[{name}]")
WITH_KEYS = Redactor({**SHAPES, "key": "[0-9a-f]{64}"}, "test", "[{name}]")


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


@settings(max_examples=40)
@given(framed_secrets())
def test_no_secret_stays_in_a_text(framed: tuple[str, str]) -> None:
    """Generated secrets at every position of a text: none left, and nothing found twice."""
    secret, text = framed
    clean = REDACTOR.redact_text(text)
    assert secret not in clean
    assert REDACTOR.redact_text(clean) == clean


@settings(max_examples=15)
@given(st.data())
def test_no_secret_stays_in_nested_data(data: Any) -> None:
    """Secrets at every depth and position of nested data, keys included: none left."""
    pairs = data.draw(st.lists(framed_secrets(), min_size=1, max_size=4))
    leaves = SCALARS | st.sampled_from([text for _, text in pairs])
    value = data.draw(nested(leaves))
    value = [value, {text: {"deep": [(text,)]} for _, text in pairs}]
    clean = everything_in(REDACTOR.redact(value))
    for secret, _ in pairs:
        assert secret not in clean


@given(
    nested(
        st.none() | st.booleans() | st.integers() | st.text(string.ascii_letters + " ", max_size=9)
    )
)
def test_data_without_secrets_is_the_very_same_object(value: Any) -> None:
    """Callers can see by identity that nothing was changed."""
    assert REDACTOR.redact(value) is value


@given(st.text())
def test_any_text_survives(text: str) -> None:
    """Lone surrogates, controls, anything: no text makes it raise."""
    REDACTOR.redact_text(text)
    assert (
        REDACTOR.redact_text("a\udc80 password=hunter22 \ud800").count("[REDACTED:key-value]") == 1
    )


def test_a_value_under_a_secret_key_is_hidden_whatever_it_looks_like() -> None:
    """In nested data the key alone tells that a value is secret."""
    given_data = {"password": "plain words", "user": "me", "deep": [{"api_key": b"abcdef", "n": 1}]}
    mark = "[REDACTED:key-value]"
    assert REDACTOR.redact(given_data) == {
        "password": mark,
        "user": "me",
        "deep": [{"api_key": mark.encode(), "n": 1}],
    }


def test_depth_and_cycles_stop_nothing() -> None:
    """Ten thousand levels, or data that contains itself, are searched like any other."""
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


HOSTILE = {
    "words": "password=",
    "values": "password=a1 ",
    "quoted": 'token: "a ',
    "pem": "-----BEGIN PRIVATE KEY-----",
    "pem-lines": "MIIEpAIBAAKCAQEA" * 4 + "\n",
    "urls": "a://b:",
    "jwt": "eyJ",
    "plain": "x",
    "slashes": "\\",
    "quotes": 'a\\"',
    "flags": "mysql -u x --password ",
    "cookies": "Cookie: a=",
    "xml": "<password>",
    "netrc": "machine login password ",
    "kubernetes": "kind: Secret\ndata:\n",
    "kubernetes-json": '"kind": "Secret" {',
    "percent": "%70assword%3D",
    "base64": "cGFzc3dvcmQ9aHVudGVyMjI",
    "wrapped": "ghp_abc\n",
    "lines": "ghp_abc\nsk-\n",
    "retries": "token: token: ",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_the_time_grows_no_faster_than_a_hostile_text(unit: str) -> None:
    """Eight times the text takes about eight times as long: far from the square of it."""

    def measure(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        start = time.process_time()
        REDACTOR.redact_text(text)
        return time.process_time() - start

    measure(1_000)
    assert measure(80_000) < 28 * max(measure(10_000), 0.003)


def test_tokens_are_found_with_the_key_they_stand_under() -> None:
    """What a question to a person needs; guesses and secret keys do not count."""
    token = "ghp_" + "Zz9" * 12
    value = {
        "content": f"x {token}",
        "more": [{"password": "hunter22"}],
        token: b"sk-ant-" + b"a1" * 12,
    }
    assert REDACTOR.find_tokens(value) == [
        ("github-token", token),
        ("github-token", "content"),
        ("anthropic-key", token),
    ]
    clean = REDACTOR.redact_tokens(value)
    assert clean["content"] == "x [REDACTED:github-token]"
    assert clean["more"] == [{"password": "hunter22"}]


def test_what_is_allowed_is_left_alone() -> None:
    """An expression must fit the whole value."""
    token = "ghp_" + "Zz9" * 12
    redactor = Redactor(SHAPES, "test", "[{name}]", [r"ghp_(Zz9)+", "hunter2"])
    assert redactor.redact_text(f"{token} password=hunter2") == f"{token} password=hunter2"
    assert redactor.find_tokens({"a": token}) == []
    assert redactor.redact_text("password=hunter22") == "password=[key-value]"


def test_the_keys_of_data_count_also_for_a_scrubber() -> None:
    """`scrub_keyed` hides a value for its key; called plainly, the text alone counts."""
    assert REDACTOR.scrub_keyed("plain words", "api_key") == "[REDACTED:key-value]"
    assert REDACTOR.scrub_keyed("plain words", "name") == "plain words"
    assert REDACTOR("plain words") == "plain words"


def test_a_key_counts_only_where_guesses_do() -> None:
    """Without the shape of settings, text is known by its own form alone."""
    tokens = Redactor(TOKENS, "test", "[{name}]")
    assert tokens.redact({"password": "plain words"}) == {"password": "plain words"}
    every = Redactor(SHAPES, "test", "[{name}]")
    assert every.redact({"password": "plain words"}) == {"password": "[key-value]"}
    assert every.find_tokens("password=hunter22") == []
    assert every.find_tokens("ghp_" + "Zz9" * 12) == [("github-token", "")]


@pytest.mark.parametrize(("value", "hidden"), [("abc", False), ("abcd", True)])
def test_four_letters_under_a_secret_key_are_a_secret(value: str, hidden: bool) -> None:
    """Fewer are a word such as `yes`, `off` or `n/a`."""
    assert (REDACTOR.redact({"password": value})["password"] != value) is hidden


NESTED = [
    "credentials:\n  password: {}\n",
    "db_secret:\n  api-key: '{}'\n",
    "secret = password = {}\n",
    "token: secret_key: password: {}\n",
    "token=get(password='{}')",
    "curl --token --password {} --fast",
    'token: "(pwd={}"',
    'token = "say password={} to them"',
    f'token = "{"say " * 200}password={{}} to them"',
    "TOKEN=token: password: {}\n",
]


@pytest.mark.parametrize("frame", NESTED, ids=lambda frame: frame[:20])
def test_a_name_is_not_taken_for_the_value_of_another(frame: str) -> None:
    """What stands behind the inner one is hidden, and all around it stays."""
    assert REDACTOR.redact_text(frame.format("a7b!c9d")) in {
        frame.format(f"[REDACTED:{name}]") for name in ("key-value", "command-password")
    }


@pytest.mark.parametrize("frame", [one for one in NESTED if len(one) < 80])
def test_a_name_in_pieces_is_not_taken_for_a_value_either(frame: str) -> None:
    """Wherever a piece of the stream ends."""
    text = frame.format("a7b!c9d")
    for place in range(1, len(text)):
        stream = REDACTOR.open_stream()
        shown = stream.feed(text[:place]) + stream.feed(text[place:]) + stream.flush()
        assert "a7b!c9d" not in shown, place


def test_names_in_names_are_followed_eight_times() -> None:
    """A limit, so that a hostile text costs a bounded time."""
    for depth, hidden in ((8, True), (9, False)):
        text = ":".join(["token"] * depth) + ": a7b!c9d"
        assert ("a7b!c9d" not in REDACTOR.redact_text(text)) is hidden


@pytest.mark.parametrize("lines", [2, 3, 5])
def test_a_wrapped_token_is_hidden_to_its_last_letter(lines: int) -> None:
    """And not a letter more."""
    token = "ghp_" + "Zz9" * 12
    width = -(-len(token) // lines)
    wrapped = "\n  ".join(token[at : at + width] for at in range(0, len(token), width))
    for name in ("", "token: "):
        clean = REDACTOR.redact_text(f"before {name}{wrapped}\nbehind it")
        assert clean == f"before {name}[REDACTED:github-token]\nbehind it"


def test_a_wrapped_secret_that_only_its_name_tells_is_hidden() -> None:
    """The name stands outside of what is hidden."""
    secret = "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzKEYAB12c"
    text = f"AKIAIOSFODNN7ABCDEFG\naws_secret_access_key = {secret[:20]}\n  {secret[20:]}\n"
    clean = REDACTOR.redact_text(text)
    assert secret[:20] not in clean
    assert secret[20:] not in clean


def test_secrets_side_by_side_keep_their_marks() -> None:
    """Only those that overlap become one, under the name of the first."""
    redactor = Redactor({"a": "a{4}", "b": "b{4}", "c": "bc"}, "test", "[{name}]")
    assert redactor.redact_text("aaaabbbb") == "[a][b]"
    assert redactor.redact_text("bbbbc") == "[b]"


def test_what_is_harmless_is_looked_at_once_and_what_is_not_each_time() -> None:
    """Only texts without a secret are remembered, and only so many."""
    redactor = Redactor({"a": "a{4}"}, "test", "[{name}]")
    for _ in range(2):
        assert redactor.redact_text("plain") == "plain"
        assert redactor.redact_text("x aaaa") == "x [a]"
    assert redactor._harmless == {"plain"}
    for number in range(5000):
        redactor.redact_text(f"plain {number}")
    assert len(redactor._harmless) < 5000
    assert redactor.redact_text("b" * 500) == "b" * 500
    assert "b" * 500 in redactor._harmless


def test_of_long_texts_only_so_many_characters_are_remembered() -> None:
    """With each request all messages come again; but what is remembered has an end."""
    redactor = Redactor(SHAPES, "test", "[REDACTED:{name}]")
    for number in range(60):
        redactor(f"{number} " + "b " * 50_000)
        assert sum(map(len, redactor._harmless)) <= 4_000_000
    assert redactor._harmless
    redactor("b " * 250_001)
    assert all(len(text) < 500_000 for text in redactor._harmless)


def test_a_key_is_judged_the_same_each_time() -> None:
    """A name that says nothing is remembered as such; one that names a secret still hides it."""
    redactor = Redactor(SHAPES, "test", "[{name}]")
    for _ in range(2):
        assert redactor.scrub_keyed("walnut", "fruit") == "walnut"
        assert redactor.scrub_keyed("walnut", "password") == "[key-value]"


@given(st.text("0123456789abcdef", min_size=64, max_size=64))
def test_a_digest_by_itself_has_the_shape_of_no_secret(text: str) -> None:
    """So it is not looked through; with a shape of one's own it is."""
    assert EVERY.find_spans(text) == []
    assert EVERY.redact_text(text) is text
    assert WITH_KEYS.redact_text(text) == "[key]"


def test_a_digest_under_a_secret_key_is_hidden_all_the_same() -> None:
    """Its key says what it is."""
    assert EVERY.redact({"api_key": "0f" * 32}) == {"api_key": "[key-value]"}
