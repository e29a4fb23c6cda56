"""The shapes of secrets, by name, as RE2 patterns; a group `secret` marks the part to hide."""

from __future__ import annotations

import re


def _build_token(body: str) -> str:
    """A token that must not follow a letter or digit, as its beginning is too common."""
    return f"(?:^|[^A-Za-z0-9])(?P<secret>{body})"


_SECRET_WORD = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[_\-. ]?key|access[_\-. ]?key|"
    r"private[_\-. ]?key|secret[_\-. ]?key|encryption[_\-. ]?key|signing[_\-. ]?key|"
    r"account[_\-. ]?key|credentials?|connection[_\-. ]?string)"
)
_NAME = (
    r"(?i:[A-Za-z0-9_\-.]*" + _SECRET_WORD + r"(?:[_\-]?[0-9]{1,3})?"
    r"(?:[_\-](?:prod|production|staging|stage|dev|test|live|old|new|base64|b64))?)"
)

SHAPES: dict[str, str] = {
    "private-key": (
        r"-----BEGIN[ A-Z0-9]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]*?-----END[ A-Z0-9]*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,\-]*)"
    ),
    "anthropic-key": r"sk-ant-[A-Za-z0-9_\-]{16,}",
    "openrouter-key": r"sk-or-[A-Za-z0-9_\-]{16,}",
    "openai-key": _build_token(r"sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_\-]{20,}"),
    "aws-access-key": r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z2-7]{16}",
    "aws-secret-key": (
        r"(?i:aws[_\-. ]?)?(?i:secret[_\-. ]?access[_\-. ]?key)[\"']?\s{0,5}(?::=|=>|[:=])?\s{0,5}"
        r"[\"']?(?P<secret>[A-Za-z0-9/+=]{40})"
    ),
    "github-token": r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab-token": r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat)-[A-Za-z0-9_\-]{20,}",
    "slack-token": r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,}|xapp-[A-Za-z0-9\-]{10,}",
    "slack-webhook": (
        r"https://hooks\.slack\.com/"
        r"(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9/_\-]{20,})"
    ),
    "discord-webhook": (
        r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_\-]{30,})"
    ),
    "stripe-key": r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,}",
    "google-api-key": r"AIza[A-Za-z0-9_\-]{35}",
    "google-oauth": r"ya29\.[A-Za-z0-9_\-.]{20,}|GOCSPX-[A-Za-z0-9_\-]{20,}",
    "npm-token": r"npm_[A-Za-z0-9]{36,}",
    "pypi-token": r"pypi-[A-Za-z0-9_\-]{32,}",
    "huggingface-token": _build_token(r"hf_[A-Za-z0-9]{30,}"),
    "sendgrid-key": _build_token(r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
    "twilio-key": _build_token(r"SK[0-9a-f]{32}"),
    "mailgun-key": _build_token(r"key-[0-9a-f]{32}"),
    "telegram-token": r"\d{8,10}:AA[A-Za-z0-9_\-]{33}",
    "digitalocean-token": r"do[oprs]_v1_[a-f0-9]{64}",
    "shopify-token": r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    "vault-token": _build_token(r"hv[sbr]\.[A-Za-z0-9_\-]{24,}"),
    "databricks-token": _build_token(r"dapi[a-f0-9]{32}"),
    "azure-account-key": r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
    "age-key": r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    "jwt": r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?",
    "url-password": r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/:@\"'<>]*:(?P<secret>[^\s/\"'<>]+)@",
    "authorization": (
        r"(?i:authorization|proxy-authorization)[\"']?\s{0,5}[:=]\s{0,5}[\"']?"
        r"(?i:bearer|basic|token|digest|apikey)?\s{0,5}(?P<secret>[A-Za-z0-9_\-.~+/=:]{8,})"
    ),
    "bearer-token": r"(?i:bearer)\s{1,5}(?P<secret>[A-Za-z0-9_\-.~+/]{16,}={0,2})",
    "key-value": (
        _NAME + r"(?:\\*[\"'])?\s{0,5}(?::=|=>|[:=])\s{0,5}(?:"
        r"\\+\"(?P<escaped>[^\"\\\r\n]{4,})|"
        r"\"(?P<quoted>(?:[^\"\\\r\n]|\\.){4,})|"
        r"'(?P<single>(?:[^'\\\r\n]|\\.){4,})|"
        r"(?P<secret>[^\s\"'\\,;&|<>=(){}$\[][^\s\"'\\,;&|<>]{3,}))"
    ),
}
"""Their names stand in the replacement: `[REDACTED:github-token]`. Earlier ones name an overlap."""

SECRET_KEY = r"^" + _NAME + r"$"
"""Keys of nested data whose text is a secret whatever it looks like."""

_NOT_SECRETS = (
    " str string bytes bool boolean int integer float none null true false any object optional "
    "required undefined self cls input text password example changeme redacted "
)


_CALL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[(\[]")


def is_code(value: str) -> bool:
    """Whether the unquoted text after `token =` is program code rather than a secret."""
    if _CALL.match(value):
        return True
    bare = value.rstrip(".,;:)")
    if f" {bare.casefold()} " in _NOT_SECRETS:
        return True
    letters = bare.replace(".", "").replace("_", "")
    return letters.isalpha() and ("." in bare or "_" in bare)
