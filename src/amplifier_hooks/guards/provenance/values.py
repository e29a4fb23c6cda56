"""Values that can decide about a consequence: how they look, and when two are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining
from unicodedata import normalize as normalize_unicode

from amplifier_hooks.guards.provenance.stems import split_names

MAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+", re.UNICODE)
LINK = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"'`)\]}]+", re.IGNORECASE)
HOST = re.compile(r"(?:[\w-]{1,63}\.)+(?:[a-z]{2,24}|xn--[\w-]+)", re.IGNORECASE)
ACCOUNT = re.compile(r"[A-Z](?<!\w[A-Z])[A-Z]\d{2}(?=(?: ?[A-Z0-9]){11})(?: ?[A-Z0-9]{2,4}){3,8}\b")
PHONE = re.compile(r"[+\d](?:(?<!\+)|\d)[\d ()/.-]{5,18}\d")
WALLET = re.compile(r"\b(?:0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60}|[13][1-9A-HJ-NP-Za-km-z]{25,34})\b")
_NUMBER = re.compile(r"\d+[.,][\d.,]*\d")
_VERSIONED = re.compile(r".@\d[\w.-]*$")
_TOKEN = re.compile(r"[^\s<>\"'`()\[\]{},;|]+")
TELLING = re.compile(r"[\d@./:_\-#]")
_JOINS = frozenset("/=@")
_ENDS = ".,:;!?*_~…"
_STARTS = ",:;!?*…"
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/@\s]*@)?(?:www\.)?", re.IGNORECASE)
_HOST_OF = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_COMMON_ENDS = split_names(
    "py js ts md txt json yaml yml toml cfg ini lock sh go rs java kt rb php c h cpp hpp css html "
    "xml csv sql log pdf png jpg jpeg svg gif docx xlsx pptx zip gz tar tgz ipynb tsx jsx vue env "
    "mk cs swift scala lua pl r ps1 bat dockerfile tf proto graphql whl jar exe conf bak tmp orig "
    "map test spec min local internal"
)
"""What ends the name of a file rather than a host."""


def normalize(value: object) -> str:
    """A value as it is compared: case, blanks around it, the scheme and a last slash apart."""
    text = " ".join(str(value).split()).casefold()
    return _SCHEME.sub("", text).rstrip("/") if "/" in text else text


def fold(word: str) -> str:
    """A word without its accents."""
    return "".join(one for one in normalize_unicode("NFD", word) if not combining(one))


def compact(value: str) -> str:
    """Digits and letters only, as accounts and phone numbers are compared."""
    return "".join(one for one in value.casefold() if one.isalnum())


def find_kind(value: str) -> str:
    """`mail`, `link`, `host`, `account`, `phone`; empty for what has no such form."""
    text = value.strip()
    if MAIL.fullmatch(text):
        return "mail"
    if LINK.fullmatch(text) or ("/" in text and HOST.match(text) and not _is_file(text)):
        return "link"
    if ACCOUNT.fullmatch(text.upper()) or WALLET.fullmatch(text):
        return "account"
    if PHONE.fullmatch(text) and not re.fullmatch(r"\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d.*", text):
        return "phone" if text.startswith("+") or sum(map(str.isdigit, text)) > 8 else ""
    if HOST.fullmatch(text) and not _is_file(text):
        return "host"
    return ""


def _is_file(text: str) -> bool:
    first = text.partition("/")[0]
    return first.rpartition(".")[2].casefold() in _COMMON_ENDS or text.startswith((".", "/", "~"))


def read_host(link: str) -> str:
    """The host that a link or a remote names, in small letters."""
    match = _HOST_OF.match(link.strip())
    host = match[1].casefold() if match else ""
    return host.removeprefix("www.")


def find_values(text: str) -> Iterator[tuple[str, str]]:
    """Each address, link, account and phone number inside a text, with its kind."""
    for pattern, kind in ((LINK, "link"), (MAIL, "mail"), (ACCOUNT, "account")):
        for match in pattern.finditer(text):
            yield match[0].rstrip(_ENDS), kind
    if "+" in text:
        for match in PHONE.finditer(text):
            if match[0].startswith("+"):
                yield match[0], "phone"


def list_words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return _WORD.findall(text.casefold())


def read_number(text: str) -> str:
    """A number as it is compared: `79,90` is 79.9, `1.250,00` is 1250; empty for anything else."""
    parts = re.split(r"[.,]", text.strip())
    if not all(map(str.isdecimal, parts)):
        return ""
    grouped = len(parts) > 1 and len(parts[-1]) == 3 and len(parts[0]) < 4 and parts[0] != "0"
    decimals = [] if len(parts) == 1 or grouped else parts[-1:]
    groups = parts[: len(parts) - len(decimals)]
    if any(len(one) != 3 for one in groups[1:]):
        return ""
    number = "".join(groups)
    return f"{number}.{decimals[0]}".rstrip("0").rstrip(".") if decimals else number


def index_number(text: str) -> str:
    """Under what a number is looked up that may be written otherwise; empty for anything else."""
    number = read_number(text)
    return f"={number}" if number else ""


def list_numbers(text: str) -> set[str]:
    """The numbers of a text that may be written otherwise, as they are looked up."""
    return {index_number(one) for one in _NUMBER.findall(text)} - {""}


def spell_number(text: str) -> list[str]:
    """The other ways to write a number: with a comma, with cents, with groups."""
    whole, _, decimals = read_number(text).partition(".")
    if not whole:
        return []
    forms = []
    for point, group in ((".", ","), (",", ".")):
        for begun in dict.fromkeys((whole, f"{int(whole):,}".replace(",", group))):
            ends = {decimals, decimals.ljust(2, "0")} if decimals else {"", "00"}
            forms += [f"{begun}{point}{end}" if end else begun for end in sorted(ends)]
    return list(dict.fromkeys(forms))


def list_tokens(text: str) -> set[str]:
    """The parts of a text that can be a value: those with a digit or a sign inside.

    Of links the host, too; accounts and phone numbers also without their blanks.
    """
    found: set[str] = set()
    for token in set(_TOKEN.findall(text.casefold())):
        if token.isalpha():
            continue
        token = token.rstrip(_ENDS).lstrip(_STARTS)
        if token.isalpha():
            continue
        if _JOINS.isdisjoint(token):
            found.add(token)
        else:
            found.update(_read_token(token))
    found.update(list_spaced(text))
    found.discard("")
    return found


def _read_token(token: str) -> Iterator[str]:
    """What a token with signs may be: a link and its host, both sides of `=`, `git@host:path`."""
    if "/" in token:
        link = LINK.search(token)
        named = token if link is None else link[0].rstrip(_ENDS)
        yield normalize(named)
        if link is not None or HOST.match(token):
            yield read_host(named)
    else:
        yield token
    if "@" in token and _VERSIONED.search(token):  # a package of a version
        yield token.rpartition("@")[0]
    if "=" in token and "://" not in token:
        yield from (part.strip(_ENDS) for part in token.split("="))
    elif "@" in token and ":" in token:
        yield from (part.strip(_ENDS) for part in token.split(":"))


def list_spaced(text: str) -> Iterator[str]:
    """Accounts and phone numbers of a text, compact."""
    for match in ACCOUNT.finditer(text):
        yield compact(match[0])
    for match in PHONE.finditer(text):
        digits = compact(match[0])
        if len(digits) > 6:
            yield digits
