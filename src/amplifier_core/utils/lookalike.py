"""Text as a person sees it, whatever characters it is made of."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset(("Cc", "Cf", "Me", "Mn"))
_BLANK = dict.fromkeys((0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0), " ")
_LOOKALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0441\u0443\u043a\u043c\u0442\u04bb\u0455\u0501\u03bf\u03ba"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0421\u0422\u0423\u0405"
    "\u0391\u0392\u0395\u0397\u039a\u039c\u039f\u03a4\u03a5\u03dc",
    "aeocykmthsdokABEKMHOCTYSABEHKMOTYF",
)
"""Cyrillic and Greek letters that look like Latin ones."""


def read_as_a_person(line: str) -> str:
    """The line with lookalikes as the letters they look like, and without what cannot be seen."""
    if line.isascii() and line.isprintable():
        return line
    plain = unicodedata.normalize("NFKC", line.translate(_BLANK)).translate(_LOOKALIKE)
    return "".join(
        one for one in plain if one.isspace() or unicodedata.category(one) not in _UNSEEN
    )
