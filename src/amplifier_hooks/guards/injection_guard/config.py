"""The options of hooks-injection-guard."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from amplifier_hooks.guards.injection_guard.finding import KINDS
from amplifier_hooks.guards.injection_guard.languages.table import LANGUAGES
from amplifier_hooks.modules.guarding import GuardConfig
from amplifier_hooks.modules.option_checks import check_known, check_pattern_names

NAME = "hooks-injection-guard"

Reaction = Literal["tell", "mask", "withhold", "ask"]


class Config(GuardConfig):
    """The options of hooks-injection-guard."""

    on_result: Reaction = "tell"
    on_list: Reaction = "mask"
    on_request: Reaction = "ask"
    tools: list[str] = Field(default_factory=lambda: ["*"], min_length=1)
    allow_in_tools: list[str] = Field(default_factory=list)
    languages: list[str] = Field(default_factory=lambda: list(LANGUAGES), min_length=1)
    off: list[str] = Field(default_factory=list)
    patterns: dict[str, str] = Field(default_factory=dict)
    allow: list[str] = Field(default_factory=list)
    longest: int = Field(2_000_000, ge=1_000)
    replacement: str = "[withheld: {kind}]"

    @field_validator("off")
    @classmethod
    def _check_kinds(cls, value: list[str]) -> list[str]:
        return check_known(value, KINDS, "kind")

    @field_validator("languages")
    @classmethod
    def _check_languages(cls, value: list[str]) -> list[str]:
        return check_known(value, LANGUAGES, "language")

    @field_validator("patterns")
    @classmethod
    def _check_names(cls, value: dict[str, str]) -> dict[str, str]:
        check_pattern_names(value)
        for name in value:
            if name in KINDS:
                raise ValueError(f"{name!r} is the name of a built-in kind; choose another one")
        return value
