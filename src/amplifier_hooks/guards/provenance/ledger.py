"""The ledger: what was said by the person and what was read, with the place of every value.

It lives in the session's state as plain values, so that it is saved and resumed with the session,
and no compaction of the conversation reaches it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from amplifier_hooks.guards.provenance.labels import Source, find_act, find_source
from amplifier_hooks.guards.provenance.overrides import Overrides
from amplifier_hooks.guards.provenance.results import Part, read_result, split_key
from amplifier_hooks.guards.provenance.stems import Stems
from amplifier_hooks.guards.provenance.values import (
    MAIL,
    TELLING,
    compact,
    find_kind,
    find_values,
    index_number,
    list_numbers,
    list_tokens,
    list_words,
    normalize,
    read_host,
    read_number,
    spell_number,
)
from amplifier_hooks.guards.provenance.words import (
    KEY_KEYS,
    PROSE_KEYS,
    SENDER_KEYS,
    TARGET_KEYS,
    is_plain_word,
)

State = dict[str, Any]
_MOST_TEXT = 300_000
MOST_WITNESSES = 6
MANIFEST = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|pnpm-lock\.yaml|yarn\.lock|requirements[\w.-]*\.(?:txt|in)|"
    r"pyproject\.toml|poetry\.lock|uv\.lock|Pipfile(?:\.lock)?|setup\.(?:py|cfg)|Cargo\.(?:toml|lock)|"
    r"go\.(?:mod|sum)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|build\.gradle(?:\.kts)?|"
    r"environment\.ya?ml|\.gitmodules|\.git/config|compose\.ya?ml|docker-compose\.ya?ml|Dockerfile)$"
)
FILE = re.compile(r"\w\.[a-z][a-z0-9]{1,4}$")
_REMOTES = re.compile(r"\s*git\s+(?:-C\s+\S+\s+)?(?:remote\b|config\s+--get\s+remote)")
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|^\s*>.*$|^-{3,}\s*(?:Forwarded|Original) .*\Z", re.MULTILINE | re.DOTALL
)


_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBERED = (
    r"\bids?|#|\bn[or]\.?|number|file|booking|event|order|\bprs?|request|issue|ticket|\bmr|item|"
    r"task|record|user|member|card|payment|transaction|invoice|account|document|entry"
)
_LONG_SENTENCE = 6
_IN_QUOTES = re.compile(r"([\"'])(.+?)\1")
_TITLES = Stems(
    "title subject name headline filename file label topic betreff titel asunto titulo objet "
    "titre oggetto"
)
_JOINED = re.compile(r"(?<=[a-z])\.(?=[A-Z][a-z])")
"""A full stop without a blank behind it."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Where a value stands: `own`, `sender` or `text`, in which call, at which place."""

    label: str
    call: int
    path: str
    record: int


