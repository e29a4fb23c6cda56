"""Environment variables in the texts of a bundle.

`${NAME}`            its value; an error when it is not set
`${NAME:-default}`   its value, or the default when it is not set or empty
`${NAME:+word}`      the word when it is set and not empty, else nothing
`$${`                the three characters `${`
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::([-+])(.*))?\Z", re.DOTALL)
_SENSITIVE = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 6


class SubstitutionError(ValueError):
    """A reference that cannot be resolved."""


def substitute(text: str, env: Mapping[str, str]) -> str:
    """The text with every reference replaced."""
    return _REFERENCE.sub(lambda match: _resolve(match, env), text) if "${" in text else text


def find_secrets(text: str, env: Mapping[str, str]) -> frozenset[str]:
    """The values of variables in the text whose names say that they are secret."""
    names = {match[1].partition(":")[0] for match in _REFERENCE.finditer(text) if match[1]}
    values = (env.get(name, "") for name in names if _SENSITIVE.search(name))
    return frozenset(value for value in values if len(value) >= _SHORTEST_SECRET)


def _resolve(match: re.Match[str], env: Mapping[str, str]) -> str:
    if match[0] == "$${":
        return "${"
    if match[1] is None:
        raise SubstitutionError("'${' is never closed; write '$${' for the characters themselves")
    parsed = _NAME.match(match[1])
    if parsed is None:
        raise SubstitutionError(
            f"{match[0]!r} names no variable; use ${{NAME}}, ${{NAME:-default}} or ${{NAME:+word}}"
        )
    return _choose_value(parsed[1], parsed[2], parsed[3], env)


def _choose_value(name: str, operator: str | None, word: str, env: Mapping[str, str]) -> str:
    value = env.get(name)
    if operator == "+":
        return word if value else ""
    if operator == "-":
        return value or word
    if value is None:
        raise SubstitutionError(
            f"environment variable {name!r} is not set; set it or write ${{{name}:-default}}"
        )
    return value
