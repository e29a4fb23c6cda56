"""Guesses: text that is a secret because of what stands beside it, as RE2 patterns.

Named groups mark the part to hide. What they find is judged once more (`plausible`), and never
counts in what a tool is about to write or run.
"""

from __future__ import annotations

import re

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
