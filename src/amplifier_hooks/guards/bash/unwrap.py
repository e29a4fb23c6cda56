"""Commands that run other commands (`sudo`, `xargs`, `find -exec`, `bash -c` …), laid open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.find import unwrap_fd, unwrap_find, unwrap_xargs
from amplifier_hooks.guards.bash.runners import WORD_RUNNERS, unwrap_words
from amplifier_hooks.guards.bash.script import Script, join_scripts, parse_script
from amplifier_hooks.guards.bash.variables import Evaluation, evaluate_words
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.bash.wrappers import (
    DEBUGGERS,
    MANAGERS,
    PACKAGE_RUNNERS,
    PREFIXES,
    RUNNERS,
    create_inner,
    parse_inner,
    unwrap_alias,
    unwrap_callback,
    unwrap_debugger,
    unwrap_entr,
    unwrap_env,
    unwrap_eval,
    unwrap_flock,
    unwrap_git,
    unwrap_git_program,
    unwrap_manager,
    unwrap_package_runner,
    unwrap_parallel,
    unwrap_prefix,
    unwrap_remote,
    unwrap_runner,
    unwrap_script,
    unwrap_su,
    unwrap_trap,
    unwrap_watch,
)

SHELLS = split_names("sh bash dash zsh ksh mksh ash fish rbash tcsh csh")
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_LETTERS = frozenset("abcefhiklmnprstuvxBCDEHPT")
_LONG = split_names("debugger login noediting noprofile norc posix pretty-print restricted verbose")
_LONG_VALUED = frozenset({"rcfile", "init-file"})
_ONLY_TELL = frozenset({"--version", "--help"})


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a shell is started: its options, and the words behind them."""

    letters: frozenset[str]
    rest: tuple[Word, ...]
    doubt: str | None = None

    @property
    def reads_startup_files(self) -> bool:
        """Whether it runs the files of a login or interactive shell first."""
        return bool(self.letters & {"i", "l"})

    @property
    def script_file(self) -> Word | None:
        """The file that it runs; None when its script is a text or comes on standard input."""
        if not self.rest or "c" in self.letters or "s" in self.letters:
            return None
        return None if self.rest[0].value in _STDIN else self.rest[0]


def read_invocation(command: Command) -> Invocation:
    """The options of a shell: letters in clusters, where each `o` and `O` takes a word."""
    words = command.words
    letters = set[str]()
    problems = list[str]()
    while words and _is_option(words[0]):
        value = words[0].value or ""
        words = words[1:]
        if value in {"-", "--"}:
            break
        taken, problem = _read_option(value)
        letters |= taken
        problems.append(problem)
        words = words[_count_values(value) :]
    else:
        problems += [_doubt_first(word) for word in words[:1]]
    return Invocation(
        frozenset(letters), words, "; ".join(dict.fromkeys(filter(None, problems))) or None
    )


def _doubt_first(word: Word) -> str:
    return f"{word.raw} may be an option, or several words" if _may_be_option(word) else ""


def find_script_run(command: Command) -> Command | None:
    """`bash deploy.sh eu` and `. deploy.sh eu` as `deploy.sh eu`; None if no file is named."""
    if command.name in {"source", "."}:
        words = command.words[command.words[:1] == (create_literal("--"),) :]
    elif command.name in SHELLS and read_invocation(command).script_file is not None:
        words = read_invocation(command).rest
    else:
        return None
    return create_inner(command, list(words)) if words else None


def unwrap_shell(command: Command, owner: str) -> Script:
    """The script that a shell runs; what only running it would tell is unclear."""
    if command.words and command.words[0].value in _ONLY_TELL:
        return Script(())
    invocation = read_invocation(command)
    if invocation.doubt is not None:
        return _open_doubted(command, invocation, owner)
    if "c" in invocation.letters:
        return parse_inner(command, invocation.rest[0] if invocation.rest else None, owner)
    if (file := invocation.script_file) is not None:
        return _doubt_file(command, file)
    if command.stdin is not None:
        return parse_inner(command, command.stdin, owner)
    return Script((), (_word_unseen(command),))


def _open_doubted(command: Command, invocation: Invocation, owner: str) -> Script:
    """Whatever may be its script is looked at, so that a denial does not become a question."""
    texts = (word for word in command.words if word.value and not word.is_flag)
    scripts = [parse_inner(command, word, owner) for word in texts]
    commands = tuple(found for script in scripts for found in script.commands)
    return Script(commands, (f"what {command.name} runs is not certain: {invocation.doubt}",))


def _may_be_option(word: Word) -> bool:
    """`$x` and `*` may be options; a text behind `-c` and `<(…)` are not."""
    begin = word.raw.lstrip("\"'")[:1]
    return not word.single or (word.value is None and begin in {"$", "`", "-", "+"})


def _is_option(word: Word) -> bool:
    return word.value is not None and (word.value[:1] == "-" or word.value[:1] == "+")


