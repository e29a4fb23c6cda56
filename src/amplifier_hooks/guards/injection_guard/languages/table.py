"""The languages whose instructions are known."""

from __future__ import annotations

from collections.abc import Mapping

from amplifier_hooks.guards.injection_guard.languages.chinese import CHINESE
from amplifier_hooks.guards.injection_guard.languages.english import ENGLISH
from amplifier_hooks.guards.injection_guard.languages.french import FRENCH
from amplifier_hooks.guards.injection_guard.languages.german import GERMAN
from amplifier_hooks.guards.injection_guard.languages.language import Language
from amplifier_hooks.guards.injection_guard.languages.spanish import SPANISH

LANGUAGES: Mapping[str, Language] = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "zh": CHINESE,
}
