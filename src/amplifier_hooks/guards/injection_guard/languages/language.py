"""The words of one language by which instructions to a model are known."""

from __future__ import annotations

from dataclasses import dataclass

GAP = r"[^a-z0-9]{1,8}"
"""Between two words: spaces, line ends, signs, the mark of a comment."""


@dataclass(frozen=True, slots=True)
class Language:
    """RE2 expressions over folded text: small letters without accents.

    Those of the first group are finds by themselves, the others only near one another.
    """

    override: str
    new_role: str
    secrecy: str
    demand: str
    """For what only the model has: its instructions, its conversation."""

    address: str
    """Speaks to a model."""
    hush: str
    """The user is not to know; ordinary texts say so, too."""
    sensitive: str
    """What nobody hands out: files with keys, the conversation."""

    order: str
    take: str
    send: str
    what: str
    """Data that was named before: it, its contents."""
    channel: str
    """How data would leave: a parameter, an address."""


def join_words(*alternatives: str) -> str:
    """One expression for several, in which a space stands for any gap between words."""
    return r"\b(?:" + "|".join(one.replace(" ", GAP) for one in alternatives) + r")\b"
