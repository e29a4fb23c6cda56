"""Whether a guess is worth hiding: secrets are told from words, names and program code.

A value is judged by its own letters and, where that says too little, by what stands around it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

Check = Callable[[str, int, int], bool]
"""Takes a text, and where in it the value begins and ends."""

_PLACEHOLDER = re.compile(
    r"[<${%]|.*\{\{|.*\$\{|.*\$\(|.*<[^>]*>|.*%\(|.*\.\.\.|[*xX.•\-_#0?]+$|(?i:.*redacted|deadbeef)|"
    r"#[0-9A-Fa-f]{3,8}$"
)
_PLACEHOLDER_WORDS = (
    " a access admin an any api apikey auth bar baz bearer bool boolean bytes changeit changeme "
    " character client cls code config credential credentials csrf custom default demo disabled "
    " dummy empty enabled env example fake false field file float foo guest hidden host id input "
    " int integer key login me mock model my mypass mypassword mysecret mytoken name nil no none "
    " null number object off on option optional options os pass passphrase passwd password path "
    " placeholder private prompt public pw pwd read redacted refresh request required response "
    " root sample secret secretkey self session sign some str string system test testing text "
    " the this tiger to token true type undefined unset user username value void with write xxx "
    " yes you your "
)
_KNOWN_NAMES = re.compile(
    r"(?i)(?:sha|md|hs|rs|es|ps|aes|rsa|utf|base|oauth|x|pkcs|ipv|http|tls|ssl|v|p|ed|int|uint|"
    r"float|str|latin|cp|iso|win|py|arg|var|val|tok|token|pass|password|secret|key|value|test|user|"
    r"name|node|field|line|item|data|res|result|match|word|text|expr|part|group|left|right)"
    r"[-_]?\d{1,5}"
)
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[(\[]|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+[!?]?$")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*$")
_PARTS = re.compile(r"[\s_\-./:,]+")
_PLAIN_PART = re.compile(
    r"(?:[A-Za-z]+\d{0,2}|\d+[a-z]{0,2}|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,2})?$"
)
_ADDRESS = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+$|[A-Za-z][A-Za-z0-9+.\-]*://")
# What a reader takes as one word: `Ed` `25519` `Private` `Key`.
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_INNER_SYMBOL = re.compile(r"\w[!@#$%^&*~+]+\w")
_LONGEST_KEY = 100
_LONGEST_JUDGED = 2_000
"""What a value is, its first letters tell."""
_OF_PROGRAMS = re.compile(r"[(){}\[\]<>|\\`\s]")


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: `<token>`, `$TOKEN`, `changeme`, `xxxx`."""
    bare = value[:_LONGEST_JUDGED].strip(" \t.,;:!?\"'`")
    if len(bare) < 3 or _PLACEHOLDER.match(bare):
        return True
    words = [word for word in re.split(r"[\s_\-./:]+|(?<=[a-z])(?=[A-Z])", bare) if word]
    return all(f" {word.casefold()} " in _PLACEHOLDER_WORDS for word in words)


def is_random(value: str) -> bool:
    """Whether the letters look drawn by lot: digits and capitals all over a long text."""
    value = value[:_LONGEST_JUDGED]
    if len(value) < 16 or _OF_PROGRAMS.search(value):
        return False
    runs = len(_RUN.findall(value))
    return runs >= 5 and runs * 10 >= len(value) * 3


_SAMPLE = re.compile(
    r"(?i)example|placeholder|your[-_]|change[-_]?me|replace[-_]?(?:me|with)|dummy|not[-_]?a[-_]?real|"
    r"0123456789|1234567890|9876543210|abcdefgh|([0xX])\1{9}"
)


def is_sample(value: str) -> bool:
    """Whether a token was made up to be shown: `AKIAIOSFODNN7EXAMPLE`, `ghp_0000…`."""
    return _SAMPLE.search(value[:_LONGEST_JUDGED]) is not None


def is_secret_text(value: str) -> bool:
    """Whether a text, known to be data and not code, has the letters of a password or a key."""
    value = value[:_LONGEST_JUDGED]
    if is_placeholder(value) or _OF_PROGRAMS.search(value) or _ADDRESS.match(value):
        return False
    return is_random(value) or (not _is_name(value) and _has_letters_of_a_secret(value))


