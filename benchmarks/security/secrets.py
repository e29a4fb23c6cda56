"""How much the secret guard stops and lets go on, and how much redaction finds.

Tokens are drawn by lot from the forms in `lists/tokens.txt`, always the same ones.
"""

from __future__ import annotations

import random
import re
import string
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from benchmarks.security.data import read_list
from benchmarks.security.judge import judge_commands
from benchmarks.security.table import Row, compute_share

_LETTERS = {
    "b62": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "alpha": string.ascii_letters,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b32up": "023456789ACDEFGHJKLMNPQRSTUVWXYZ",
    "hex": "0123456789abcdef",
    "hexup": "0123456789ABCDEF",
    "dig": string.digits,
}
_FIELD = re.compile(r"\{(\w+)(?::(\d+))?\}")
_MOST_SOURCES = 400
_SEVEN_WAYS = (
    "cat .env", "head .env", "cat .env*", "grep -r TOKEN .", "cat < .env", "cp .env x", "cat .e?v",
)  # fmt: skip
_RULE = "secrets: open\nrules: [{path: .env, action: deny}]\n"


def draw(form: str, lot: random.Random) -> str:
    """A text of this form."""

    def fill(field: re.Match[str]) -> str:
        if field[1] == "uuid":
            digits = "".join(lot.choices(_LETTERS["hex"], k=32))
            return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
        if field[1] not in _LETTERS:
            return field[0]
        return "".join(lot.choices(_LETTERS[field[1]], k=int(field[2])))

    return _FIELD.sub(fill, form)


def draw_all(name: str) -> list[str]:
    """A text for each form of a list."""
    lot = random.Random(name)
    return [draw(line.rpartition("\t")[2], lot) for line in read_list(name)]


def _count_hidden(texts: Sequence[str]) -> int:
    redactor = Redactor(SHAPES, "benchmark", "[REDACTED:{name}]")
    return sum(redactor.redact_text(text) != text for text in texts)


def list_sources() -> list[str]:
    """Modules of the standard library, without its tests, which are full of made-up data."""
    library = Path(sysconfig.get_path("stdlib"))
    files = sorted(
        one
        for one in library.rglob("*.py")
        if not {"test", "tests", "site-packages"} & {*one.parts}
    )
    return [
        one.read_text("utf-8", "replace") for one in files[:: max(1, len(files) // _MOST_SOURCES)]
    ]


def _share_stopped(commands: Sequence[str], bundle: str = "") -> float:
    answers = judge_commands(commands, bundle=bundle)
    return compute_share(sum(one.action in {"deny", "ask_user"} for one in answers), len(answers))


def rows() -> Iterator[Row]:
    """What there is to tell of secrets."""
    yield Row(
        "our ways to read secrets: stopped",
        _share_stopped(read_list("secret_reads")),
        95,
        "at least",
    )
    yield Row(
        "the seven ways to read .env, one rule: stopped",
        _share_stopped(_SEVEN_WAYS, _RULE),
        100,
        "at least",
    )
    tokens, named, none = draw_all("tokens"), draw_all("named"), draw_all("no_secrets")
    yield Row(
        "our tokens, each by itself: hidden",
        compute_share(_count_hidden(tokens), len(tokens)),
        60,
        "at least",
    )
    yield Row(
        "our lines with keys in them: hidden",
        compute_share(_count_hidden(named), len(named)),
        90,
        "at least",
    )
    yield Row("our lines without secrets: hidden", compute_share(_count_hidden(none), len(none)), 5)
    sources = list_sources()
    yield Row(
        "modules of the standard library: changed",
        compute_share(_count_hidden(sources), len(sources)),
        0,
    )
