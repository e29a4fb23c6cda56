"""Sinks of calls: which arguments decide about a consequence, and what has to vouch for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from amplifier_hooks.guards.provenance.known import WELL_KNOWN
from amplifier_hooks.guards.provenance.labels import split_own
from amplifier_hooks.guards.provenance.ledger import MOST_WITNESSES, Witness, is_key
from amplifier_hooks.guards.provenance.lineage import Lineage, Origin, list_scalars
from amplifier_hooks.guards.provenance.overrides import Kind
from amplifier_hooks.guards.provenance.results import is_prose, split_key
from amplifier_hooks.guards.provenance.stems import Stems, split_names
from amplifier_hooks.guards.provenance.values import (
    HOST,
    find_kind,
    find_values,
    fold,
    list_words,
    normalize,
    read_host,
)
from amplifier_hooks.guards.provenance.words import (
    ACTS,
    AMOUNT_KEYS,
    CONTENT_KEYS,
    DESTINATION_KEYS,
    OPEN,
    READING,
    RIGHT_KEYS,
    SAME_NOUNS,
    SECRET_KEYS,
    STRICT,
    TARGET_KEYS,
    WEAK_RIGHTS,
    is_plain_word,
)
from amplifier_hooks.guards.provenance.words import (
    MAIL as _WRITTEN,
)

_ATTACHED = Stems("attachment attachments attach anhang adjunto adjuntos pieces")
_NAMES = Stems("title subject summary headline betreff titel asunto titulo objet titre oggetto")
_TIME = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:?\d\d.*)?|\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?|"
    r"\d{1,2}[./]\d{1,2}[./]\d{2,4}.*|\d{1,2}\.? [^\W\d]+\.? \d{4}.*",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[\s,;|+~]+")
_NUMBER = re.compile(r"[-+]?[\d.,]+\s?(?:[%€$£]|[A-Z]{3})?")
LOCAL = re.compile(
    r"localhost|127\.[\d.]+|0\.0\.0\.0|\[?::1\]?|[\w-]+\.local(?:host)?|host\.docker\.internal"
)
_SELF = split_names(
    "me myself self i all everyone default primary main checking savings personal business current "
    "joint cash card email mail sms push phone whatsapp letter app web"
)
"""The person, the own account, and ways to be told: no destination of somebody else."""
_MEANS_RIGHT = re.compile(
    r"edit|writ|owner|admin|full|manage|collaborat|maint|push|chang|modif|contribut|bearbeit|schreib|"
    r"escrib|modifi|édit|scriv|bewerk"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A value, or an act, that nobody vouches for."""

    argument: str
    value: str
    origin: Origin
    what: str
    """What it is: a destination, an amount, an act that was not asked for."""


def judge_call(tool: str, given: Mapping[str, Any], lineage: Lineage) -> Iterator[Finding]:
    """What of an ordinary call nobody vouches for; nothing before anything foreign was read."""
    act = lineage.ledger.find_act(tool, given)
    if act == "internal":
        return
    if act == "read":
        yield from _judge_reading(tool, given, lineage)
        return
    dictated = _is_dictated(given, act, lineage)
    asked = dictated or lineage.request.covers(act) or _is_told_by_name(tool, lineage)
    if act != "unknown" and not asked:
        yield Finding("", act, Origin("none"), "act")
    if not dictated and _is_unasked(tool, given, act, lineage):
        act = "unasked"
    kinds = lineage.ledger.overrides.list_kinds(tool)
    for path, key, text in list_scalars(given):
        if key in kinds:
            finding = _judge_told(kinds[key], path, text, act, lineage)
        else:
            finding = _judge_argument(path, key, text, act, lineage)
        if finding is not None and not _is_meant(finding, tool, act, lineage):
            yield finding


def _is_meant(finding: Finding, tool: str, act: str, lineage: Lineage) -> bool:
    """Whether a value of a text is what a service calls its records, or fills in a record."""
    witness = finding.origin.witness
    if witness is None or act == "unasked":
        return False
    if finding.what == "target":
        return _is_key_of_service(finding.value, tool, lineage)
    if finding.what == "destination" and act == "change":
        is_contact = find_kind(finding.value) in {"mail", "phone", ""}
        return is_contact and lineage.ledger.names_file(witness.call) and _is_named(tool, lineage)
    return False


