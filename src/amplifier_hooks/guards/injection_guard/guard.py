"""Stands between what tools and servers say and the model that would read it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from amplifier_core.models import HookResult
from amplifier_hooks.guards.injection_guard.config import Config, Reaction
from amplifier_hooks.guards.injection_guard.finding import Finding
from amplifier_hooks.guards.injection_guard.scanner import Scanner
from amplifier_hooks.guards.injection_guard.texts import Texts
from amplifier_hooks.guards.injection_guard.wording import describe, quote, word_note
from amplifier_hooks.guards.mcp.protocol import ELICIT, SAMPLE
from amplifier_hooks.modules.guarding import Reply
from amplifier_hooks.modules.tool_table import fits_glob

CONTINUE = HookResult(action="continue")
_RESULTS = ("tool_result", "result")
_ASKED_OF_THE_MODEL = (f"__{SAMPLE}", f"__{ELICIT}")
_AT_ONCE = 50_000
"""Letters that are looked through without a thread: it takes a few milliseconds."""


class CallGuard:
    """Judges results of tools, their errors, and what servers ask of the model."""

    def __init__(self, config: Config, scanner: Scanner) -> None:
        self._config = config
        self._scanner = scanner

    def on_result(self, event: str, data: dict[str, Any]) -> Reply:
        """The result of a tool, before the model reads it."""
        said = {name: data[name] for name in _RESULTS if name in data}
        return self._judge(f"the result of {_name(data)}", said, data, self._config.on_result)

    def on_error(self, event: str, data: dict[str, Any]) -> Reply:
        """The error of a tool, which nobody can change any more."""
        said = {"error": data.get("error")}
        return self._judge(f"an error of {_name(data)}", said, data, "tell")

    def on_request(self, event: str, data: dict[str, Any]) -> Reply:
        """What a server asks of the client's model or user."""
        if not _name(data).endswith(_ASKED_OF_THE_MODEL):
            return CONTINUE
        said = {"tool_input": data.get("tool_input")}
        return self._judge(f"the request {_name(data)}", said, data, self._config.on_request)

    def _judge(
        self, source: str, said: dict[str, Any], data: dict[str, Any], reaction: Reaction
    ) -> Reply:
        if not applies_to(self._config, _name(data)):
            return CONTINUE
        texts = Texts(said, self._config.longest)
        return examine(len(texts.text), lambda: self._answer(source, texts, said, data, reaction))

    def _answer(
        self,
        source: str,
        texts: Texts,
        said: dict[str, Any],
        data: dict[str, Any],
        reaction: Reaction,
    ) -> HookResult:
        found = self._scanner.scan(texts.text)
        if not found and not texts.unread:
            return CONTINUE
        what = describe(found, texts.unread)
        told = f"Text in {source} {what}{quote(texts.text, found)}"
        if reaction == "mask":
            clean = texts.mask(said, found, self._config.replacement)
            return tell(f"{told}. It was withheld.", action="modify", data={**data, **clean})
        return react(self._config, reaction, source, what, told, found)


def react(
    config: Config,
    reaction: Reaction,
    source: str,
    what: str,
    told: str,
    found: Sequence[Finding],
) -> HookResult:
    """Tell, ask or withhold; what was found and what was not looked through count alike."""
    if reaction == "withhold":
        return HookResult(action="deny", reason=f"text in {source} {what}; it was withheld")
    if reaction == "ask":
        # A model reads the question if the answer is no, so the passage stands in the reason.
        return config.ask_user(f"Text in {source} {what}. Let the model read it?", told)
    if not found:
        return tell(f"{told}.")
    note = word_note(source, what)
    return tell(f"{told}.", action="inject_context", context_injection=note)


def tell(message: str, **answer: Any) -> HookResult:
    """An answer with a message for the person."""
    return HookResult(
        **{"action": "continue", **answer}, user_message=message, user_message_level="warning"
    )


def applies_to(config: Config, tool: str) -> bool:
    """Whether what this tool says is looked through."""
    wanted = any(fits_glob(tool, glob) for glob in config.tools)
    return wanted and not any(fits_glob(tool, glob) for glob in config.allow_in_tools)


def examine(size: int, answer: Callable[[], HookResult]) -> Reply:
    """At once, or in a thread if it takes long: the time limit ends a wait, not a computation."""
    return answer() if size <= _AT_ONCE else asyncio.to_thread(answer)


def _name(data: dict[str, Any]) -> str:
    return str(data.get("tool_name") or "a tool")
