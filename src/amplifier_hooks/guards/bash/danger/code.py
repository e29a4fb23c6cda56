"""Code that comes from elsewhere, or in a language that is not read here."""

from __future__ import annotations

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.filters import is_risky_awk, is_risky_sed
from amplifier_hooks.guards.bash.danger.finding import Objection, Situation, strip_directory
from amplifier_hooks.guards.bash.danger.outputs import DOWNLOADERS
from amplifier_hooks.guards.bash.inner.shells import SHELLS
from amplifier_hooks.guards.bash.options import find_values
from amplifier_hooks.guards.bash.word import split_names

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
_EVALUATING = split_names(
    "let declare typeset local readonly export test [ printf read unset wait mapfile readarray "
    "getopts"
)


def check_downloaded_code(situation: Situation) -> Objection | None:
    """`curl … | sh` in any of its forms."""
    command = situation.command
    if not _is_interpreter(command.name) and command.name not in {"source", ".", "eval"}:
        return None
    feeds = {*command.piped_from, *(run for word in command.words for run in word.runs)}
    if command.stdin is not None:
        feeds |= set(command.stdin.runs)
    found = sorted({name.rpartition("/")[2] for name in feeds if name} & DOWNLOADERS)
    return ("deny", f"{command.name} runs what {', '.join(found)} fetches") if found else None


def check_opaque_code(situation: Situation) -> Objection | None:
    """Code of another language, on the command line or fed to its interpreter."""
    command, name = situation.command, situation.command.name or ""
    if is_risky_awk(command) or is_risky_sed(command):
        return "ask", f"its {name} program may run commands or write files"
    if name in {"make", "gmake"} and _reads_fed_rules(command):
        return "ask", "make runs commands from its input, which are not checked"
    return _judge_interpreter(command, name)


def _judge_interpreter(command: Command, name: str) -> Objection | None:
    if name in SHELLS or not _is_interpreter(name):
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
    runs = [word.value for word in command.arguments[:1]] if _is_interpreter(command.name) else []
    runs += [command.program] if command.program and "/" in command.program else []
    if command.name in {"make", "gmake"}:
        runs += [word.value for word in find_values(command.words, "-f", "--makefile")]
    for value in runs:
        if value is not None and strip_directory(value) in situation.outputs:
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


def _is_interpreter(name: str | None) -> bool:
    if name is None:
        return False
    return name in SHELLS or name in _INTERPRETERS or _is_python(name)


def _is_fed(command: Command) -> bool:
    """Whether an interpreter reads its code from standard input."""
    if command.arguments:
        return command.arguments[0].value == "-"
    return bool(command.piped_from or command.stdin or command.redirects)
