"""Secrets of every shape, made up."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import strategies as st

from amplifier_foundation.policy.redactor import Redactor
from amplifier_foundation.policy.secret_shapes import SHAPES

REDACTOR = Redactor(SHAPES, "test", "[REDACTED:{name}]")

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
