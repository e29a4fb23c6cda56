"""The options of our guards: what holds where none is given, and the texts that they know.

An outline has digests in place of texts. Those of texts that every installation has (the words of
an option, its defaults, the names of built-in rules) can be told again; the others cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel

from amplifier_hooks.agent.trust.meaning import Named
from amplifier_hooks.agent.trust.outline import digest_value, outline_value

_CONFIGS: dict[str, tuple[str, tuple[str, ...]]] = {
    # Where the options of a guard are, and the names that they may hold.
    "hooks-production-guard": ("amplifier_hooks.guards.production_guard", ()),
    "hooks-command-guard": (
        "amplifier_hooks.guards.command_guard",
        ("amplifier_hooks.guards.bash:RULES",),
    ),
    "hooks-redaction": (
        "amplifier_hooks.guards.redaction",
        ("amplifier_hooks.guards.policy.secrets:SHAPES",),
    ),
    "hooks-injection-guard": (
        "amplifier_hooks.guards.injection_guard.guard",
        (
            "amplifier_hooks.guards.injection_guard.patterns:KINDS",
            "amplifier_hooks.guards.injection_guard.patterns:LANGUAGES",
        ),
    ),
    "hooks-cost-control": ("amplifier_hooks.guards.cost_control", ()),
    "hooks-rate-limit": ("amplifier_hooks.guards.rate_limit", ()),
    "hooks-model-judge": ("amplifier_hooks.guards.model_judge", ()),
    "hooks-rules": (
        "amplifier_hooks.guards.rules.loading",
        ("amplifier_hooks.guards.rules.rule:ANSWER_FIELDS",),
    ),
    "hooks-shell": ("amplifier_hooks.coding_agents.shell_hooks.config", ()),
}
_WORDS = (
    *("deny", "allow", "ask", "ask_user", "continue", "modify", "inject_context", "warn"),
    *("tool:pre", "tool:post", "Bash", "Write", "Edit", "Read"),
)


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """What is known of the options of one guard."""

    module: str
    defaults: dict[str, Any]
    texts: dict[str, Named]
    renamed: dict[str, str]
    """Names of options in older bundles, with the names that they have now."""

    def read(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of an outline under the names of today, with the texts that are known."""
        return {self.renamed.get(key, key): self.decode(one) for key, one in options.items()}

    def decode(self, value: Any) -> Any:
        """A part of an outline, with the texts that are known in place of their digests."""
        if isinstance(value, Mapping):
            return {key: self.decode(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.decode(one) for one in value]
        return self.texts.get(value, value) if isinstance(value, str) else value


@cache
def read_guard_options(module: str) -> GuardOptions:
    """The options of a guard of ours."""
    place, tables = _CONFIGS[module]
    config: type[BaseModel] = _find(f"{place}:Config")
    given = {name: one for name, one in config.model_fields.items() if not one.is_required()}
    usual = {name: one.get_default(call_default_factory=True) for name, one in given.items()}
    known = [*_WORDS, *_list_texts(usual), *_list_choices(config)]
    known += [str(name) for table in tables for name in _find(table)]
    texts = {digest_value(text): Named(text) for text in known}
    renamed = {
        str(older): name
        for name, field in config.model_fields.items()
        if isinstance(field.validation_alias, AliasChoices)
        for older in field.validation_alias.choices
    }
    options = GuardOptions(module, {}, texts, renamed)
    return replace(options, defaults=options.decode(outline_value(usual)))


def _find(name: str) -> Any:
    place, _, attribute = name.partition(":")
    return getattr(import_module(place), attribute)


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _list_texts(one)
    elif isinstance(value, Iterable):
        for one in value:
            yield from _list_texts(one)


def _list_choices(config: type[BaseModel]) -> Iterator[str]:
    """The words of all options that take one of a few."""
    for field in config.model_fields.values():
        yield from (one for one in _walk(field.annotation) if isinstance(one, str))


def _walk(annotation: Any) -> Iterator[Any]:
    yield annotation
    for one in get_args(annotation):
        yield from _walk(one)
