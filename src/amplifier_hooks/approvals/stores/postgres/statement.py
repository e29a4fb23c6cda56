"""A statement that both databases understand, in the way psycopg wants it."""

from __future__ import annotations

import re
from functools import lru_cache

NOW = "store_now"
"""The value that stands for `unix_now()` where a test brings its own clock."""

_PARTS = re.compile(
    r"""
      '(?:[^']|'')*'                  # text
    | "(?:[^"]|"")*"                  # a name in quotes
    | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ # the body of a function
    | --[^\n]*
    | /\*.*?\*/
    | ::
    | :(?P<name>[A-Za-z_]\w*)
    | (?P<now>\bunix_now\(\))
    | %
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def convert_statement(statement: str, *, own_clock: bool = False) -> str:
    """`:name` becomes `%(name)s`, and other percent signs are doubled.

    With a clock of its own, `unix_now()` becomes a value as well.
    """

    def convert(part: re.Match[str]) -> str:
        if part["name"]:
            return f"%({part['name']})s"
        if part["now"] and own_clock:
            return f"%({NOW})s::double precision"
        return part[0].replace("%", "%%")

    return _PARTS.sub(convert, statement)