class Ledger:
    """Remembers, and finds the witnesses of a value."""

    def __init__(self, state: State, overrides: Overrides | None = None) -> None:
        self.state = state
        self.overrides = overrides or Overrides()
        for key, empty in _EMPTY.items():
            state.setdefault(key, empty())
        self._flat: dict[int, str] = {}

    @property
    def is_tainted(self) -> bool:
        """Whether anything was read that somebody else could have written."""
        return bool(self.state["tainted"])

    # The person

    def hear(self, prompt: str) -> str:
        """Take in the words of the person; returns those that are their own."""
        own = _JOINED.sub(". ", _QUOTED.sub("\n", prompt))
        if _QUOTED.search(prompt):
            pasted = "\n".join(match[0] for match in _QUOTED.finditer(prompt))
            self._add_prose(pasted, Part("prompt", "", pasted, True, 0), self._open_call("", {}))
        self.state["said"] += f" {' '.join(list_words(own[:100_000]))} |"
        words = self.state["said_words"]
        words.update(dict.fromkeys(list_tokens(own), 1))
        words.update(dict.fromkeys([*list_words(own), *list_numbers(own)], 1))
        return own

    def was_said(self, value: str) -> bool:
        """Whether a value stands in the person's words, as a whole."""
        plain = normalize(value)
        words = self.state["said_words"]
        if not plain:
            return True
        if plain in words or read_number(plain) in words or index_number(plain) in words:
            return True
        kind = find_kind(value)
        if kind in {"account", "phone"} and compact(value) in words:
            return True
        if kind == "host":
            return any(read_host(one) == plain for one in words if plain in one)
        if kind in {"link", "mail"} or "@" in plain or not plain.isprintable():
            return False
        bare = f" {' '.join(list_words(plain))} "
        return len(bare) > 2 and bare in self.state["said"]

    def is_related(self, host: str) -> bool:
        """Whether the person named a host of the same domain."""
        domain = ".".join(host.split(".")[-2:])
        return any(
            one.endswith(domain) and "." in one and read_host(one).endswith(domain)
            for one in self.state["said_words"]
        )

    def names_word(self, words: Iterable[str]) -> bool:
        """Whether one of the words is a telling word of the person."""
        said = self.state["said_words"]
        return any(word in said and not is_plain_word(word) for word in words)

    # What was read

    def read(self, tool: str, given: Mapping[str, Any], result: Any, call_id: str = "") -> None:
        """Take in the result of a call."""
        source = self.find_source(tool, given)
        if source == "open":
            for value in _list_inputs(given):
                if find_kind(value) in {"link", "host"}:
                    self.state["visited"][read_host(value)] = 1
        command = str(given.get("command") or given.get("cmd") or "")
        path = str(given.get("file_path") or given.get("path") or given.get("filePath") or "")
        call = self._open_call(tool, given, call_id)
        if source != "own" or find_act(tool, given) == "internal":
            self.state["tainted"] = True
        is_file = any(FILE.search(one) for one in _list_inputs(given))
        reading = read_result(result, only_prose=source == "project", is_file=is_file)
        echoed = set(_list_inputs(given))
        vouches = bool(MANIFEST.search(path) or _REMOTES.match(command))
        for part in reading.parts:
            if part.is_prose:
                self._add_prose(part.text, part, call)
                if vouches and source == "project":
                    self._add_manifest(part, call)
            else:
                self._add_field(part, call, source, echoed)

    def describe(self, text: str, where: str) -> None:
        """Take in what a server says of its tools: prose of somebody else."""
        call = self._open_call(where, {})
        self._add_prose(text, Part("description", "", text, True, 0), call)

    def give_up(self) -> None:
        """Something was read that nobody could look through."""
        self.state["tainted"] = True
        self.state["unread"] = True

    def take_hints(self, tool: str, annotations: Mapping[str, Any]) -> None:
        """What a server says of a tool can only make it stricter."""
        hints = self.state["hints"].setdefault(tool, [])
        if annotations.get("openWorldHint") is True:
            hints.append("open")
        changes = not {"destructiveHint", "idempotentHint"}.isdisjoint(annotations)
        if annotations.get("readOnlyHint", not changes) is False:
            hints.append("change")

    def _list_hints(self, tool: str) -> list[str]:
        hints: dict[str, list[str]] = self.state["hints"]
        return hints.get(tool) or hints.get(tool.rpartition("__")[2]) or []

    def find_act(self, tool: str, given: Mapping[str, Any]) -> str:
        """What a call does, by its name, its input and what its server says."""
        if told := self.overrides.find_act(tool):
            return told
        act = find_act(tool, given)
        is_silent = act in {"read", "unknown"}
        return "change" if is_silent and "change" in self._list_hints(tool) else act

    def find_source(self, tool: str, given: Mapping[str, Any]) -> Source:
        """Who could have written what a call returns, with what its server says."""
        if told := self.overrides.find_label(tool):
            return told
        source = find_source(tool, given)
        return "open" if source == "own" and "open" in self._list_hints(tool) else source

    def use(self, given: Mapping[str, Any]) -> None:
        """Remember what was used before anything foreign was read: no text can have planted it."""
        if self.is_tainted:
            return
        used = self.state["used"]
        for value in _list_inputs(given):
            used[value] = 1

    def write(self, given: Mapping[str, Any]) -> None:
        """Remember what a changing call was given: no later answer vouches for that."""
        written = self.state["written"]
        for value in _list_inputs(given):
            if value not in self.state["fields"]:
                written[value] = 1

    def find(self, value: str) -> list[Witness]:
        """The fields that hold a value."""
        plain = normalize(value)
        found = self.state["fields"].get(plain)
        if found is None and find_kind(value) in {"account", "phone"}:
            found = self.state["fields"].get(compact(value))
        if found is None:
            found = self.state["fields"].get(index_number(plain))
        return [Witness(*one) for one in found or ()]

    def find_in_prose(self, value: str) -> list[Witness]:
        """The texts that a value stands in."""
        plain = normalize(value)
        tokens = self.state["tokens"]
        found = tokens.get(plain) or tokens.get(plain.lstrip("@#")) or tokens.get(f"@{plain}")
        if not found and find_kind(value) in {"account", "phone"}:
            found = tokens.get(compact(value))
        others = [] if found else [one for one in spell_number(plain) if one != plain]
        found = found or next(filter(None, map(tokens.get, others)), None)
        if found:
            return [self._place(one) for one in found]
        commas = [one for one in others if "," in one]
        if commas:
            return [one for form in commas for one in self._find_words(form)]
        if len(plain) < 3 or (" " not in plain and TELLING.search(plain)):
            return []  # values of this form were all taken from the texts
        return self._find_words(plain)

    def _find_words(self, plain: str) -> list[Witness]:
        pattern = re.compile(rf"(?<![\w@.-]){re.escape(plain)}(?![\w@-])")
        texts = self.state["texts"]
        numbers = (at for at in self._search(plain) if pattern.search(texts[at].replace("\n", " ")))
        return [self._place(at) for at in islice(numbers, MOST_WITNESSES)]

    def find_words_together(self, text: str) -> Witness | None:
        """A text that has these words one after the other."""
        plain = " ".join(text.casefold().split())
        if len(plain) < 4:
            return None
        return next((self._place(number) for number in self._search(plain)), None)

    def compose(self, given: Any) -> None:
        """Remember the sentences that the agent wrote itself: in no text yet, but soon in one."""
        for text in _list_inputs(given):
            for one in [text, *(match[2] for match in _IN_QUOTES.finditer(text))]:
                if " " in one and self.find_words_together(one) is None:
                    self.state["composed"][one] = 1

    def has_composed(self, text: str) -> bool:
        """Whether the agent wrote it before it stood in a text."""
        return normalize(text) in self.state["composed"]

    def make(self, name: str) -> None:
        """Remember a file that the agent made or changed."""
        self.state["made"][name] = 1

    def was_made(self, name: str) -> bool:
        """Whether the agent itself made or changed a file of this name."""
        return name in self.state["made"]

    def was_used(self, value: str) -> bool:
        """Whether it was used before anything foreign was read."""
        return normalize(value) in self.state["used"]

    def is_pointed_at(self, witness: Witness) -> bool:
        """Whether the person named the record, or what it was asked for by."""
        said = self.state["said_words"]
        key = f"{witness.call}:{witness.record}"
        words = [
            *self.state["record_words"].get(key, ()),
            *self.state["calls"][witness.call]["words"],
        ]
        if any(word in said and not is_plain_word(word) for word in words):
            return True
        joined = self.state["said"].replace(" ", "")  # Fjord Museum, at fjordmuseum.example
        long = (one for one in self.state["calls"][witness.call]["words"] if len(one) > 7)
        return any(one.isalpha() and one in joined for one in long if not is_plain_word(one))

    def names_record(self, witness: Witness) -> bool:
        """Whether the very record, or the one of a list that led to it, carries a said name."""
        key = f"{witness.call}:{witness.record}"
        if self.names_word(self.state["record_words"].get(key, ())):
            return True
        return any(map(self._names_listed, self.state["calls"][witness.call]["words"]))

    def _names_listed(self, value: str) -> bool:
        """Whether a key was given by a record of an own list that carries a said name."""
        if not any(map(str.isdigit, value)):
            return False
        found = (Witness(*one) for one in self.state["fields"].get(value, ()))
        keys = (
            f"{one.call}:{one.record}"
            for one in found
            if one.label == "own" and one.record and is_key(one.path.rpartition(".")[2])
        )
        return any(self.names_word(self.state["record_words"].get(key, ())) for key in keys)

    def names_heading(self, witness: Witness) -> bool:
        """Whether the first line of a text of an own system says a key that the person said."""
        if self.get_source(witness) != "own":
            return False
        said = self.state["said_words"]
        heads = (text.partition("\n")[0] for text in self.list_texts(witness.call, witness.record))
        tokens = (token for head in heads for token in list_tokens(head) if len(token) > 4)
        return any(token in said and not token.isdecimal() for token in tokens)

    def is_of_role(self, witness: Witness) -> bool:
        """Whether a place is named by what the person calls its holder, in a record they named."""
        words = split_key(witness.path.rpartition(".")[2])[-1:]
        if PROSE_KEYS.any(words):
            return False
        said = self.state["said_words"]
        begins = (one for one in said for word in words if len(one) > 5 and word.startswith(one))
        return any(not is_plain_word(one) for one in begins) and any(
            one in said and any(map(str.isdigit, one)) and len(one) > 4
            for one in self.state["calls"][witness.call]["words"]
        )

    def names_file(self, call: int) -> bool:
        """Whether what was read is a file that the person named."""
        said = self.state["said_words"]
        return any(one in said and FILE.search(one) for one in self.state["calls"][call]["words"])

    def is_listed(self, value: str, witness: Witness) -> bool:
        """Whether a line of an own list begins with the key, and nothing repeats it."""
        if self.get_source(witness) != "own" or not any(map(str.isdigit, value)):
            return False
        plain = normalize(value)
        texts = [self.state["texts"][at] for at in self._search(plain)]
        lines = [line for text in texts for line in text.split("\n") if plain in line]
        return len(lines) == 1 and lines[0].lstrip(" -*•#[(|").startswith(plain)

    def names_page(self, call: int) -> bool:
        """Whether what was read is a page whose address the person gave."""
        return any(
            find_kind(one) == "link" and self.was_said(one)
            for one in self.state["calls"][call]["words"]
        )

    def is_dictated(self, words: Iterable[str], number: str) -> bool:
        """Whether a text says a short number right behind one of the words."""
        for word in words:
            pattern = re.compile(rf"\b{re.escape(word)}\b[^.!?]{{0,60}}?\b{re.escape(number)}\b")
            found = (self.state["texts"][at] for at in self._search(word))
            if any(pattern.search(one) for one in found):
                return True
        return False

    def get_tool(self, witness: Witness) -> str:
        """The tool whose result it is."""
        return str(self.state["calls"][witness.call]["tool"])

    def get_call_id(self, witness: Witness) -> str:
        """The id of the call whose result it is, if it has one."""
        return str(self.state["calls"][witness.call].get("id", ""))

    def get_source(self, witness: Witness) -> Source:
        """The label of the call's result."""
        source: Source = self.state["calls"][witness.call]["source"]
        return source

    def find_sentence(self, text: str) -> Witness | None:
        """A text that the person did not point at, and that has a sentence of this one."""
        for sentence in _SENTENCES.split(text.casefold()):
            plain = " ".join(sentence.split())
            if len(plain.split()) < _LONG_SENTENCE and not (
                plain == text.casefold().strip() and plain.count(" ") > 1
            ):
                continue
            if self.was_said(plain):
                continue
            for number in self._search(plain):
                if not self.names_record(self._place(number)):
                    return self._place(number)
        return None

    def is_numbered(self, number: str) -> bool:
        """Whether a text names something by a short number: `file with ID '13'`."""
        pattern = re.compile(rf"(?:{_NUMBERED})\W{{1,4}}{number}(?![-:/.]?\d)")
        found = (self.state["texts"][at] for at in self._search(number))
        return any(pattern.search(one) for one in found)

    def find_dictated(self, name: str) -> Witness | None:
        """A text that has this name in the midst of other words."""
        plain = " ".join(name.casefold().split())
        if plain.count(" ") < 2 or self.was_said(plain):
            return None
        for number in self._search(plain):
            longer = len(self.state["texts"][number]) > 2 * len(plain)
            if longer and plain not in self.state["texts"][number].split("\n"):
                return self._place(number)
        return None

    def list_texts(self, call: int, record: int = 0) -> list[str]:
        """The prose of one record of a call; of all of it without a record."""
        return [
            self.state["texts"][at]
            for at, place in enumerate(self.state["places"])
            if place[0] == call and record in (0, place[2])
        ]

    def list_rivals(self, names: Iterable[str]) -> set[str]:
        """The addresses that carry one of the names."""
        return {one for name in names for one in self.state["names"].get(name, ())}

    def count_records(self, call: int) -> int:
        """How many records of a call have a sender."""
        return len(self.state["senders"].get(str(call), ()))

    def has_named_field_of(self, kind: str) -> bool:
        """Whether a record that the person named has a field of this kind."""
        return any(
            self.names_word(self.state["record_words"].get(place, ()))
            for place, _, its_kind in (one.rpartition(":") for one in self.state["kinds"])
            if its_kind == kind
        )

    def is_search(self, witness: Witness) -> bool:
        """Whether the place is a list of search results."""
        call = self.state["calls"][witness.call]
        return call["source"] == "open" and not call["opens"]

    def stands_whole(self, link: str, witness: Witness) -> bool:
        """Whether a link stands in a text as it is, and is not a part of a longer one."""
        return normalize(link) in self.state["tokens"]

    def stands_anywhere(self, link: str) -> bool:
        """Whether a link stands in any text as it is."""
        return normalize(link) in self.state["tokens"]

    def is_within(self, part: str) -> bool:
        """Whether any text has these letters, inside of another word too."""
        within = any(part in token for token in self.state["tokens"])
        return within or next(self._search(part), None) is not None

    def quote(self, value: str, width: int = 160) -> str:
        """The newest text around a value."""
        plain = normalize(value)
        number = next(self._search(plain), None)
        if number is None:
            return ""
        flat = self._flat[number]
        at = flat.index(plain)
        return flat[max(0, at - width // 2) : at + len(plain) + width // 2].strip()

    # Inside

    def _open_call(self, tool: str, given: Mapping[str, Any], call_id: str = "") -> int:
        values = list(_list_inputs(given))[:60]
        inputs = [one for value in values for one in list_words(value)[:20]]
        words = sorted({*values, *inputs[:60], *_list_names(inputs)})
        self.state["calls"].append(
            {
                "tool": tool,
                "id": call_id,
                "words": words,
                "source": self.find_source(tool, given),
                "opens": any(find_kind(one) in {"link", "host"} for one in _list_inputs(given)),
            }
        )
        return len(self.state["calls"]) - 1

    def _place(self, number: int) -> Witness:
        call, path, record = self.state["places"][number]
        return Witness("text", call, path, record)

    def _add_prose(self, text: str, part: Part, call: int) -> None:
        if not text.strip():
            return
        self.state["tainted"] = True
        number = len(self.state["texts"])
        self.state["places"].append([call, part.path, part.record])
        self._keep(text)
        index = self.state["tokens"]
        for token in list_tokens(text):
            found = index.setdefault(token, [])
            if len(found) < MOST_WITNESSES:
                found.append(number)
            if "@" in token and MAIL.fullmatch(token):
                self._add_name(token)
        if part.record and len(text) < 200 and _TITLES.any(split_key(part.key)):
            self._add_record_words(part, call)

    def _keep(self, text: str) -> None:
        """Keep a text for searches and quotes; the oldest make room, their values stay known."""
        lines = (" ".join(line.split()) for line in text[:_MOST_TEXT].casefold().splitlines())
        kept = "\n".join(lines)
        texts = self.state["texts"]
        texts.append(kept)
        self.state["size"] += len(kept)
        while self.state["size"] > _MOST_TEXT:
            oldest = self.state["first"]
            self.state["size"] -= len(texts[oldest])
            texts[oldest] = ""
            self.state["first"] = oldest + 1

    def _search(self, plain: str) -> Iterator[int]:
        """The numbers of the texts that have these words one after the other, the newest first."""
        texts = self.state["texts"]
        for number in range(len(texts) - 1, self.state["first"] - 1, -1):
            flat = self._flat.get(number)
            if flat is None:
                flat = self._flat[number] = texts[number].replace("\n", " ")
            if plain in flat:
                yield number

    def _add_field(self, part: Part, call: int, source: Source, echoed: set[str]) -> None:
        self._add_record_words(part, call)
        kind = find_kind(part.text)
        label = label_field(part.key, source, kind)
        plain = normalize(part.text)
        if plain in echoed or (label != "text" and plain in self.state["written"]):
            return
        if label == "text":
            self._add_prose(part.text, part, call)
            return
        if label == "sender" and SENDER_KEYS.any(split_key(part.key)):
            self._count_sender(call, part.record)
        if kind:
            self.state["kinds"][f"{call}:{part.record}:{kind}"] = 1
        inner = {normalize(one) for one, its_kind in find_values(part.text) if its_kind == "mail"}
        for name in {*_list_spellings(part.text, kind), *(inner - echoed)}:
            found = self.state["fields"].setdefault(name, [])
            if len(found) < MOST_WITNESSES:
                found.append([label, call, part.path, part.record])
        for mail in inner:
            self._add_name(mail)

    def _count_sender(self, call: int, record: int) -> None:
        senders = self.state["senders"].setdefault(str(call), [])
        if record not in senders:
            senders.append(record)

    def _add_name(self, address: str) -> None:
        """Know an address by the names in it."""
        for name in list_words(address.partition("@")[0]):
            found = self.state["names"].setdefault(name, [])
            if address not in found and len(found) < 20:
                found.append(address)

    def _add_manifest(self, part: Part, call: int) -> None:
        """Names of packages and hosts that a manifest holds."""
        for word in {*re.findall(r"[@\w][\w./@-]+", part.text.casefold())}:
            name = re.split(r"[=<>~!@ ]", word.removeprefix("@"))[0]
            for one in {word, name, ("@" + name) if word.startswith("@") else name}:
                self.state["fields"].setdefault(one, []).append(["own", call, part.path, 0])
        for value, kind in find_values(part.text):
            names = {normalize(value), read_host(value)} if kind == "link" else {normalize(value)}
            for name in names:
                self.state["fields"].setdefault(name, []).append(["own", call, part.path, 0])
        for user, host in re.findall(r"(\w+)@([\w.-]+):", part.text):
            self.state["fields"].setdefault(host.casefold(), []).append(["own", call, user, 0])

    def _add_record_words(self, part: Part, call: int) -> None:
        key = f"{call}:{part.record}"
        words = self.state["record_words"].setdefault(key, [])
        if len(words) < 60:
            words += [*list_words(part.text), *list_tokens(part.text)]


def is_key(name: str) -> bool:
    """Whether a field or an argument of this name says which record is meant."""
    words = split_key(name)[-2:]
    return KEY_KEYS.any(words) or TARGET_KEYS.any(words)


def label_field(key: str, source: Source, kind: str) -> str:
    """What a field of a source is worth: `own`, `sender` or `text`."""
    if source == "own":
        return "own"
    words = split_key(key)
    if source == "open":
        return "text"
    if KEY_KEYS.any(words[-2:]) and not SENDER_KEYS.any(words[-1:]):
        return "own"
    if source == "chat":  # its members and channels are the space's own, not what they write
        return "sender" if kind else "own"
    return "sender" if SENDER_KEYS.any(words) else "text"


def _list_inputs(given: Any) -> Iterable[str]:
    pending = [given]
    count = 0
    while pending and count < 2_000:
        one = pending.pop()
        count += 1
        if isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, list | tuple):
            pending += one
        elif one is not None and not isinstance(one, bool):
            text = str(one)
            if len(text) < 300:
                yield normalize(text)


def _list_spellings(text: str, kind: str) -> set[str]:
    """The ways in which a field is compared."""
    spellings = {normalize(text), index_number(text) or normalize(text)}
    if kind in {"account", "phone"}:
        spellings.add(compact(text))
    if kind == "link":
        spellings.add(read_host(text))
    return spellings


def _list_names(words: list[str]) -> list[str]:
    return [f"{one}-{two}" for one, two in pairwise(words)][:20]


_EMPTY: dict[str, Any] = {
    "said": str,
    "said_words": dict,
    "fields": dict,
    "tokens": dict,
    "texts": list,
    "first": int,
    "places": list,
    "calls": list,
    "record_words": dict,
    "names": dict,
    "kinds": dict,
    "senders": dict,
    "visited": dict,
    "made": dict,
    "composed": dict,
    "used": dict,
    "written": dict,
    "remembered": dict,
    "described": dict,
    "prompts": list,
    "tainted": bool,
    "hints": dict,
    "unread": bool,
    "size": int,
}