def _is_name(value: str) -> bool:
    """Whether it reads as the name of something: `sha256`, `config.api_key`, `csrf_token`."""
    if _KNOWN_NAMES.fullmatch(value) or _CODE.match(value):
        return True
    parts = _PARTS.split(value)
    return len(parts) > 1 and all(_PLAIN_PART.match(part) for part in parts)


def _has_letters_of_a_secret(value: str) -> bool:
    """Digits among letters, six digits, or a sign inside a word."""
    if _has_digits(value):
        return any(letter.isalpha() for letter in value) or len(value) >= 6
    return _INNER_SYMBOL.search(value) is not None


# The values of single shapes


def is_folder_name(key: str, value: str) -> bool:
    """Whether a setting named like a password is the folder where a program works.

    `PWD` and `OLDPWD` of a shell, and names that end in `pwd` with a path of several folders.
    """
    if not key.lower().endswith("pwd"):
        return False
    pattern = _PATH if key in ("PWD", "OLDPWD") else _LONG_PATH
    return pattern.fullmatch(value) is not None


_PATH = re.compile(r"(?:[A-Za-z]:)?[/\\~][^\s;,\"'@!$%^&*]*")
_LONG_PATH = re.compile(r"(?:[A-Za-z]:)?[/\\~](?:[\w.+-]+[/\\]){1,}[\w.+-]+[/\\]?")
_KEY_BEFORE = re.compile(
    r"([A-Za-z0-9_\-.]+)(?:\\*[\"'])?\]?\s{0,5}(?::=|=>|[:=])\s{0,5}(?:\\*[\"'])?$"
)


def _check_key_value(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if _names_folder(text[max(0, start - _LONGEST_KEY) : start], value):
        return False
    if text[start - 1 : start] in {'"', "'"}:
        return is_secret_text(value) and not _continues_as_code(text, end + 1)
    return _is_bare_secret(text, start, end)


def _names_folder(before: str, value: str) -> bool:
    if "pwd" not in before.lower():  # which is found out sooner, and hardly ever so
        return False
    key = _KEY_BEFORE.search(before)
    return key is not None and is_folder_name(key.group(1), value)


def _continues_as_code(text: str, position: int) -> bool:
    """Whether a string is put together from parts, or has a method called on it."""
    return re.compile(r"\s{0,3}(?:\+|%|\.[a-z_]+\()").match(text, position) is not None


def _is_bare_secret(text: str, start: int, end: int) -> bool:
    value = text[start:end].rstrip(".:!?`*)]}")
    if not is_secret_text(value):
        return False
    if not _IDENTIFIER.match(value) or is_random(value):
        return not _NUMBER.match(value)
    if text[end : end + 1] in tuple(",)([;]}") or text[end - 1] in ")]}":
        return False
    before = text[max(0, start - 80) : start]
    if _ASSIGNED_BEFORE.search(before):
        return True
    return _ALONE_BEFORE.search(before) is not None and _LINE_END.match(text, end) is not None


_NUMBER = re.compile(r"[-+]?(?:0[xob])?[0-9a-fA-F_]{0,15}\.?\d*[a-zA-Z%]{0,3}$")
# `name=value` with no space, or `name: value` and `name = value` alone on their line.
_ASSIGNED_BEFORE = re.compile(r"(?:^|[\s?&;\"'`])[A-Za-z0-9_\-]+=$")
_ALONE_BEFORE = re.compile(r"(?:^|\s)[A-Za-z0-9_\-]+(?::[ \t]+|\s=\s)$")
_LINE_END = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r|\n|$)")


