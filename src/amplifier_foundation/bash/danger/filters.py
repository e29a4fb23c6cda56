"""Programs of `awk` and `sed` that do more than filter text."""

from __future__ import annotations

from amplifier_foundation.bash.command import Command

_AWK_SIGNS = ("system", "|", "getline", ">", "@load", "@include")
_SED_FLAGS = frozenset("gpiImMew0123456789")


def is_risky_awk(command: Command) -> bool:
    """Whether it is awk and may run commands or write files."""
    return command.name in {"awk", "gawk", "mawk", "nawk"} and any(
        word.value is None or any(sign in word.value for sign in _AWK_SIGNS)
        for word in command.words
    )


def is_risky_sed(command: Command) -> bool:
    """Whether it is sed and may run commands or write files.

    GNU sed runs commands (`e`) and writes files (`w`) from inside its script.
    """
    return command.name in {"sed", "gsed"} and any(
        word.value is None or _runs_or_writes(word.value) for word in command.words
    )


def _runs_or_writes(script: str) -> bool:
    # Every word is looked at, because any may be a script; this one is a path.
    if script.startswith(("./", "/")) and " " not in script and script.count("/") < 3:
        return False
    lines = script.replace(";", "\n").replace("{", "\n").splitlines()
    return any(_is_risky_line(line) for line in lines)


def _is_risky_line(line: str) -> bool:
    bare = line.strip().lstrip("0123456789,$!~+ ")
    if _is_risky_instruction(bare):
        return True
    if bare.startswith("s"):
        # `s/a/b/we`: any letter may stand for the slash; flags are behind the third.
        return any(_has_risky_flag(part) for part in bare.split(bare[1:2] or "/")[3:])
    return bare.startswith("/") and _is_risky_instruction(bare.rpartition("/")[2].strip("I!, "))


def _is_risky_instruction(text: str) -> bool:
    return text[:1] in {"e", "w", "W"} and text[1:2] in {"", " "}


def _has_risky_flag(text: str) -> bool:
    flags = set(text.split(" ")[0])
    return flags <= _SED_FLAGS and bool(flags & {"e", "w"})
