"""The shapes of secrets."""

from __future__ import annotations

import pytest

from amplifier_foundation.policy.secret_shapes import SHAPES, is_code
from tests.foundation.policy.secrets_made import (
    REDACTOR,
    SECRETS,
)


def test_every_shape_has_a_generator_and_there_are_about_25() -> None:
    """A new shape is not forgotten by the tests that search for secrets."""
    assert set(SECRETS) == set(SHAPES)
    assert len(SHAPES) >= 25


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_secret_is_replaced_by_the_name_of_its_shape(name: str) -> None:
    """The reader learns what was there, and the text around it stays."""
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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("get_token()", True),
        ("config.api_key", True),
        ("DB_PASSWORD", True),
        ("secrets[name]", True),
        ("str", True),
        ("None,", True),
        ("hunter2", False),
        ("correcthorse", False),
        ("a.b7.c", False),
        ("s3cr3t(", True),
    ],
)
def test_code_is_told_from_a_bare_value(value: str, expected: bool) -> None:
    """Calls, dotted and underscored names and words of programming languages are code."""
    assert is_code(value) is expected
