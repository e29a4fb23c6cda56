"""Secrets of every shape, made up."""

from __future__ import annotations

import base64
import string
from typing import Any

from hypothesis import strategies as st

from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.policy.secrets.checks import is_placeholder, is_sample

REDACTOR = Redactor(SHAPES, "test", "[REDACTED:{name}]")

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def letters(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    """So many letters, and no placeholder: Hypothesis finds words like `undefined` in sources."""
    drawn = st.text(alphabet, min_size=least, max_size=most or least + 8)
    return drawn.filter(
        lambda text: len(set(text)) > 3 and not is_placeholder(text) and not is_sample(text)
    )


def after(prefix: str, alphabet: str, least: int, most: int | None = None) -> Any:
    return letters(alphabet, least, most).map(lambda body: prefix + body)


def passwords(alphabet: str = ALNUM + "!#%*+-_~?@^.") -> st.SearchStrategy[str]:
    """Passwords as a generator of passwords makes them: with a digit and a sign in them."""
    return letters(alphabet, 6, 26).map(lambda body: f"k{body}7q!x")


def wrap(body: str, width: int = 64) -> str:
    return "\n".join(body[start : start + width] for start in range(0, len(body), width))


def build_pem(body: str, kind: str = "RSA PRIVATE KEY") -> str:
    return f"-----BEGIN {kind}-----\n{wrap(body)}\n-----END {kind}-----"


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SECRETS: dict[str, Any] = {
    "private-key": st.tuples(
        letters(BASE64, 128, 400),
        st.sampled_from(["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"]),
    ).map(lambda made: build_pem(*made)),
    "private-key-end": letters(BASE64, 128, 300).map(
        lambda body: wrap(body) + "\n-----END EC PRIVATE KEY-----"
    ),
    "anthropic-key": after("sk-ant-api03-", URL_SAFE, 24),
    "openrouter-key": after("sk-or-v1-", HEX, 64),
    "openai-key": after("sk-proj-", URL_SAFE, 24, 120) | after("sk-", ALNUM, 48),
    "aws-access-key": after("AKIA", string.ascii_uppercase + "234567", 16, 16),
    "aws-secret-key": letters(BASE64, 40, 40),
    "aws-bedrock-key": after("ABSK", BASE64, 80, 120),
    "github-token": after("ghp_", ALNUM, 36, 36)
    | after("ghs_", ALNUM, 36, 36)
    | after("github_pat_", ALNUM + "_", 40),
    "gitlab-token": after("glpat-", URL_SAFE, 20),
    "slack-token": after("xoxb-", string.digits + "-" + string.ascii_letters, 20, 60),
    "slack-webhook": after("services/T0", ALNUM, 24, 40),
    "discord-token": st.tuples(
        letters(URL_SAFE, 24, 25), letters(URL_SAFE, 6, 6), letters(ALNUM, 27, 38)
    ).map(lambda made: "M" + ".".join(made)),
    "discord-webhook": after("123456/", URL_SAFE, 40, 60),
    "stripe-key": after("sk_live_", ALNUM, 24) | after("whsec_", BASE64, 32),
    "google-api-key": after("AIza", URL_SAFE, 35, 35),
    "google-oauth": after("GOCSPX-", URL_SAFE, 28) | after("ya29.", URL_SAFE, 60),
    "npm-token": after("npm_", ALNUM, 36, 36),
    "pypi-token": after("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 60, 120),
    "rubygems-token": after("rubygems_", HEX, 48, 48),
    "docker-token": after("dckr_pat_", URL_SAFE, 27),
    "huggingface-token": after("hf_", ALNUM, 34),
    "groq-key": after("gsk_", ALNUM, 52),
    "xai-key": after("xai-", ALNUM, 80),
    "perplexity-key": after("pplx-", ALNUM, 48),
    "replicate-token": after("r8_", ALNUM, 37),
    "sendgrid-key": st.tuples(letters(URL_SAFE, 22), letters(URL_SAFE, 43)).map(
        lambda made: f"SG.{made[0]}.{made[1]}"
    ),
    "twilio-key": after("SK", HEX, 32, 32),
    "mailgun-key": after("key-", HEX, 32, 32),
    "telegram-token": after("123456789:AA", URL_SAFE, 33, 33),
    "digitalocean-token": after("dop_v1_", HEX, 64, 64),
    "shopify-token": after("shpat_", HEX, 32, 32),
    "vault-token": after("hvs.", URL_SAFE, 24, 90),
    "terraform-token": after("atlasv1.", URL_SAFE, 60, 70),
    "databricks-token": after("dapi", HEX, 32, 32),
    "grafana-token": st.tuples(letters(ALNUM, 32, 32), letters(HEX, 8, 8)).map(
        lambda made: f"glsa_{made[0]}_{made[1]}"
    ),
    "sentry-token": after("sntrys_", BASE64, 60, 90),
    "newrelic-key": after("NRAK-", UPPER, 27, 27),
    "linear-key": after("lin_api_", ALNUM, 40),
    "notion-token": after("ntn_", ALNUM, 46),
    "postman-key": st.tuples(letters(HEX, 24, 24), letters(HEX, 34, 34)).map(
        lambda made: f"PMAK-{made[0]}-{made[1]}"
    ),
    "doppler-token": after("dp.pt.", ALNUM, 43),
    "planetscale-token": after("pscale_tkn_", URL_SAFE, 43),
    "atlassian-token": after("ATATT3", URL_SAFE, 80),
    "figma-token": after("figd_", URL_SAFE, 40),
    "azure-account-key": letters(BASE64, 86, 86).map(lambda body: body + "=="),
    "azure-sas": letters(ALNUM, 43, 43).map(lambda body: body + "%3D"),
    "age-key": after("AGE-SECRET-KEY-1", UPPER, 58, 58),
    "provider-token": after("dt0c01.", UPPER, 24, 24).flatmap(
        lambda made: after(f"{made}.", UPPER, 64, 64)
    )
    | after("pul-", HEX, 40, 40)
    | after("CFPAT-", URL_SAFE, 43, 43),
    "marked-token": letters(HEX, 32, 32).map(lambda body: f"{body}-us14"),
    "jwt": st.tuples(letters(URL_SAFE, 16), letters(URL_SAFE, 16), letters(URL_SAFE, 20)).map(
        lambda made: f"eyJ{made[0]}.eyJ{made[1]}.{made[2]}"
    ),
    "url-password": passwords(ALNUM + "!#$%&*+-=?@_~"),
    "authorization": letters(ALNUM, 10, 20).map(lambda body: encode(f"user:{body}7q")),
    "bearer-token": after("1a2B", ALNUM + "-._~+", 20, 60),
    "cookie": passwords(ALNUM),
    "xml-element": passwords(),
    "netrc": letters(ALNUM, 6, 20) | passwords(),
    "command-password": passwords(),
    "connection-string": passwords(),
    "docker-auth": letters(ALNUM, 10, 20).map(lambda body: encode(f"user:{body}")),
    "kubernetes-secret": letters(ALNUM, 8, 20).map(encode),
    "kubernetes-data": letters(ALNUM, 8, 20).map(encode),
    "nuget-password": passwords(ALNUM),
    "provider-key": after("q7Zk2Xw9Rt4b", ALNUM, 20, 40),
    "random-token": after("q7Zk2Xw9Rt4bLm3Pv8Yd5", ALNUM, 6, 6),
    "env-line": letters(string.ascii_lowercase, 8, 20) | passwords(),
    "key-value": passwords(),
}
"""How a secret of each shape is made: the part that must be hidden."""

FRAMES: dict[str, tuple[str, ...]] = {
    "aws-secret-key": (
        "aws_secret_access_key = {}",
        '"SecretAccessKey": "{}"',
        "AKIAABCDEFGHIJKLMNOP,{}",
    ),
    "azure-account-key": ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};",),
    "azure-sas": ("https://x.blob.core.windows.net/c?sv=2020&sig={}",),
    "slack-webhook": ("https://hooks.slack.com/{}",),
    "discord-webhook": ("https://discord.com/api/webhooks/{}",),
    "terraform-token": ("credentials aBcD1234567890.{}",),
    "url-password": ("postgres://user:{}@host:5432/db", "https://x:{}@github.com/o/r.git"),
    "authorization": ("Authorization: Basic {}", '"Authorization": "Basic {}"'),
    "bearer-token": ("curl -H 'X-Auth: Bearer {}'", 'bearer {}"'),
    "cookie": ("Set-Cookie: sid={}; Path=/; HttpOnly", "Cookie: theme=dark; sid={}"),
    "xml-element": ("<password>{}</password>", '<db:apiKey type="x">{}</db:apiKey>'),
    "netrc": (
        "machine example.com login me password {}",
        "machine example.com\n  login me\n  password {}",
    ),
    "command-password": (
        "tool --password {} --verbose",
        "tool --db-password={} run",
        'deploy --api-key "{}"',
        "mysql -u root -p{} db",
        "sshpass -p {} ssh host",
        "curl -u user:{} https://host",
    ),
    "connection-string": ("Server=db;User Id=sa;Password={};Encrypt=true",),
    "docker-auth": ('{"auths": {"registry": {"auth": "{}"}}}',),
    "kubernetes-secret": (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  anything: {}\ntype: Opaque\n",
        '{"kind": "Secret", "metadata": {"name": "x"}, "data": {"anything": "{}"}}',
    ),
    "kubernetes-data": (
        "apiVersion: v1\ndata:\n  anything: {}\nkind: Secret\n",
        '{"data": {"anything": "{}"}, "kind": "Secret"}',
    ),
    "nuget-password": ('<add key="ClearTextPassword" value="{}" />',),
    "provider-key": ('algolia_app = "{}"', "okta: {}"),
    "env-line": ("\nDB_PASSWORD={}\n", "\nexport API_TOKEN='{}'\n"),
    "key-value": (
        "db_password={}",
        "password: {}\n",
        'secret_key = "{}"',
        '{"apiKey": "{}"}',
        '"{\\"token\\": \\"{}\\"}"',
    ),
}
"""What a secret that is told by its surroundings stands in."""

# Without letters and digits, so that no filling contains the secret by chance.
FILLING = st.text(st.characters(exclude_characters=ALNUM), max_size=30)


def list_frames(name: str) -> tuple[str, ...]:
    """The surroundings of a shape; a token needs none."""
    return FRAMES.get(name, ("{}",))


@st.composite
def framed_secrets(draw: Any, names: Any = None) -> tuple[str, str]:
    """A secret, and a text with it somewhere inside."""
    name = draw(st.sampled_from(sorted(names or SECRETS)))
    secret = draw(SECRETS[name])
    frame = draw(st.sampled_from(list_frames(name)))
    before, behind = draw(FILLING), draw(FILLING)
    return secret, f"{before} {frame.replace('{}', secret)} {behind}"
