"""Guesses are secrets because of what stands beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.secrets.guesses import GUESSES
from amplifier_hooks.guards.policy.secrets.plausible import CHECKS
from tests.hooks.guards.policy.secrets.secrets_made import REDACTOR, SECRETS, list_frames

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
