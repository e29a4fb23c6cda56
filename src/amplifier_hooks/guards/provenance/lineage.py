"""Lineage: who vouches for a value. The best witness wins.

Vouching compares exactly; look-alike letters and invisible characters never vouch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from amplifier_hooks.guards.provenance.ledger import Ledger, Witness
from amplifier_hooks.guards.provenance.request import Request
from amplifier_hooks.guards.provenance.values import (
    compact,
    find_kind,
    find_values,
    list_words,
    normalize,
    read_host,
)
from amplifier_hooks.guards.provenance.words import is_plain_word

Label = Literal["user", "own", "covered", "sender", "text", "none"]
VOUCHED: frozenset[Label] = frozenset({"user", "own", "covered"})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from, and the place, if there is one."""

    label: Label
    witness: Witness | None = None

    @property
    def is_vouched(self) -> bool:
        """Whether the person or a record of their own stands behind it."""
        return self.label in VOUCHED


class Lineage:
    """Finds origins in a ledger, for one request."""

    def __init__(self, ledger: Ledger, request: Request) -> None:
        self.ledger = ledger
        self.request = request
        self.found: dict[str, Origin] = {}
        """The origin of each value that was asked for."""

    def find(self, value: str) -> Origin:
        """The origin of a value."""
        if value not in self.found:
            self.found[value] = self._find(value)
        return self.found[value]

    def _find(self, value: str) -> Origin:
        ledger = self.ledger
        if ledger.was_said(value):
            return Origin("user")
        kind = find_kind(value)
        if kind == "link" and ledger.was_said(read_host(value)):
            return Origin("user")
        fields = ledger.find(value)
        own = next((one for one in fields if one.label == "own"), None)
        if own is not None or ledger.was_used(value):
            return Origin("own", own)
        return self._find_foreign(value, kind, fields)

    def _find_foreign(self, value: str, kind: str, fields: list[Witness]) -> Origin:
        """The origin of a value that neither the person nor a record of theirs has."""
        texts = self.ledger.find_in_prose(value)
        for witness in [*fields, *texts]:
            if self._is_covered(value, kind, witness):
                return Origin("covered", witness)
        if fields:
            return Origin("sender", fields[0])
        if texts or self.ledger.state["unread"]:
            return Origin("text", texts[0] if texts else None)
        return Origin("none")

    def _is_covered(self, value: str, kind: str, witness: Witness) -> bool:
        if kind == "mail" and self.ledger.is_of_role(witness):
            return True
        if kind in {"mail", ""} and self._is_named(value, kind):
            named = witness.label == "sender" or self.ledger.names_record(witness)
            return named or witness.record == 0
        if witness.label == "sender":
            return self._is_sender_meant(witness)
        return bool(kind) and self._is_told(value, kind, witness)

    def _is_named(self, value: str, kind: str) -> bool:
        """Whether the person said the name in an address, and no second address competes."""
        if kind == "mail":
            names = _list_names(value)
            said = [one for one in names if self.ledger.names_word([one])]
            return bool(said) and len(self.ledger.list_rivals(said)) == 1
        words = list_words(value)
        return self.ledger.names_word(words) and all(self.ledger.was_said(one) for one in words)

    def _is_sender_meant(self, witness: Witness) -> bool:
        """Whether the person named the record, wants an answer to the only one, or means all."""
        if self.ledger.names_record(witness):
            return True
        if self.request.replies and self.ledger.count_records(witness.call) == 1:
            return True
        return self.request.quantifies and self.ledger.is_pointed_at(witness)

    def _is_told(self, value: str, kind: str, witness: Witness) -> bool:
        """Whether the person named the source and the kind, and it holds exactly one of these."""
        kind = "link" if kind == "host" else kind
        if kind == "link" and self.ledger.get_source(witness) == "open":
            return False
        if kind not in self.request.kinds or not self.ledger.is_pointed_at(witness):
            return False
        texts = self.ledger.list_texts(witness.call, witness.record)
        known = {
            compact(one) if kind in {"account", "phone"} else normalize(one)
            for text in texts
            for one, its_kind in find_values(text.upper() if kind == "account" else text)
            if its_kind == kind
        }
        return len(known) == 1 and not self.ledger.has_named_field_of(kind)

    def is_rival(self, value: str, witness: Witness) -> bool:
        """Whether the text that names a value has a second one of its kind."""
        kind = find_kind(value)
        texts = self.ledger.list_texts(witness.call, witness.record)
        found = {
            normalize(one)
            for text in texts
            for one, its_kind in find_values(text)
            if its_kind == kind
        }
        return len(found) > 1

    def is_in_named_line(self, value: str, witness: Witness) -> bool:
        """Whether the line of a list that holds the value says a name that the person said."""
        if self.ledger.get_source(witness) != "own":
            return False
        plain = normalize(value)
        for text in self.ledger.list_texts(witness.call, witness.record):
            for line in text.splitlines():
                if plain in line and len(line) < 200 and self.ledger.names_word(list_words(line)):
                    return True
        return False

    def is_singled_out(self, value: str) -> bool:
        """Whether a text that the person did not point at names the value."""
        if value.isdigit() and len(value) < 4:
            return self.ledger.is_numbered(value)
        texts = self.ledger.find_in_prose(value)
        return any(not self.ledger.names_record(one) for one in texts)


def _list_names(address: str) -> list[str]:
    return [one for one in list_words(address.partition("@")[0]) if not is_plain_word(one)]


def list_scalars(given: object) -> Iterable[tuple[str, str, str]]:
    """Each scalar of an input: path, key, text."""
    pending: list[tuple[str, str, object]] = [("", "", given)]
    count = 0
    while pending and count < 5_000:
        path, key, one = pending.pop(0)
        count += 1
        if isinstance(one, dict):
            pending += [
                (f"{path}.{name}".lstrip("."), str(name), part) for name, part in one.items()
            ]
        elif isinstance(one, list | tuple):
            pending += [(path, key, part) for part in one]
        elif one is not None and not isinstance(one, bool):
            yield path, key, str(one)
