"""Text that wants to move, hide or reorder what is on a terminal."""

from __future__ import annotations

import random
import unicodedata

from hypothesis import strategies as st

from amplifier_hooks.text.escape import TAB

NASTY = [
    "\x1b[2K",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202egnp.exe",
    "\u2066\u2069",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\r",
    "\x08",
    "\x7f",
    "\x00",
    "\u2028",
    "\u2029",
    "\x85",
    "\u00a0",
    "\u3164",
    "\u2800",
    "\ufe0f",
    "\U000e0041",
    "\U000e0100",
    "\ue000",
    "\ud800",
    "\udfff",
    "\uffff",
    "\u0301" * 30,
    "\u20dd",
    "\\u{1B}",
    "\\u{5C}",
    "\\\\u{41}",
    TAB,
    "\t",
    "[bold red]x[/]",
    "/tmp/hello\x1b[/../../etc/hosts",
]
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me"}
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

hostile = st.lists(
    st.one_of(st.sampled_from(NASTY), st.text(st.characters(codec=None), max_size=8)), max_size=12
).map("".join)


def is_harmless(shown: str, *, lines: bool = False) -> bool:
    """Nothing in it is a control, format, bidi, separator, surrogate or unassigned character."""
    body = shown.replace("\n", "") if lines else shown
    return not any(ch in BIDI or unicodedata.category(ch) in FORBIDDEN for ch in body)


def make_prompts(count: int) -> list[str]:
    """Made without Hypothesis, so that a hundred thousand take seconds; the seed is fixed."""
    rng = random.Random(17)
    alphabet = [*NASTY, "Allow?", "rm -rf /", " ", "\n", "é", "漢", "😀"]

    def make_piece() -> str:
        return rng.choice(alphabet) if rng.random() < 0.6 else chr(rng.randrange(0x110000))

    return ["".join(make_piece() for _ in range(rng.randrange(1, 25))) for _ in range(count)]