def _check_env_line(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if is_placeholder(value) or _is_path_or_name(value):
        return False
    if _has_digits(value) and not value.isdigit():
        return True
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return _ENV_BEFORE.match(line) is not None and len(value) > 3


def _is_path_or_name(value: str) -> bool:
    named = _CODE.match(value) or _KNOWN_NAMES.fullmatch(value)
    constant = value.isupper() and "_" in value
    return bool(named) or constant or value.startswith(("/", "./", "~/"))


def _has_digits(value: str) -> bool:
    return any(letter.isdigit() for letter in value)


_ENV_BEFORE = re.compile(r"[ \t]*(?:(?:export|set|setx|ENV|ARG|-e|--env)[ \t]+)?[A-Z0-9_]+=[\"']?$")


def _check_netrc(text: str, start: int, end: int) -> bool:
    return not is_placeholder(text[start:end])


def _check_flag(text: str, start: int, end: int) -> bool:
    value = text[start:end].rstrip(".,:`)]")
    if value.isupper() and value.replace("_", "").replace("-", "").isalpha():
        return False
    if value.isalpha():  # a word: a password if the command ends or goes on with a flag
        return not is_placeholder(value) and _FLAG_AFTER.match(text, end) is not None
    if text[start - 1 : start] == "=" or text[start - 2 : start] in {'="', "='"}:
        return not is_placeholder(value) and not _CODE.match(value)
    return is_secret_text(value)


_FLAG_AFTER = re.compile(r"[\"']?[ \t]+-{1,2}[A-Za-z]|[\"']?[ \t]*(?:$|[\r\n|&;])")


def _check_url(text: str, start: int, end: int) -> bool:
    value = unquote(text[start:end])
    return not is_placeholder(value) and not re.match(r"\d+,|.*[(){}\[\]|`]", value)


def _check_header(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if is_placeholder(value) or _CODE.match(value):
        return False
    told = is_secret_text(value) and _has_digits(value)
    return told or is_random(value) or _decodes_to_pair(value)


def _check_cookie(text: str, start: int, end: int) -> bool:
    pairs = [pair.partition("=") for pair in ("=" + text[start:end]).split(";")]
    return any(is_secret_text(value.strip()) or is_random(value.strip()) for _, _, value in pairs)


def _check_docker(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return _decodes_to_pair(value) or is_random(value)


def _decodes_to_pair(value: str) -> bool:
    """Whether it is `user:password` in base64."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return ":" in decoded[1:-1] and decoded.isprintable()


def _check_kubernetes(text: str, start: int, end: int) -> bool:
    return "{{" not in text[start:end]


def _check_data(text: str, start: int, end: int) -> bool:
    return is_secret_text(text[start:end].strip())


# Bare words


BEGUN_TOKEN = re.compile(
    r"(?:sk-|sk_|rk_|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|A[KS]IA|xox[a-z]|xapp-|AIza|GOCSPX-|ya29\.|"
    r"npm_|pypi-|hf_|gsk_|xai-|pplx-|r8_|SG\.|dapi|do[oprt]_v1_|shp[a-z]{2}_|hv[sbr]\.|eyJ|"
    r"AGE-SECRET|dckr_|glsa_|sntry|lin_|ntn_|ATATT|NRAK-|PMAK-|rubygems_|whsec_|pscale_|dp\.)"
)
"""How the tokens begin that have shapes of their own."""
_SHORTEST_PART = 20
_LONGEST_TOKEN = 160
_HEX = re.compile(r"[0-9a-f\-]+|[0-9A-F\-]+")
_TWO_DIGITS = re.compile(r"\d.*\d")
_LETTERS_AND_DIGITS = re.compile(r"[A-Za-z]+|\d+")
_NO_TOKEN_BEFORE = re.compile(
    r"[/+.%\\@#$~?]$|[^A-Za-z0-9_]b[\"']$|(?i:sha\d{1,3}|base64|md5)[-:=, ]?$"
)
_NO_TOKEN_AFTER = re.compile(r"[/+@(\\~$]|=[^=\s]|\.[A-Za-z0-9_]")
_REFERENCE_LINE = re.compile(
    r"(?i)integrity|checksum|digest|sha-?\d|hash|fingerprint|etag|commit|nonce|signature|uuid|guid|"
    r"https?://|data:|public|base64|cursor|checkpoint|\bids?\b|\bssh-[a-z0-9-]+ $"
)
_REFERENCE_PREFIX = re.compile(
    r"(?:toolu|srvtoolu|call|msg|req|resp|chatcmpl|cmpl|run|thread|asst|file|batch|item|fc|rs|ws|evt|cus|pi|"
    r"pm|ch|in|sub|price|prod|acct|seti|cs|txn|si|il|re|step|vs|org|proj|user|sess|session|trace|"
    r"span|job|task|conn|inst|i|vol|sg|subnet|vpc|ami|eni|snap)[_-]|[a-z]{2,12}_01[A-Z]"
)
_LINE_WIDTH = 160


def is_random_word(word: str) -> bool:
    """Whether a word can only be a key or the like: letters and digits drawn by lot.

    Hexadecimal digits are none: those are commits, digests and numbers far more often.
    """
    if not 24 <= len(word) <= _LONGEST_TOKEN or not _TWO_DIGITS.search(word):
        return False
    if _HEX.fullmatch(word) or is_sample(word):
        return False
    part = max(re.split("[_-]", word), key=len)
    digits = sum(letter.isdigit() for letter in part)
    if len(part) < _SHORTEST_PART or digits < 2 or digits * 2 > len(part) or _HEX.fullmatch(part):
        return False
    if part.islower() or part.isupper():
        return len(_LETTERS_AND_DIGITS.findall(part)) * 10 >= len(part) * 3
    return len(_RUN.findall(part)) * 100 >= len(part) * 42


def _check_random(text: str, start: int, end: int) -> bool:
    word = text[start:end].strip("-_")
    if not is_random_word(word) or _REFERENCE_PREFIX.match(word) or BEGUN_TOKEN.match(word):
        return False
    before = text[max(0, start - _LINE_WIDTH) : start].rpartition("\n")[2]
    if _NO_TOKEN_BEFORE.search(before) or _NO_TOKEN_AFTER.match(text, end):
        return False
    if _REFERENCE_LINE.search(before) or _says_text(word):
        return False
    return not _is_line_of_data(text, start, end)


_DATA_LINE = re.compile(r"[\s\"'b(]*[A-Za-z0-9+/=_\-]{16,}[\s\"'\\n,)]*")


_LAST_DATA_LINE = re.compile(r"^[\s\"']*[A-Za-z0-9+/]{4,}=[=\s\"']*$")


def _is_line_of_data(text: str, start: int, end: int) -> bool:
    """Whether it is one line of several that are data in base64."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    if not _DATA_LINE.fullmatch(text, first, last):
        return False
    above = text[text.rfind("\n", 0, max(0, first - 1)) + 1 : max(0, first - 1)]
    below = text[last + 1 :][:_LINE_WIDTH].partition("\n")[0]
    return any(
        _DATA_LINE.fullmatch(line) or _LAST_DATA_LINE.search(line) for line in (above, below)
    )


def _says_text(word: str) -> bool:
    """Whether it is printable text in base64."""
    try:
        said = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return said.isprintable()


_SINGLE_CASE_KEY = re.compile(r"[0-9a-f]{16,}|[0-9A-F]{16,}")
_OF_PROVIDER = re.compile(
    r"(?i)key|token|secret|pass|auth|api|cred|access|client|account|session|id\b"
)
_NO_KEY = re.compile(
    r"(?i)sha\d|hash|digest|checksum|commit|revision|version|uuid|guid|url|uri|host|path|file|name|"
    r"image|tag|region|zone|public|email|_id\b|[._-]id\b|branch|module|package|repo|time|date"
)


def _check_provider_key(text: str, start: int, end: int) -> bool:
    """A word without a form of its own, assigned to something that is called after a provider."""
    value = text[start:end].rstrip(".=,;")
    line = text[max(0, start - _LONGEST_KEY) : start].rpartition("\n")[2]
    if is_placeholder(value) or is_sample(value) or _NO_KEY.search(line):
        return False
    if _is_name(value) or value.startswith("/") or _NO_TOKEN_BEFORE.search(line.rstrip("\"'")):
        return False
    if _SINGLE_CASE_KEY.fullmatch(value):
        return bool(_OF_PROVIDER.search(line)) and len(set(value)) > 6
    return _has_digits(value) and is_random(value)


def _check_nuget(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return not is_placeholder(value) and not is_sample(value)


CHECKS: Mapping[str, Check] = {
    "random-token": _check_random,
    "provider-key": _check_provider_key,
    "nuget-password": _check_nuget,
    "url-password": _check_url,
    "authorization": _check_header,
    "bearer-token": _check_header,
    "cookie": _check_cookie,
    "xml-element": _check_data,
    "netrc": _check_netrc,
    "command-password": _check_flag,
    "connection-string": _check_netrc,
    "docker-auth": _check_docker,
    "kubernetes-secret": _check_kubernetes,
    "kubernetes-data": _check_kubernetes,
    "env-line": _check_env_line,
    "key-value": _check_key_value,
}
"""How the finds of each guess are judged; one that fails is no find."""
