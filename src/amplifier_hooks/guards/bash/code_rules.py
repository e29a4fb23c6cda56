"""Code that comes from elsewhere or in a language that is not read here; sed and awk."""

from __future__ import annotations

import re

from amplifier_hooks.guards.bash.commands import (
    Command,
    Options,
    find_values,
    read_options,
)
from amplifier_hooks.guards.bash.situations import (
    DOWNLOADERS,
    Objection,
    Situation,
    name_file,
    strip_directory,
)
from amplifier_hooks.guards.bash.unwrap import SHELLS
from amplifier_hooks.guards.bash.words import Word, split_names

_CLASS = r"\[\^?\]?(?:[^\]\\\n]|\\[a-z])*\]"
"""`[/]`: in a class the sign that ends the expression is a letter like any other."""
_ADDRESS = re.compile(rf"\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|\\.|{_CLASS})*/[IM]*|[+~]\d+")
_SIMPLE = frozenset("=dDgGhHnNpPqQxzlF{}")
_TO_LINE_END = frozenset("aicrR:btT#")
_NUMBER = re.compile(r"\d*")
_FLAGS = re.compile(r"[gpiImM0-9]*")
_BLANKS = re.compile(r"[\s;]*")


def only_filters(script: str) -> bool:
    """Whether every command is known to do nothing but change the text that goes through.

    GNU sed runs commands (`e`, `s///e`) and writes files (`w`, `s///w`). What is not understood
    may be one of those.
    """
    at: int | None = 0
    while at is not None and at < len(script):
        at = _skip(_BLANKS, script, at)
        if at < len(script):
            at = _read_command(script, _skip_addresses(script, at))
    return at is not None


def _skip(pattern: re.Pattern[str], script: str, at: int) -> int:
    found = pattern.match(script, at)
    return at if found is None else found.end()


def _skip_addresses(script: str, at: int) -> int:
    """`1`, `$`, `/x/I`, `1,/x/`, each perhaps with blanks and a `!` behind."""
    at = _skip(_ADDRESS, script, at)
    if script[at : at + 1] == ",":
        at = _skip(_ADDRESS, script, _skip(re.compile(r"\s*"), script, at + 1))
    return _skip(re.compile(r"[\s!]*"), script, at)


def _read_command(script: str, at: int) -> int | None:
    """Where the command at this place ends; None when it is not one that only filters."""
    letter = script[at : at + 1]
    if letter in _SIMPLE and letter:
        return _end(script, _skip(_NUMBER, script, at + 1), letter)
    if letter in _TO_LINE_END and letter:
        return _find_line_end(script, at)
    if letter in {"s", "y"}:
        end = _skip_parts(script, at + 1)
        return None if end is None else _end(script, _skip(_FLAGS, script, end), letter)
    return None


def _end(script: str, at: int, letter: str) -> int | None:
    """Behind a command stands its end, or it was another one than it seemed."""
    at = _skip(re.compile(r"[ \t]*"), script, at)
    return at if letter in "{}" or script[at : at + 1] in {"", ";", "\n", "}", "#"} else None


def _find_line_end(script: str, at: int) -> int:
    """A text goes on in the next line behind a backslash."""
    found = re.compile(r"(?:[^\\\n]|\\(?:.|\Z))*", re.DOTALL).match(script, at)
    return len(script) if found is None else found.end()


def _skip_parts(script: str, at: int) -> int | None:
    """Behind the third of the signs that stand around both parts of `s/a/b/`."""
    sign = script[at : at + 1]
    if not sign or sign in "\\\n[]" or sign.isalnum():
        return None
    end = re.escape(sign)
    first = rf"(?:[^{end}\\\[\n]|\\.|{_CLASS})*{end}"
    second = rf"(?:[^{end}\\]|\\.)*{end}"
    found = re.compile(end + first + second, re.DOTALL).match(script, at)
    return None if found is None else found.end()


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
    scripts = list_sed_scripts(command)
    unsure = reading.doubt is not None and any(word.value is None for word in command.words)
    return unsure or not all(word.fixed and only_filters(word.value or "") for word in scripts)


def list_sed_scripts(command: Command) -> list[Word]:
    """The scripts of sed: those behind `-e`; without any, the first argument."""
    reading = read_options(command.words, _SED)
    given = [value for name, value in reading.given if name in {"e", "expression"} and value]
    return given or list(reading.rest[:1])


_INTERPRETERS = split_names(
    "perl ruby node nodejs deno bun php lua tclsh osascript pwsh julia octave octave-cli r rscript "
    "jrunscript jjs groovy scala guile clisp slsh bpftrace elvish"
)
_CODE_FLAGS: dict[str, frozenset[str]] = {
    "python": frozenset({"-c"}),
    "perl": frozenset({"-e", "-E", "-n", "-p"}),
    "ruby": frozenset({"-e"}),
    "node": frozenset({"-e", "-p", "--eval", "--print"}),
    "nodejs": frozenset({"-e", "-p", "--eval", "--print"}),
    "bun": frozenset({"-e", "--eval"}),
    "php": frozenset({"-r", "-B", "-E"}),
    "lua": frozenset({"-e"}),
    "osascript": frozenset({"-e"}),
    "pwsh": frozenset({"-c", "-Command", "-e", "-EncodedCommand"}),
    "julia": frozenset({"-e", "-E", "--eval", "--print"}),
    "octave": frozenset({"--eval"}),
    "octave-cli": frozenset({"--eval"}),
    "r": frozenset({"-e"}),
    "rscript": frozenset({"-e"}),
    "jrunscript": frozenset({"-e", "-f"}),
    "jjs": frozenset({"-e"}),
    "groovy": frozenset({"-e"}),
    "scala": frozenset({"-e"}),
    "guile": frozenset({"-c"}),
    "clisp": frozenset({"-x"}),
    "slsh": frozenset({"-e"}),
    "bpftrace": frozenset({"-e", "-c"}),
    "elvish": frozenset({"-c"}),
}
_INPUTS = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_EVALUATING = split_names(
    "let declare typeset local readonly export test [ printf read unset wait mapfile readarray "
    "getopts"
)


