"""Programs of `awk` and `sed` that do more than filter text."""

from __future__ import annotations

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.sed_script import only_filters
from amplifier_hooks.guards.bash.options import Options, Reading, read_options
from amplifier_hooks.guards.bash.word import Word

_AWK_SIGNS = ("system", "|", "getline", ">", "@")
_AWK_FLAGS = frozenset({"-i", "--include", "-l", "--load", "-E", "--exec", "-D", "--debug"})
_SED = Options.read(
    "nEruszb --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix "
    "--sandbox --follow-symlinks --debug",
    "efl --expression --file --line-length",
    "i --in-place",
    permutes=True,
)


def is_risky_awk(command: Command) -> bool:
    """Whether it is awk and may run commands or write files."""
    if command.name not in {"awk", "gawk", "mawk", "nawk"}:
        return False
    return bool(command.flags & _AWK_FLAGS) or any(
        word.value is None or any(sign in word.value for sign in _AWK_SIGNS)
        for word in command.words
    )


def is_risky_sed(command: Command) -> bool:
    """Whether it is sed and may run commands or write files."""
    if command.name not in {"sed", "gsed"}:
        return False
    reading = read_options(command.words, _SED)
    if reading.has("f", "file"):
        return True
    scripts = _list_scripts(reading)
    unsure = reading.doubt is not None and any(word.value is None for word in command.words)
    return unsure or not all(word.fixed and only_filters(word.value or "") for word in scripts)


def _list_scripts(reading: Reading) -> list[Word]:
    """Those behind `-e`; without any, the first argument."""
    given = [value for name, value in reading.given if name in {"e", "expression"} and value]
    return given or list(reading.rest[:1])