def _is_key_of_service(value: str, tool: str, lineage: Lineage) -> bool:
    """Whether a value with digits was only ever given as a key, by tools of the same service."""
    if " " in value or not any(map(str.isdigit, value)):
        return False
    ledger = lineage.ledger
    places = ledger.find_in_prose(value)
    return 0 < len(places) < MOST_WITNESSES and all(
        is_key(one.path.rpartition(".")[2]) and _is_same_service(tool, ledger.get_tool(one))
        for one in places
    )


def _is_same_service(tool: str, other: str) -> bool:
    servers = {one.rpartition("__")[0] for one in (tool, other)}
    if "" not in servers:
        return len(servers) == 1
    return any(_share_stem(one, its) for one in _list_nouns(tool) for its in _list_nouns(other))


def _is_named(tool: str, lineage: Lineage) -> bool:
    """Whether the person named what a tool is for."""
    said = lineage.request.words
    return any(_share_stem(one, word) for one in _list_nouns(tool) for word in said)


def _list_nouns(tool: str) -> list[str]:
    """The words of a tool's name that say neither what it does nor that it goes to the web."""
    verbs = (READING, OPEN, *ACTS.values())
    return [one for one in split_own(tool) if not any(stems.fits(one) for stems in verbs)]


def _is_dictated(given: Mapping[str, Any], act: str, lineage: Lineage) -> bool:
    """Whether the person said what is to be set, booked or paid, and no text said any of it."""
    if act in {"send", "delete"}:
        return False
    dictated = False
    for _, key, text in list_scalars(given):
        words = split_key(key)[-3:]
        if CONTENT_KEYS.any(words):
            continue
        said = lineage.request.dictates(text)
        dictated = dictated or (said and not TARGET_KEYS.any(words) and not find_kind(text))
        foreign = lineage.find(text).label in {"text", "sender"}
        if foreign and not said and not _is_partly_said(text, lineage):
            return False
    return dictated


def _is_told_by_name(tool: str, lineage: Lineage) -> bool:
    """Whether the person said all words of the tool's name, outside of a question."""
    told = {fold(one) for one in lineage.request.told.split()}
    names = [fold(one) for one in split_own(tool)]
    return len(names) > 1 and all(any(_share_stem(one, said) for said in told) for one in names)


def _is_unasked(tool: str, given: Mapping[str, Any], act: str, lineage: Lineage) -> bool:
    """Whether nothing shows that the person wanted what a call changes."""
    if act == "unknown" and lineage.request.only_asks:
        return True
    return act in {"change", "unknown"} and not _is_related(tool, given, lineage)


def _is_related(tool: str, given: Mapping[str, Any], lineage: Lineage) -> bool:
    """Whether what a call changes is what the request is about, as far as words show that."""
    request = lineage.request
    if request.delegates:
        return True
    is_known = request.is_english or ((request.acts or request.asks) and not request.is_opaque)
    if not is_known:
        return True
    if not request.is_english and "change" in request.acts:
        return True
    foreign = [
        key
        for _, key, text in list_scalars(given)
        if lineage.find(text).label in {"text", "sender", "none"}
    ]
    names = {*split_own(tool), *(word for key in foreign for word in split_key(key))}
    names.update(*(same for same in SAME_NOUNS if same & names))
    return any(_share_stem(one, said) for one in names for said in request.words)


def _share_stem(one: str, other: str) -> bool:
    shortest = min(len(one), len(other))
    return shortest > 2 and (one == other or (shortest > 3 and one[:4] == other[:4]))


def _judge_argument(path: str, key: str, text: str, act: str, lineage: Lineage) -> Finding | None:
    words = split_key(key)[-3:]
    kind = find_kind(text)
    if SECRET_KEYS.any(words):
        return _judge_secret(path, text, lineage)
    if kind:
        return _judge_destination(path, text, kind, act, lineage)
    if RIGHT_KEYS.any(words) and len(text) < 40:
        return _judge_right(path, text, lineage)
    return _judge_plain(path, words, text, act, lineage)


