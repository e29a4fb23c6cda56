"""Judges what servers say of themselves and of what they offer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.utils.nested import iterate_parts
from amplifier_hooks.guards.injection_guard.config import Config
from amplifier_hooks.guards.injection_guard.finding import Finding, join_findings
from amplifier_hooks.guards.injection_guard.guard import (
    CONTINUE,
    applies_to,
    examine,
    react,
    tell,
)
from amplifier_hooks.guards.injection_guard.scanner import Scanner
from amplifier_hooks.guards.injection_guard.shadowing import Shadowing, list_names
from amplifier_hooks.guards.injection_guard.texts import Texts
from amplifier_hooks.guards.injection_guard.wording import describe, quote
from amplifier_hooks.guards.mcp.protocol import name_method, name_tool
from amplifier_hooks.modules.guarding import Reply

_TOOLS = "tools/list"
_EXACT = ("name", "uri", "uriTemplate")
"""What a call has to repeat letter by letter: an item is withheld rather than renamed."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """An item of a list, or the instructions of a server, in which something was found."""

    number: int | None
    """Of the item; None for the instructions."""
    label: str
    value: Any
    texts: Texts
    found: list[Finding]


class ListGuard:
    """Judges the lists of all servers of a session."""

    def __init__(self, config: Config, scanner: Scanner) -> None:
        self._config = config
        self._scanner = scanner
        self._shadowing = Shadowing(scanner.orders)

    def on_list(self, event: str, data: dict[str, Any]) -> Reply:
        """What a server offers, before the model reads it."""
        items = _list_items(data)
        if data.get("method") == _TOOLS:
            self._shadowing.learn(str(data.get("server")), list_names(items))
        entries = list(self._list_entries(data, items))
        size = sum(len(texts.text) for _, _, _, texts in entries)
        return examine(size, lambda: self._judge(data, entries))

    def _list_entries(
        self, data: dict[str, Any], items: list[Mapping[str, Any]]
    ) -> Iterator[tuple[int | None, str, Any, Texts]]:
        server, method = str(data.get("server")), str(data.get("method"))
        for number, item in enumerate(items):
            label = str(item.get("name", number))
            is_tool = method == _TOOLS
            ours = name_tool(server, label) if is_tool else name_method(server, method)
            if applies_to(self._config, ours):
                yield number, repr(label), item, Texts(item, self._config.longest)
        said = data.get("instructions")
        if said and applies_to(self._config, name_method(server, method)):
            yield None, "its instructions", said, Texts(said, self._config.longest)

    def _judge(
        self, data: dict[str, Any], entries: list[tuple[int | None, str, Any, Texts]]
    ) -> HookResult:
        server = str(data.get("server"))
        suspects = [
            Suspect(*entry, found)
            for entry in entries
            if (found := self._scan(entry[3], server)) or entry[3].unread
        ]
        return self._answer(data, server, suspects) if suspects else CONTINUE

    def _scan(self, texts: Texts, server: str) -> list[Finding]:
        found = self._scanner.scan(texts.text, strict=True)
        if "other-tools" in self._config.off:
            return found
        return join_findings([*found, *self._shadowing.find(texts.text, server)])

    def _answer(self, data: dict[str, Any], server: str, suspects: list[Suspect]) -> HookResult:
        found = [one for suspect in suspects for one in suspect.found]
        what = describe(found, sum(suspect.texts.unread for suspect in suspects))
        labels = ", ".join(suspect.label for suspect in suspects)
        # Without the labels, which a server chooses: the model reads it.
        source = f"what the MCP server {server!r} says"
        first = next((one for one in suspects if one.found), suspects[0])
        told = f"Text in {source} ({labels}) {what}{quote(first.texts.text, first.found)}"
        if self._config.on_list in {"tell", "ask"}:
            return react(self._config, self._config.on_list, source, what, told, found)
        changed = {**data, **self._change(data, suspects)}
        return tell(f"{told}. It was withheld.", action="modify", data=changed)

    def _change(self, data: dict[str, Any], suspects: list[Suspect]) -> dict[str, Any]:
        """The items and instructions without what was found, or without the suspects."""
        items: dict[int, Any] = dict(enumerate(data.get("items") or []))
        changed: dict[str, Any] = {}
        for one in suspects:
            clean = self._clean(one)
            if one.number is None:
                changed["instructions"] = "" if clean is None else clean
            elif clean is None:
                del items[one.number]
            else:
                items[one.number] = clean
        return {"items": list(items.values()), **changed}

    def _clean(self, suspect: Suspect) -> Any:
        """What is left of a suspect; None if that would be of no use, or is not wanted."""
        if self._config.on_list == "withhold":
            return None
        clean = suspect.texts.mask(suspect.value, suspect.found, self._config.replacement)
        return clean if _has_same_frame(suspect.value, clean) else None


def _has_same_frame(before: Any, after: Any) -> bool:
    if not isinstance(before, Mapping):
        return True
    same = all(before.get(name) == after.get(name) for name in _EXACT)
    return same and _list_keys(before) == _list_keys(after)


def _list_keys(value: Any) -> list[list[Any]]:
    return [list(part) for _, part in iterate_parts(value) if isinstance(part, Mapping)]


def _list_items(data: dict[str, Any]) -> list[Mapping[str, Any]]:
    """The items; what is none has to be looked through all the same."""
    items = data.get("items")
    listed = items if isinstance(items, list) else []
    return [one if isinstance(one, Mapping) else {"value": one} for one in listed]
