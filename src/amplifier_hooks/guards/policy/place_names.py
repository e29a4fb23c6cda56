"""Names as every file system might read them: what looks different and is the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

# Windows has a second, short name for each; git guards against this one too.
_SHORT_GIT = re.compile(r"\.?git~\d+")


def fold_path(path: Path) -> tuple[str, ...]:
    """The components of an absolute path, folded."""
    return tuple(map(fold_name, path.parts[1:] if path.anchor else path.parts))


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """One spelling for letter case, composed letters, unseen letters, trailing dots, streams.

    Two different names may fold to one: a guard then refuses too much, never too little.
    """
    if name.isascii():
        plain = name.lower()
    else:
        seen = "".join(one for one in name if unicodedata.category(one) != "Cf")
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    plain = plain.partition(":")[0].rstrip(" .") or unicodedata.normalize("NFC", name)
    return ".git" if _SHORT_GIT.fullmatch(plain) else plain