def _judge_told(told: Kind, path: str, text: str, act: str, lineage: Lineage) -> Finding | None:
    """An argument of which the options say what it decides."""
    match told:
        case "destination":
            return _judge_destination(path, text, find_kind(text), act, lineage)
        case "target":
            return _judge_target(path, text, act, lineage)
        case "content":
            return _judge_content(path, text, ["content"], lineage)
        case "amount":
            return _judge_amount(path, text, act, lineage)
        case "secret":
            return _judge_secret(path, text, lineage)
        case "right":
            return _judge_right(path, text, lineage)
        case "plain":
            return None


def _judge_plain(
    path: str, words: Sequence[str], text: str, act: str, lineage: Lineage
) -> Finding | None:
    """An argument that has no telling form: its key decides."""
    if DESTINATION_KEYS.any(words[-2:]) and not CONTENT_KEYS.any(words) and len(text) < 200:
        return _judge_destination(path, text, "", act, lineage)
    if CONTENT_KEYS.any(words) or is_prose("", text):
        return _judge_content(path, text, words, lineage)
    counts = AMOUNT_KEYS.any(words) or ("." in text and not TARGET_KEYS.any(words))
    if counts and _NUMBER.fullmatch(text):
        return _judge_amount(path, text, act, lineage)
    if act == "send" and _ATTACHED.any(words):
        return _judge_attachment(path, text, lineage)
    if _TIME.fullmatch(text.strip()):
        return None
    if TARGET_KEYS.any(words) or any(map(str.isdigit, text)):
        return _judge_target(path, text, act, lineage)
    return _judge_other(path, text, act, lineage)


def _judge_secret(path: str, text: str, lineage: Lineage) -> Finding | None:
    if lineage.ledger.was_said(text):
        return None
    texts = lineage.ledger.find_in_prose(text)
    return Finding(path, text, Origin("text", texts[0]), "secret") if texts else None


def _judge_right(path: str, text: str, lineage: Lineage) -> Finding | None:
    plain = normalize(text)
    if plain in WEAK_RIGHTS or lineage.ledger.was_said(text):
        return None
    if re.search(r"edit|writ|rw|^w$|contribut|bearbeit|collaborat", plain) and any(
        _MEANS_RIGHT.search(one) for one in lineage.request.words
    ):
        return None
    origin = lineage.find(text)
    if origin.label in {"own", "covered"} and not lineage.is_singled_out(text):
        return None
    return Finding(path, text, origin, "right")


def _judge_destination(
    path: str, text: str, kind: str, act: str, lineage: Lineage
) -> Finding | None:
    plain = normalize(text)
    if plain in _SELF or LOCAL.fullmatch(read_host(text)):
        return None
    origin = lineage.find(text)
    if origin.is_vouched:
        return None
    if not kind and act in {"change", "unknown"} and _is_partly_said(text, lineage):
        return None
    if not kind and origin.label == "none":
        outward = act in {"send", "share"}
        if not outward or lineage.ledger.names_word(plain.split()):
            return None
    return Finding(path, text, origin, "destination")


def _is_partly_said(text: str, lineage: Lineage) -> bool:
    """Whether it is the full name of somebody whom the person named."""
    words = text.split()
    return (
        len(words) in {2, 3}
        and all(map(str.isalpha, words))
        and lineage.ledger.names_word(list_words(text))
    )


def _judge_content(path: str, text: str, words: Sequence[str], lineage: Lineage) -> Finding | None:
    """Links, addresses and accounts in a text that somebody else reads."""
    for value, _ in [*find_values(text), *_find_bare_hosts(text)]:
        origin = lineage.find(value)
        if origin.is_vouched or LOCAL.fullmatch(read_host(value)):
            continue
        witness = origin.witness
        pointed = witness is not None and lineage.ledger.is_pointed_at(witness)
        if witness is not None and pointed and not lineage.is_rival(value, witness):
            continue
        return Finding(path, value, origin, "content")
    ledger = lineage.ledger
    if lineage.request.copies or not CONTENT_KEYS.any(words) or ledger.has_composed(text):
        return None
    copied = ledger.find_sentence(text)
    if copied is None and _NAMES.any(words) and not ledger.find(text):
        copied = ledger.find_dictated(text)
    if copied is not None and _NAMES.any(words) and _is_meant_name(words, copied, lineage):
        return None
    return Finding(path, text, Origin("text", copied), "copied text") if copied else None