def _read_option(value: str) -> tuple[set[str], str]:
    """Its letters, and why it is not understood. Bash takes long names behind one dash, too."""
    name = value.lstrip("-")
    if value[0] == "-" and name in _LONG:
        return {"l"} if name == "login" else set(), ""
    if value[0] == "-" and name in _LONG_VALUED:
        return set(), "it runs a start-up file"
    letters = set(value[1:])
    if value.startswith("--") or not letters <= _LETTERS | {"o", "O"}:
        return letters, f"its option {value} is not known here"
    return letters if value[0] == "-" else set(), ""


def _count_values(value: str) -> int:
    name = value.lstrip("-")
    if name in _LONG | _LONG_VALUED:
        return int(name in _LONG_VALUED)
    return sum(letter in "oO" for letter in value[1:])


def _word_unseen(command: Command) -> str:
    if command.piped_from:
        sources = ", ".join(name or "?" for name in command.piped_from)
        return f"{command.name} runs what a pipe brings it (from {sources})"
    return f"{command.name} runs what it reads from its input, which is not in sight"


def _doubt_file(command: Command, file: Word) -> Script:
    """A script file with a plain name is a program like any other; `<(…)` has no name."""
    if not file.fixed:
        return Script((), (f"the script that {command.name} runs, {file.raw}, is not literal",))
    return Script(())


MAX_DEPTH = 8
MAX_COMMANDS = 2_000

_SHORT = 4_000
_KEPT = 64
_UNWRAPPERS: dict[str, Callable[[Command, str], Script]] = {
    **dict.fromkeys(SHELLS, unwrap_shell),
    **dict.fromkeys(PREFIXES, unwrap_prefix),
    **dict.fromkeys(RUNNERS, unwrap_runner),
    **dict.fromkeys(MANAGERS, unwrap_manager),
    "env": unwrap_env,
    "genv": unwrap_env,
    "xargs": unwrap_xargs,
    **dict.fromkeys(PACKAGE_RUNNERS, unwrap_package_runner),
    "git": unwrap_git,
    "entr": unwrap_entr,
    **dict.fromkeys(DEBUGGERS, unwrap_debugger),
    "flock": unwrap_flock,
    "watch": unwrap_watch,
    "eval": unwrap_eval,
    "trap": unwrap_trap,
    "su": unwrap_su,
    "runuser": unwrap_su,
    "script": unwrap_script,
    "mapfile": unwrap_callback,
    "readarray": unwrap_callback,
    "complete": unwrap_callback,
    "compgen": unwrap_callback,
    "ssh": unwrap_remote,
    "parallel": unwrap_parallel,
    "alias": unwrap_alias,
    "find": unwrap_find,
    "gfind": unwrap_find,
    "fd": unwrap_fd,
    "fdfind": unwrap_fd,
    **dict.fromkeys(WORD_RUNNERS, unwrap_words),
}


def unwrap_command(source: str, owner: str = "shell parsing") -> Script:
    """The script with every command inside a command laid open, outer ones first."""
    return _unwrap(source) if len(source) <= _SHORT else _lay_open(source, owner)


def list_all_commands(source: str, owner: str = "shell parsing") -> tuple[Command, ...]:
    """The same commands; ValueError says why where some of them may be missing."""
    script = unwrap_command(source, owner)
    if not script.whole:
        raise ValueError(script.unclear[0])
    return script.commands


@lru_cache(maxsize=_KEPT)
def _unwrap(source: str) -> Script:
    """The same for a command of usual length, which several guards look at one after the other."""
    return _lay_open(source, "shell parsing")


def _find_unwrapper(name: str) -> Callable[[Command, str], Script] | None:
    return unwrap_git_program if name.startswith("git-") else _UNWRAPPERS.get(name)


def _lay_open(source: str, owner: str) -> Script:
    script = parse_script(source, owner)
    commands: list[Command] = []
    parts = [script]
    # A stack with its own depth: `sudo sudo sudo …` must not recurse as deep as it is long.
    pending = [(command, 0) for command in reversed(script.commands)]
    while pending:
        command, level = pending.pop()
        commands.append(command)
        if level >= MAX_DEPTH or len(commands) > MAX_COMMANDS:
            why = "commands inside commands go too deep to be judged"
            parts.append(Script((), (why,), whole=False))
            break
        unwrapper = _find_unwrapper(command.name or "")
        if unwrapper is not None:
            inner = unwrapper(command, owner)
            parts.append(inner)
            pending += [(found, level + 1) for found in reversed(inner.commands)]
    whole = join_scripts(parts)
    evaluation = reduce(Evaluation.join, map(evaluate_words, commands), whole.evaluation)
    unclear = dict.fromkeys([*whole.unclear, *evaluation.list_doubts()])
    return Script(tuple(commands), tuple(unclear), whole.functions, evaluation, whole.whole)
