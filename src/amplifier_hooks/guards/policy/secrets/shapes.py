"""The shapes of secrets, as RE2 patterns: tokens by their own form, guesses by what is beside them.

A named group marks the part to hide; without one, the whole match is hidden. Tokens, and only
these, count in what a tool is about to write or run. What a guess finds is checked once more.
"""

from __future__ import annotations

import re

from amplifier_hooks.guards.policy.secrets.providers import FORMS, MARKED_FORMS, PROVIDER

BOUNDARY = r"(?:^|[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*m)"
"""What may stand before a word: not a letter, unless that belongs to an escape."""

_WORD = r"[A-Za-z0-9]"
_URL_SAFE = r"[A-Za-z0-9_\-]"
_BASE64 = r"[A-Za-z0-9+/]"


def _build_token(body: str) -> str:
    """A token that must begin a word, as its beginning is too common elsewhere."""
    return f"{BOUNDARY}(?P<secret>{body})"


def _build_aws_secret() -> str:
    """Forty letters behind their name, or behind the access key that they belong to."""
    body = f"{_BASE64}{{40}}"
    end = r"(?:[^A-Za-z0-9/+=]|$)"
    named = (
        r"(?i:secret[_\-. ]?access[_\-. ]?key|aws[_\-. ]?secret[_\-. ]?key)(?:\\*[\"'])?"
        r"\s{0,5}(?::=|=>|[:=>,])?\s{0,5}(?:\\*[\"'])?"
    )
    paired = BOUNDARY + r"(?:AKIA|ASIA)[A-Z2-7]{16}(?:\\*[\"'])?\s{0,5}[,:;|\s]\s{0,5}(?:\\*[\"'])?"
    return f"{named}(?P<named>{body}){end}|{paired}(?P<paired>{body}){end}"


# What may stand between two lines of a key: line ends, escaped ones too, quotes, numbers of lines.
_GAP = r"(?:\s|\\+[nrt]|[\"'+>|#*,;\\→]|\b\d{1,5}[:|\t])"
_KEY_LINES = (
    r"(?:" + _GAP + r"*(?:Proc-Type|DEK-Info|Version|Comment|Subject|Encryption|Hash)"
    r":[^\r\n\\]*){0,4}"
    r"(?:" + _GAP + r"*[A-Za-z0-9+/=%]{16,})" + r"(?:" + _GAP + r"*[A-Za-z0-9+/=%]{4,})*"
)
_KEY_KIND = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?"
_KEY_END = r"-----END " + _KEY_KIND + r"-----"


def _build_private_key() -> str:
    """The whole key, or as much of its beginning as a limit has left."""
    start = r"-----BEGIN " + _KEY_KIND + r"-----"
    last = r"(?:" + _GAP + r"+[A-Za-z0-9+/=%]{1,3})?"  # too short to be told but by the end
    whole = start + _KEY_LINES + r"(?:" + last + _GAP + r"*" + _KEY_END + r")?"
    ssh2 = r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----" + _KEY_LINES
    putty = r"Private-Lines: \d{1,4}(?:\r?\n[A-Za-z0-9+/=]{16,})+(?:\r?\n[A-Za-z0-9+/=]{4,})?"
    return f"{whole}|{ssh2}|{putty}"


def _build_private_key_end() -> str:
    """What is left of a key whose beginning was cut off."""
    last = r"(?:[A-Za-z0-9+/]{1,76}={0,2}" + _GAP + r"+)?"
    return r"(?:[A-Za-z0-9+/]{40,}={0,2}" + _GAP + r"+)+" + last + _KEY_END