def _is_meant_name(words: Sequence[str], copied: Witness, lineage: Lineage) -> bool:
    """Whether it was a name of the same kind before, or the person said from where to take it."""
    if split_key(copied.path.rpartition(".")[2])[-1:] == list(words[-1:]):
        return True
    source = [one for one in split_own(lineage.ledger.get_tool(copied)) if _WRITTEN.fits(one)]
    sentences = [one.split() for one in lineage.request.told.split("|")]
    said = [told for sentence in sentences if words[-1] in sentence for told in sentence]
    return any(_share_stem(one, told) for one in source for told in said)


def _find_bare_hosts(text: str) -> Iterator[tuple[str, str]]:
    for match in HOST.finditer(text):
        if find_kind(match[0]) == "host" and not re.search(r"[@/.]$", text[: match.start()]):
            yield match[0], "host"


def _judge_amount(path: str, text: str, act: str, lineage: Lineage) -> Finding | None:
    origin = lineage.find(text)
    if origin.label not in {"text", "sender"} or act in {"send", "share", "delete"}:
        return None
    if origin.witness is None or lineage.ledger.names_file(origin.witness.call):
        return None
    if lineage.ledger.names_heading(origin.witness):
        return None
    if len(text) < 3:
        dictated = lineage.ledger.is_dictated(split_key(path.rpartition(".")[2])[:1], text)
        return Finding(path, text, origin, "amount") if dictated else None
    if lineage.ledger.is_pointed_at(origin.witness):
        return None
    return Finding(path, text, origin, "amount")


def _judge_attachment(path: str, text: str, lineage: Lineage) -> Finding | None:
    """What is sent along: the person has to have named it, or its record."""
    origin = lineage.find(text)
    witness = origin.witness
    if origin.label in {"user", "covered"} or witness is None:
        return None
    return None if lineage.ledger.is_pointed_at(witness) else Finding(path, text, origin, "target")


def _judge_target(path: str, text: str, act: str, lineage: Lineage) -> Finding | None:
    origin = lineage.find(text)
    ledger = lineage.ledger
    if origin.label in {"user", "covered", "none"}:
        return None
    if act == "unasked":
        return _judge_other(path, text, act, lineage)
    if origin.label == "own":
        witness = origin.witness
        if act not in STRICT or witness is None or ledger.names_record(witness):
            return None
        return Finding(path, text, origin, "target") if lineage.is_singled_out(text) else None
    if origin.witness is not None and _is_in_meant_text(text, act, origin.witness, lineage):
        return None
    if text.isdigit() and len(text) < 4 and not ledger.is_numbered(text):
        return None
    return Finding(path, text, origin, "target")


def _is_in_meant_text(text: str, act: str, witness: Witness, lineage: Lineage) -> bool:
    """Whether the value's line says what the person said, or they named its source for that act."""
    ledger = lineage.ledger
    if lineage.is_in_named_line(text, witness) or ledger.is_listed(text, witness):
        return True
    if act not in STRICT and _names_most(text, lineage):
        return True
    if act not in STRICT and lineage.request.delegates:
        return any(ledger.is_pointed_at(one) for one in ledger.find_in_prose(text))
    if act == "change" and ledger.names_record(witness):
        return True
    return act in {"pay", "change"} and lineage.ledger.names_file(witness.call)


def _names_most(text: str, lineage: Lineage) -> bool:
    """Whether the person said all words of a longer name that tell, and its numbers."""
    words = [one for one in list_words(text) if one.isdigit() or not is_plain_word(one)]
    return len(words) > 1 and all(map(lineage.ledger.was_said, words))


def _judge_other(path: str, text: str, act: str, lineage: Lineage) -> Finding | None:
    """An argument of no known kind: it counts where an unknown tool is called without a wish."""
    if act != "unasked" or len(text) < 3:
        return None
    origin = lineage.find(text)
    return Finding(path, text, origin, "value") if origin.label in {"text", "sender"} else None


