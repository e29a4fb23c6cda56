"""Tokens are known by their own form."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.secrets import SHAPES, TOKENS
from amplifier_hooks.guards.policy.secrets.checks import CHECKS
from amplifier_hooks.guards.policy.secrets.shapes import GUESSES
from tests.hooks.guards.policy.secrets.secrets_made import (
    REDACTOR,
    SECRETS,
    build_pem,
    encode,
    list_frames,
)


def test_every_shape_has_a_generator() -> None:
    """A new shape is not forgotten by the tests that search for secrets."""
    assert set(SECRETS) == set(SHAPES)


@pytest.mark.parametrize("name", sorted(TOKENS))
@settings(max_examples=3)
@given(data=st.data())
def test_a_token_is_hidden_and_named_and_the_text_around_it_stays(name: str, data: Any) -> None:
    """No miss on generated tokens, in what is shown and in what would be written."""
    secret = data.draw(SECRETS[name])
    for frame in list_frames(name):
        text = f"before {frame.replace('{}', secret)} behind"
        clean = REDACTOR.redact_text(text)
        assert secret not in clean
        assert f"[REDACTED:{name}]" in clean
        assert clean.startswith("before ")
        assert clean.endswith(" behind")
        assert name in [found for found, _ in REDACTOR.find_tokens({"content": text})]
        assert secret not in REDACTOR.redact_tokens({"content": text})["content"]


@pytest.mark.parametrize("name", sorted(set(TOKENS) - {"private-key-end"}))
@settings(max_examples=3)
@given(data=st.data())
def test_a_token_is_found_escaped_encoded_and_glued_to_an_escape(name: str, data: Any) -> None:
    """JSON-escaped, percent-encoded, behind an escaped line end and in base64."""
    secret = data.draw(SECRETS[name])
    framed = list_frames(name)[0].replace("{}", secret)
    escaped = json.dumps({"text": f"a\n{framed}\nb"})
    assert json.dumps(secret)[1:-1] not in REDACTOR.redact_text(escaped)
    assert quote(secret, "") not in REDACTOR.redact_text(f"q=x%20{quote(framed, '')}%20y")
    assert encode(f"user {framed} x") not in REDACTOR.redact_text(encode(f"user {framed} x"))


WRAPPED = ["github-token", "anthropic-key", "npm-token", "jwt", "google-api-key", "stripe-key"]


@pytest.mark.parametrize("name", WRAPPED)
@settings(max_examples=3)
@given(data=st.data())
def test_a_token_that_is_wrapped_over_two_lines_is_found(name: str, data: Any) -> None:
    """A line end inside a token does not make it harmless."""
    secret = data.draw(SECRETS[name])
    for cut in (12, 20):
        clean = REDACTOR.redact_text(f"x = {secret[:cut]}\n  {secret[cut:]}\nnext")
        assert secret[:cut] not in clean
        assert secret[cut:] not in clean
        assert clean.endswith("next")


BODY = "MIIEpAIBAAKCAQEAx7Yk3+/" * 30


@pytest.mark.parametrize("kept", [80, 200, 400])
def test_what_a_limit_has_left_of_a_private_key_is_hidden(kept: int) -> None:
    """BEGIN without END, END without BEGIN, in lines with numbers, in JSON, with headers."""
    key = build_pem(BODY)
    numbered = "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(key[:kept].splitlines(), 1))
    encrypted = key.replace(
        "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCDEF\n\n", 1
    )
    cut = f"{key[:kept]}\n[900 of 1000 characters are left out]"
    for text in (cut, key[-kept:], numbered, json.dumps({"private_key": key[:kept]}), encrypted):
        clean = REDACTOR.redact_text(text)
        assert "AIBAAKC" not in clean
        assert "REDACTED:private-key" in clean
    assert REDACTOR.redact_text(cut).endswith("\n[900 of 1000 characters are left out]")


@pytest.mark.parametrize(
    "line",
    [
        'if text.startswith("-----BEGIN PRIVATE KEY-----"):',
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "class sk-toggleable__label-arrow-with-a-long-name",
        "pypi-attestations-and-a-long-name-of-a-package",
        "task-1234567890abcdefghijklmnop",
        "pk_live_abcdefghijklmnopqrstuvwxyz",
        "-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEAx7Yk3\n-----END CERTIFICATE-----",
    ],
)
def test_what_only_resembles_a_token_is_none(line: str) -> None:
    """Marks of keys in programs, placeholders, names with a similar beginning, public keys."""
    assert REDACTOR.redact_text(line) == line


FRAMED = [(name, frame) for name in sorted(GUESSES) for frame in list_frames(name)]


def test_every_guess_is_judged() -> None:
    """No shape that goes by its surroundings is taken at its word."""
    assert set(CHECKS) == set(GUESSES)


@pytest.mark.parametrize(("name", "frame"), FRAMED)
@settings(max_examples=3)
@given(data=st.data())
def test_a_generated_secret_is_hidden_in_each_of_its_surroundings(
    name: str, frame: str, data: Any
) -> None:
    """No miss: the secret is gone, and the text around it stays."""
    secret = data.draw(SECRETS[name])
    text = f"before\n{frame.replace('{}', secret)} behind"
    clean = REDACTOR.redact_text(text)
    assert secret not in clean
    assert "[REDACTED:" in clean
    assert clean.startswith("before\n")
    assert clean.endswith("behind")


@pytest.mark.parametrize(("name", "frame"), FRAMED)
def test_what_would_be_written_or_run_is_never_guessed_at(name: str, frame: str) -> None:
    """In the input of a tool only tokens count."""
    given_input = {"content": frame.replace("{}", "k3y-Wd!7q!x"), "password": "k3y-Wd!7q!x"}
    assert REDACTOR.find_tokens(given_input) == []
    assert REDACTOR.redact_tokens(given_input) is given_input


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("curl -H 'Cookie: sessionid=38afes7a8; csrftoken=u32t4o3tb3gl' x", "38afes7a8"),
        ("git clone https://me:p%40ss7w0rd@host/r", "p%40ss7w0rd"),
        ('config: "password": "hunter2"', "hunter2"),
        ("docker login -u me -p s3cret7 registry", "s3cret7"),
        ("mysql --password letmein --host db", "letmein"),
        ("deploy --password letmein", "letmein"),
        ("PGPASSWORD=correct-horse-77 psql", "correct-horse-77"),
        ("the password: hunter2\n", "hunter2"),
        ("<secret><![CDATA[a7b!c9d]]></secret>", "a7b!c9d"),
        ("token: password=hunter22", "hunter22"),
        ("password%3Dhunter22%26user%3Dme", "hunter22"),
    ],
)
def test_everyday_secrets_are_hidden(text: str, hidden: str) -> None:
    """Headers, addresses, settings and commands as people paste them."""
    assert hidden not in REDACTOR.redact_text(text)


def test_a_service_account_keeps_its_shape_and_loses_its_key() -> None:
    """The file that a cloud hands out: the key goes, the rest can be read."""
    pem = (
        "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkq" * 12 + "\n-----END PRIVATE KEY-----\n"
    )
    account = {"type": "service_account", "private_key": pem, "client_email": "a@b.example"}
    clean = json.loads(REDACTOR.redact_text(json.dumps(account)))
    assert "MIIE" not in clean["private_key"]
    assert clean["client_email"] == "a@b.example"