TOKENS: dict[str, str] = {
    "private-key": _build_private_key(),
    "private-key-end": _build_private_key_end(),
    "anthropic-key": rf"sk-ant-{_URL_SAFE}{{16,}}",
    "openrouter-key": rf"sk-or-{_URL_SAFE}{{16,}}",
    "openai-key": _build_token(
        rf"sk-(?:(?:proj|svcacct|admin|None)-{_URL_SAFE}{{20,}}|{_WORD}{{20,}})"
    ),
    "aws-access-key": _build_token(r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    "aws-secret-key": _build_aws_secret(),
    "aws-bedrock-key": _build_token(r"ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    "github-token": rf"(?:gh[pousr]_{_WORD}{{36,}}|github_pat_[A-Za-z0-9_]{{22,}})",
    "gitlab-token": _build_token(
        rf"gl(?:pat|dt|rt|cbt|ptt|ft|agent|soat|imt|oas)-{_URL_SAFE}{{20,}}(?:\.{_URL_SAFE}+)*"
    ),
    "slack-token": _build_token(
        r"(?:xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9%\-]{10,}|xapp-\d-[A-Za-z0-9\-]{10,})"
    ),
    "slack-webhook": (
        r"https://hooks\.slack\.com/"
        r"(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9/_\-]{20,})"
    ),
    "discord-webhook": (
        r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_\-]{30,})"
    ),
    # The id of the bot in base64, a time, and a code.
    "discord-token": _build_token(
        rf"(?:[MNO]{_URL_SAFE}{{23,27}}\.{_URL_SAFE}{{6}}\.{_URL_SAFE}{{27,40}}|mfa\.{_URL_SAFE}{{80,90}})"
    ),
    "stripe-key": rf"(?:sk|rk)_(?:live|test)_{_WORD}{{16,}}|whsec_[A-Za-z0-9+/=]{{24,}}",
    "google-api-key": _build_token(rf"AIza{_URL_SAFE}{{35}}"),
    "google-oauth": _build_token(
        rf"(?:ya29\.[A-Za-z0-9_\-.]{{20,}}|GOCSPX-{_URL_SAFE}{{20,}}|1//0{_URL_SAFE}{{40,}})"
    ),
    "npm-token": _build_token(rf"npm_{_WORD}{{36,}}"),
    "pypi-token": rf"pypi-AgE{_URL_SAFE}{{40,}}",
    "rubygems-token": _build_token(r"rubygems_[a-f0-9]{48}"),
    "docker-token": _build_token(rf"dckr_(?:pat|oat)_{_URL_SAFE}{{20,}}"),
    "huggingface-token": _build_token(rf"(?:hf|api_org)_{_WORD}{{30,}}"),
    "groq-key": _build_token(rf"gsk_{_WORD}{{40,}}"),
    "xai-key": _build_token(rf"xai-{_WORD}{{60,}}"),
    "perplexity-key": _build_token(rf"pplx-{_WORD}{{40,}}"),
    "replicate-token": _build_token(rf"r8_{_WORD}{{36,}}"),
    "sendgrid-key": _build_token(rf"SG\.{_URL_SAFE}{{16,}}\.{_URL_SAFE}{{16,}}"),
    "twilio-key": _build_token(r"SK[0-9a-f]{32}\b"),
    "mailgun-key": _build_token(r"key-[0-9a-f]{32}\b"),
    "telegram-token": _build_token(rf"\d{{8,10}}:AA{_URL_SAFE}{{33}}"),
    "digitalocean-token": r"do[oprt]_v1_[a-f0-9]{64}",
    "shopify-token": _build_token(r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    "vault-token": _build_token(rf"hv[sbr]\.{_URL_SAFE}{{24,}}"),
    "terraform-token": rf"{_WORD}{{14}}\.(?P<secret>atlasv1\.{_URL_SAFE}{{60,}})",
    "databricks-token": _build_token(r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    "grafana-token": _build_token(r"(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    "sentry-token": _build_token(rf"sntry[su]_{_BASE64}{{40,}}[A-Za-z0-9+/=_]*"),
    "newrelic-key": _build_token(r"NRAK-[A-Z0-9]{27}"),
    "linear-key": _build_token(rf"lin_(?:api|oauth)_{_WORD}{{40,}}"),
    "notion-token": _build_token(rf"(?:ntn_{_WORD}{{40,}}|secret_{_WORD}{{43}}\b)"),
    "postman-key": _build_token(r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    "doppler-token": _build_token(r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._\-]{40,}"),
    "planetscale-token": _build_token(r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_\-.]{32,}"),
    "atlassian-token": _build_token(r"ATATT3[A-Za-z0-9_\-=]{60,}"),
    "figma-token": _build_token(rf"fig[dou]_{_URL_SAFE}{{40,}}"),
    "azure-account-key": (r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    "azure-sas": (r"[?&]sig=(?P<secret>(?:%2[BbFf]|[A-Za-z0-9+/]){43,}(?:%3[Dd]|=){1,2})"),
    "age-key": r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    "provider-token": _build_token("(?:" + "|".join(FORMS) + ")"),
    "marked-token": _build_token("(?:" + "|".join(MARKED_FORMS) + ")"),
    "jwt": r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?",
}


SECRET_WORD = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|api[_\-. ]?key|access[_\-. ]?key|"
    r"private[_\-. ]?key|secret[_\-. ]?key|encryption[_\-. ]?key|signing[_\-. ]?key|"
    r"account[_\-. ]?key|credentials?|connection[_\-. ]?string)"
)
_SUFFIX = (
    r"(?:[_\-]?[0-9]{1,3})?"
    r"(?:[_\-](?:prod|production|staging|stage|dev|test|live|old|new|base64|b64))?"
)
NAME = r"(?i:[A-Za-z0-9_\-.]*" + SECRET_WORD + _SUFFIX + r")"
"""The name of a setting that holds a secret."""

SECRET_KEY = r"^" + NAME + r"$"
"""Keys of nested data whose text is a secret whatever it looks like."""

_QUOTED = (
    r"\\+\"(?P<escaped>[^\"\\\r\n]{4,})|"
    r"[brufBRUF]{0,2}\"(?P<quoted>(?:[^\"\\\r\n]|\\.){4,})|"
    r"[brufBRUF]{0,2}'(?P<single>(?:[^'\\\r\n]|\\.){4,})"
)
_BARE = r"[^\s\"'\\,;&|<>=(){}$\[][^\s\"'\\,;&|<>]{3,}"
_FLAG = (
    r"--(?:[A-Za-z0-9]+[\-_]){0,4}(?i:password|passwd|passphrase|pass|pw|token|secret|"
    r"api[\-_]?key|access[\-_]?key|secret[\-_]?key|private[\-_]?key|credentials?)"
)
_TAKES_P = (
    r"(?:sshpass|mysql|mysqladmin|mysqldump|mysqlimport|mariadb|mariadb-dump|smbclient|"
    r"(?:docker|podman|helm registry|oras|skopeo|az|npm|heroku|cf|oc) login|htpasswd|xfreerdp)"
)
_TAKES_U = r"(?:curl|wget|http|https|xh|lftp|smbclient|rclone)"
_COOKIE_NAME = r"[A-Za-z0-9!#$%&*+\-.^_|~]+"

GUESSES: dict[str, str] = {
    "url-password": (r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/:@\"'<>]*:(?P<secret>[^\s/\"'<>]+)@"),
    "authorization": (
        r"(?i:authorization|x-api-key|x-auth-token|private-token)(?:\\*[\"'])?\s{0,5}[:=]\s{0,5}"
        r"(?:\\*[\"'])?(?:(?i:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,5})?"
        r"(?P<secret>[A-Za-z0-9_\-.~+/=:]{8,})"
    ),
    "bearer-token": r"(?i:bearer)\s{1,5}(?P<secret>[A-Za-z0-9_\-.~+/]{16,}={0,2})",
    "cookie": (
        r"(?i:set-cookie)2?(?:\\*[\"'])?\s{0,5}[:=]\s{0,5}(?:\\*[\"'])?" + _COOKIE_NAME + r"="
        r"(?P<set>[^\s;,\"'\\]{4,})|"
        r"\b(?i:cookie)(?:\\*[\"'])?\s{0,5}:\s{0,5}(?:\\*[\"'])?" + _COOKIE_NAME + r"="
        r"(?P<sent>[^\s;\"'\\]+(?:;[ \t]?[^\s;\"'\\]+)*)"
    ),
    "xml-element": (
        r"<(?:[A-Za-z0-9_\-]+:)?" + NAME + r"(?:\s[^<>]*)?>\s*"
        r"(?:<!\[CDATA\[(?P<cdata>[^\]]{4,})\]\]>|(?P<secret>[^<>\s][^<>]{3,}))\s*</"
    ),
    "netrc": (
        r"\b(?:machine\s+\S+\s+|default\s+)?login\s+[\w.@+\-]+\s+(?:account\s+\S+\s+)?"
        r"password\s+(?P<secret>\S{3,})|"
        r"\bmachine\s+\S+\s+password\s+(?P<nameless>\S{3,})"
    ),
    "command-password": (
        _FLAG + r"(?:=|\s{1,5})(?:" + _QUOTED + r"|(?P<bare>" + _BARE + r"))|"
        r"\b" + _TAKES_P + r"\s(?:[^\r\n|;&]*?\s)?-p\s{0,3}"
        r"(?:\"(?P<p_quoted>[^\"\r\n]{4,})|'(?P<p_single>[^'\r\n]{4,})|(?P<p_bare>" + _BARE + r"))|"
        r"\b" + _TAKES_U + r"\s(?:[^\r\n|;&]*?\s)?(?:-u|--user|--proxy-user|-a|--auth)"
        r"[\s=]{0,3}[\"']?[^\s:\"']+:(?P<user_password>[^\s\"']{3,})"
    ),
    "connection-string": (
        r"[;\"'=\s](?i:password|pwd)\s?=\s?(?P<secret>[^;\"'\s$<{(][^;\"'\s]{2,});"
    ),
    "docker-auth": r"\"(?:auth|identitytoken|registrytoken)\"\s{0,5}:\s{0,5}"
    r"\"(?P<secret>[A-Za-z0-9+/_\-.=]{8,})\"",
    "kubernetes-secret": (
        r"(?m:^kind: Secret[ \t]*\r?$)(?:\n(?:[^\-\n][^\n]*)?)*?\n(?:data|stringData):[ \t]*"
        r"(?P<yaml>(?:\r?\n[ \t]+[^\r\n]+)+)|"
        r"\"kind\"\s{0,5}:\s{0,5}\"Secret\"[^{}]*(?:\{[^{}]*\}[^{}]*)?"
        r"\"(?:data|stringData)\"\s{0,5}:\s{0,5}\{(?P<json>[^{}]{4,})\}"
    ),
    "kubernetes-data": (
        r"(?m:^(?:data|stringData):[ \t]*$)(?P<yaml>(?:\r?\n[ \t]+[^\r\n]+)+)\r?\nkind: Secret\b|"
        r"\"(?:data|stringData)\"\s{0,5}:\s{0,5}\{(?P<json>[^{}]{4,})\}\s*,\s*"
        r"(?:\"immutable\"\s{0,5}:\s{0,5}\w{4,5}\s*,\s*)?\"kind\"\s{0,5}:\s{0,5}\"Secret\""
    ),
    "env-line": (
        r"(?:(?m:^)[ \t]*|[\s\"'`;&|])(?:(?:export|set|setx|ENV|ARG|-e|--env)[ \t]+)?"
        r"[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|"
        r"PRIVATE_?KEY|SECRET_?KEY|SIGNING_?KEY|ENCRYPTION_?KEY|CREDENTIALS?)[A-Z0-9_]*="
        r"(?:\"(?P<quoted>[^\"\r\n]{3,})\"|'(?P<single>[^'\r\n]{3,})'|"
        r"(?P<secret>[^\s\"'`$(){}<>;,\\][^\s\"'`();,\\]{2,}))(?:[\s\"'`;\\]|$)"
    ),
    "nuget-password": (
        r"<add\s+key=\"(?i:cleartextpassword|password)\"\s+value=\"(?P<secret>[^\"\r\n]{4,})\""
    ),
    "provider-key": (
        r"(?i:" + PROVIDER + r")[A-Za-z0-9_.\- ]{0,25}(?:\\*[\"'])?\]?\s{0,5}"
        r"(?::=|=>|[:=,(>])\s{0,5}(?:\\*[\"'`])?(?P<secret>[A-Za-z0-9][A-Za-z0-9_\-=+/.]{14,200})"
        r"(?:[\s\"'`\\;,)<]|$)"
    ),
    "random-token": r"[A-Za-z0-9_\-]{24,}",
    "key-value": (
        NAME
        + r"(?:\\*[\"'])?\]?\s{0,5}(?::=|=>|[:=])\s{0,5}(?:"
        + _QUOTED
        + r"|(?P<secret>"
        + _BARE
        + r"))"
    ),
}

_SIGN = re.compile(r"(?:\\*[\"'])?\]?\s{0,5}[:=]")
_NAME_AND_SIGN = re.compile(
    r"(?i:" + SECRET_WORD + _SUFFIX + r")(?:\\*[\"'])?\]?\s{0,5}(?::=|=>|[:=])$|^-[^=]*$"
)
_LONGEST_NAME = 80


def ends_in_name(text: str, start: int, end: int) -> bool:
    """Whether what stands there is, or ends in, the name of a setting whose value comes next."""
    sign = _SIGN.match(text, end)
    stop = sign.end() if sign else end
    return _NAME_AND_SIGN.search(text[max(start, stop - _LONGEST_NAME) : stop]) is not None