# Reading


def _judge_reading(tool: str, given: Mapping[str, Any], lineage: Lineage) -> Iterator[Finding]:
    """An address that is read in the open world, and what a query there would give away."""
    is_open = lineage.ledger.find_source(tool, given) == "open"
    for path, key, text in list_scalars(given):
        kind = find_kind(text)
        names_link = split_key(key)[-1:] in (["url"], ["uri"], ["link"], ["href"], ["urls"])
        if kind == "link" or (kind == "host" and (is_open or names_link)):
            if (finding := _judge_address(path, text, lineage)) is not None:
                yield finding
        elif is_open:
            yield from _judge_query(path, text, lineage)


def _judge_address(path: str, text: str, lineage: Lineage) -> Finding | None:
    ledger = lineage.ledger
    host = read_host(text)
    if LOCAL.fullmatch(host) or ledger.was_said(text):
        return None
    if carries_data(text, lineage):
        return Finding(path, text, lineage.find(text), "data in an address")
    if ledger.was_said(host) or host in ledger.state["visited"]:
        return None
    origin = lineage.find(text)
    if origin.is_vouched or (origin.label == "none" and _is_known_by_heart(text, lineage)):
        return None
    texts = [one for one in ledger.find_in_prose(text) if ledger.stands_whole(text, one)]
    if any(ledger.is_search(one) or ledger.names_record(one) for one in texts):
        return None
    stores = [one for one in texts if ledger.get_source(one) != "open"]
    if any(ledger.is_pointed_at(one) and not lineage.is_rival(text, one) for one in stores):
        return None
    fields = ledger.find(text)
    if any(ledger.get_source(one) == "own" for one in fields):
        return None
    return Finding(path, text, origin, "address to read")


def _is_known_by_heart(link: str, lineage: Lineage) -> bool:
    """Whether everybody knows a place, or no text has any of it and the person said what it names.

    An address with a query is never one that a model just knows.
    """
    host = read_host(link)
    if host in WELL_KNOWN or host.partition(".")[2] in WELL_KNOWN:
        return True
    names = [one for one in host.split(".")[:-1] if len(one) > 2 and not is_plain_word(one)]
    if "?" in link or any(map(lineage.ledger.is_within, names)):
        return False
    return lineage.ledger.names_word(list_words(normalize(link).partition("/")[2]))


def carries_data(link: str, lineage: Lineage) -> bool:
    """Whether an address holds values that were read elsewhere."""
    if lineage.ledger.find_in_prose(link) and lineage.ledger.stands_anywhere(link):
        return False
    try:
        parts = urlsplit(link if "://" in link else f"https://{link}")
    except ValueError:
        return True
    given = [value for _, value in parse_qsl(parts.query)]
    given += [one for value in given for one in _PIECE.split(value)]
    path = [one for one in re.split(r"[/,;]", parts.path) if one]
    given += [one for one in path if find_kind(one) or len(one) > 40]
    given += [one for one in (parts.hostname or "").split(".")[:-2] if len(one) > 20]
    return any(_is_private(one, lineage) for one in given) or any(
        _is_own_key(one, lineage) for one in path
    )


def _is_own_key(value: str, lineage: Lineage) -> bool:
    """Whether a part of a path is a value with digits of the person's own records."""
    if len(value) < 4 or not any(map(str.isdigit, value)) or lineage.ledger.was_said(value):
        return False
    return any(lineage.ledger.get_source(one) == "own" for one in lineage.ledger.find(value))


def _is_private(value: str, lineage: Lineage) -> bool:
    if len(value) < 4 or lineage.ledger.was_said(value):
        return False
    if lineage.ledger.names_word(normalize(value).split()):
        return False
    return bool(lineage.ledger.find(value) or lineage.ledger.find_in_prose(value))


def _judge_query(path: str, text: str, lineage: Lineage) -> Iterator[Finding]:
    for value, kind in find_values(text):
        origin = lineage.find(value)
        if kind != "link" and origin.label not in {"user", "covered"}:
            yield Finding(path, value, origin, "data in a query")