def check_downloaded_code(situation: Situation) -> Objection | None:
    """`curl … | sh` in any of its forms."""
    command = situation.command
    if not is_interpreter(command.name) and command.name not in {"source", ".", "eval"}:
        return None
    feeds = {run for word in command.words for run in word.runs}
    # `curl … | python -m json.tool` and `… | python -c CODE` read it as text.
    if command.name in SHELLS or not _has_code(command):
        feeds |= set(command.piped_from)
    if command.stdin is not None:
        feeds |= set(command.stdin.runs)
    found = sorted({name.rpartition("/")[2] for name in feeds if name} & DOWNLOADERS)
    return ("deny", f"{command.name} runs what {', '.join(found)} fetches") if found else None


def _has_code(command: Command) -> bool:
    """Whether the interpreter is told what to run, so that its input is only text."""
    name = command.name or ""
    flags = _CODE_FLAGS.get("python" if _is_python(name) else name, frozenset())
    if _is_python(name) and _names_module(command):
        return True
    if command.flags & flags:
        return True
    return bool(command.arguments) and command.arguments[0].value not in {"-", None, *_INPUTS}


def _names_module(command: Command) -> bool:
    """`python -m json.tool`, also as one word."""
    return any((word.value or "").startswith("-m") for word in command.words)


def check_opaque_code(situation: Situation) -> Objection | None:
    """Code of another language, on the command line or fed to its interpreter."""
    command = situation.command
    name = situation.command.name or ""
    if is_risky_awk(command) or is_risky_sed(command):
        return "ask", f"its {name} program may run commands or write files"
    if name in {"make", "gmake"} and _reads_fed_rules(command):
        return "ask", "make runs commands from its input, which are not checked"
    return _judge_interpreter(command, name)


def _judge_interpreter(command: Command, name: str) -> Objection | None:
    if name in SHELLS or not is_interpreter(name):
        return None
    if command.flags & _CODE_FLAGS.get("python" if _is_python(name) else name, frozenset()):
        return "ask", f"it passes code to {name}, which is not checked"
    if _is_fed(command):
        return "ask", f"{name} runs code from its input, which is not checked"
    return None


def _reads_fed_rules(command: Command) -> bool:
    files = {word.value for word in find_values(command.words, "-f", "--makefile")}
    files |= {word.value for word in find_values(command.words, "-f", "--file")}
    return bool(files & {"-", "/dev/stdin", "/dev/fd/0", None}) or "--eval" in command.flags


def check_hidden_substitution(situation: Situation) -> Objection | None:
    """Bash evaluates the index in `'a[$(…)]'` when one of these gets it as a name."""
    command = situation.command
    if command.name not in _EVALUATING:
        return None
    for word in command.words:
        if word.value and "[" in word.value and ("$(" in word.value or "`" in word.value):
            return "ask", f"{command.name} evaluates the substitution in {word.raw}"
    return None


def check_written_then_run(situation: Situation) -> Objection | None:
    """A file that the same script writes or fetches, and runs."""
    command = situation.command
    words = list(command.arguments[:1]) if is_interpreter(command.name) else []
    if command.name in SHELLS and "-c" in command.flags:
        words = []  # a text, whose commands are judged by themselves
    if command.name in {"make", "gmake"}:
        words += find_values(command.words, "-f", "--makefile")
    runs = [name_file(word) for word in words]
    runs += [command.program] if command.program and "/" in command.program else []
    for value in runs:
        if value and strip_directory(value) in situation.outputs:
            return "ask", f"it runs {value}, which the same command writes"
    return None


def check_sourced_file(situation: Situation) -> Objection | None:
    """`source FILE`: the file is not read here."""
    if situation.command.name in {"source", "."}:
        return "ask", "it runs a file inside the shell"
    return None


def check_fork_bomb(situation: Situation) -> Objection | None:
    """A function that pipes into itself."""
    command = situation.command
    if command.program in situation.script.functions and command.program in command.piped_from:
        return "deny", f"the function {command.program} starts itself without end"
    return None


def _is_python(name: str) -> bool:
    return name.startswith(("python", "pypy"))


def is_interpreter(name: str | None) -> bool:
    """Whether it runs code that it is given as text or as a file."""
    if name is None:
        return False
    return name in SHELLS or name in _INTERPRETERS or _is_python(name)


def _is_fed(command: Command) -> bool:
    """Whether an interpreter reads its code from standard input."""
    if command.arguments:
        return command.arguments[0].value == "-"
    if _is_python(command.name or "") and _names_module(command):
        return False
    return bool(command.piped_from or command.stdin or command.redirects)
