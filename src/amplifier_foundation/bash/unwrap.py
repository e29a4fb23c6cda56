"""Commands that run other commands (`sudo`, `xargs`, `find -exec`, `bash -c` …), laid open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from amplifier_foundation.bash.script import Command, Script, parse_script, program_of
from amplifier_foundation.bash.word import UNKNOWN, Word, literal, words

MAX_DEPTH = 8
MAX_COMMANDS = 2_000

SHELLS = words("sh bash dash zsh ksh mksh ash fish rbash tcsh csh")
_MOST_ROOTS = 20
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@dataclass(frozen=True, slots=True)
class _Prefix:
    """How a wrapper is written: options with a value, then so many words, then the command."""

    valued: frozenset[str] = frozenset()
    positional: int = 0


def _prefix(valued: str = "", positional: int = 0) -> _Prefix:
    return _Prefix(frozenset(valued.split()), positional)


_PREFIXES = {
    "sudo": _prefix(
        "-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --close-from --role "
        "--type --chdir --chroot --command-timeout --other-user"
    ),
    "doas": _prefix("-u -C -a"),
    "env": _prefix("-u -C --unset --chdir -a --argv0"),
    "timeout": _prefix("-s -k --signal --kill-after", 1),
    "gtimeout": _prefix("-s -k --signal --kill-after", 1),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n -p --class --classdata"),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "stdbuf": _prefix("-i -o -e --input --output --error"),
    "time": _prefix("-f -o --format --output"),
    "command": _prefix(),
    "builtin": _prefix(),
    "exec": _prefix("-a"),
    "coproc": _prefix(),
    "xargs": _prefix(
        "-I -n -P -L -d -s -a -E --max-args --max-procs --max-lines --delimiter --max-chars "
        "--arg-file --replace --eof"
    ),
    "chroot": _prefix("--userspec --groups", 1),
    "flock": _prefix("-w -E --timeout --wait --conflict-exit-code", 1),
    "taskset": _prefix("", 1),
    "chrt": _prefix("", 1),
    "watch": _prefix("-n --interval"),
    "strace": _prefix("-e -o -p -s -u -E"),
    "ltrace": _prefix("-e -o -p -s -u"),
    "unshare": _prefix(),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "caffeinate": _prefix("-t -w"),
    "unbuffer": _prefix(),
    "proot": _prefix("-r -b -w"),
    "fakeroot": _prefix("-l -s -i -b"),
    "gdb": _prefix("-x -ex"),
    "entr": _prefix(),
}


def unwrap_command(source: str, owner: str = "shell parsing") -> Script:
    """The script with every command inside a command laid open, outer ones first."""
    return _opened(parse_script(source, owner), owner, 0)


def _opened(script: Script, owner: str, depth: int) -> Script:
    commands: list[Command] = []
    unclear = list(script.unclear)
    functions = set(script.functions)
    pending = [(command, depth) for command in reversed(script.commands)]
    while pending:
        command, level = pending.pop()
        commands.append(command)
        if level >= MAX_DEPTH or len(commands) > MAX_COMMANDS:
            unclear.append("commands inside commands go too deep to be judged")
            break
        inner = _inner(command, owner)
        unclear += inner.unclear
        functions |= inner.functions
        pending += [(found, level + 1) for found in reversed(inner.commands)]
    return Script(tuple(commands), tuple(dict.fromkeys(unclear)), frozenset(functions))


def _inner(command: Command, owner: str) -> Script:
    name = command.name
    if name is None:
        return Script(())
    if name in SHELLS:
        return _of_shell(command, owner)
    if name in _PREFIXES:
        return _of_prefix(command, owner)
    opener = _OPENERS.get(name)
    return opener(command, owner) if opener else Script(())


def _of_shell(command: Command, owner: str) -> Script:
    """`sh -c TEXT`, text on standard input, or a script file, which only running would tell."""
    if "-c" in command.flags:
        return _text_of(command, _first_argument(command), owner)
    if command.arguments and "-s" not in command.flags and not _reads_stdin(command):
        return _of_process_substitution(command)
    if command.stdin is not None and not _real_pipe(command):
        return _text_of(command, command.stdin, owner)
    if command.piped_from:
        return _of_pipe(command, owner)
    if any(redirect.operator == "<" for redirect in command.redirects):
        return Script((), (f"{command.name} runs a file, which is not read here",))
    return Script(())


def _reads_stdin(command: Command) -> bool:
    return command.arguments[0].value in {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}


def _real_pipe(command: Command) -> bool:
    """Whether something else than `cat` stands between the here-document and the shell."""
    return any(name != "cat" for name in command.piped_from)


def _of_process_substitution(command: Command) -> Script:
    first = command.arguments[0]
    if first.value is None:
        return Script((), (f"the script that {command.name} runs, {first.raw}, is not literal",))
    return Script(())


def _of_pipe(command: Command, owner: str) -> Script:
    sources = ", ".join(name or "?" for name in command.piped_from)
    return Script((), (f"{command.name} runs what a pipe brings it (from {sources})",))


def _text_of(command: Command, word: Word | None, owner: str) -> Script:
    """The words of a script inside a word, parsed once more."""
    if word is None:
        return Script(())
    if word.value is None:
        return Script(
            (), (f"the text that {command.name} runs, {_short(word.raw)}, is not literal",)
        )
    return _inside(parse_script(word.value, owner), command)


def _inside(script: Script, command: Command) -> Script:
    wrapper = command.name or "?"
    return replace(
        script, commands=tuple(found.inside(*command.via, wrapper) for found in script.commands)
    )


def _first_argument(command: Command) -> Word | None:
    """The first word that is no option; `-o` and `-O` of a shell take a value."""
    skip = False
    for word in command.words:
        if skip:
            skip = False
        elif word.is_flag or word.raw.startswith("+"):
            skip = word.value is not None and word.value[-1] in "oO" and len(word.value) == 2
        else:
            return word
    return None


def _of_prefix(command: Command, owner: str) -> Script:
    name = command.name or ""
    if name == "env" and (split := _value_of(command.words, "-S", "--split-string")):
        return _text_of(command, split, owner)
    if name == "flock" and "-c" in command.flags:
        return _text_of(command, _value_of(command.words, "-c", "--command"), owner)
    if name == "watch":
        return _joined(command, _rest(command, _PREFIXES[name]), owner)
    rest = _rest(command, _PREFIXES[name])
    if not rest or (name == "command" and command.flags & {"-v", "-V"}):
        return Script(())
    return Script((_made(command, rest, extra=(UNKNOWN,) if name == "xargs" else ()),))


def _made(command: Command, words: list[Word], extra: tuple[Word, ...] = ()) -> Command:
    head = words[0]
    return replace(
        command,
        program=program_of(head),
        words=(*words[1:], *extra),
        text=" ".join(word.raw for word in words),
        assigns=(),
        via=(*command.via, command.name or "?"),
    )


def _rest(command: Command, prefix: _Prefix) -> list[Word]:
    """The words from the inner program on."""
    words = list(command.words)
    positional = prefix.positional
    while words:
        word = words[0]
        if word.value == "--":
            words.pop(0)
        elif word.is_flag:
            words = words[2:] if word.value in prefix.valued else words[1:]
        elif _assigns(word) and command.name in _BEFORE_ASSIGNMENTS:
            words.pop(0)
        elif positional:
            positional -= 1
            words.pop(0)
        else:
            break
    return words


_BEFORE_ASSIGNMENTS = frozenset({"env", "sudo", "doas", "time", "coproc"})


def _assigns(word: Word) -> bool:
    name, equals, _ = word.raw.partition("=")
    return bool(equals) and name.isidentifier()


def _value_of(words: Iterable[Word], short: str, long: str) -> Word | None:
    """The value of an option, in any of `-S x`, `-Sx`, `--long x`, `--long=x`."""
    wanted = False
    for word in words:
        value = word.value or ""
        if wanted:
            return word
        if value in {short, long}:
            wanted = True
        elif value.startswith(f"{long}="):
            return literal(value.partition("=")[2])
        elif value.startswith(short) and len(value) > len(short) and not value.startswith("--"):
            return literal(value[len(short) :])
        elif word.value is None and word.raw.lstrip("\"'").startswith((short, long)):
            return word
    return None


def _joined(command: Command, words: Iterable[Word], owner: str) -> Script:
    """`eval a b` and its like: the words with blanks between them are a script."""
    parts = list(words)
    if not parts:
        return Script(())
    raw = " ".join(word.raw for word in parts)
    values = [word.value for word in parts if word.value is not None]
    whole = len(values) == len(parts)
    return _text_of(command, Word(raw, " ".join(values) if whole else None), owner)


def _of_eval(command: Command, owner: str) -> Script:
    return _joined(command, command.words, owner)


def _of_trap(command: Command, owner: str) -> Script:
    first = _first_argument(command)
    return _text_of(command, first, owner) if first and first.value != "-" else Script(())


def _of_su(command: Command, owner: str) -> Script:
    return _text_of(command, _value_of(command.words, "-c", "--command"), owner)


def _of_callback(command: Command, owner: str) -> Script:
    """`mapfile -C TEXT` and `complete -C TEXT` run the text."""
    return _text_of(command, _value_of(command.words, "-C", "--callback"), owner)


def _of_remote(command: Command, owner: str) -> Script:
    """What a command sends to another machine is judged as if it ran here."""
    words = command.arguments[1:]
    return _joined(command, words, owner)


def _of_runner(command: Command, owner: str) -> Script:
    """`poetry run x`, `docker exec box x`: what they run is judged as if it ran here."""
    words = list(command.words)
    at = next((n for n, word in enumerate(words) if word.value in {"run", "exec"}), None)
    if at is None:
        return Script(())
    rest = [word for word in words[at + 1 :] if word.value != "--"]
    while rest and rest[0].is_flag:
        rest.pop(0)
    if command.name in _CONTAINERS:
        rest = rest[1:]
    return Script((_made(command, rest),)) if rest else Script(())


_CONTAINERS = frozenset({"docker", "podman", "kubectl"})
_RUNNERS = words("poetry uv pipenv bundle conda npm pnpm yarn rye hatch pdm") | _CONTAINERS


def _of_parallel(command: Command, owner: str) -> Script:
    return Script((), ("what parallel runs is put together from its input",))


def _of_alias(command: Command, owner: str) -> Script:
    opened = [
        _text_of(command, literal(word.value.partition("=")[2]), owner)
        for word in command.arguments
        if word.value and "=" in word.value
    ]
    return _merged(opened)


def _of_find(command: Command, owner: str) -> Script:
    """Each `-exec … ;`, with `{}` standing for something below the places searched."""
    roots = list(_find_roots(command.words)) or [literal(".")]
    roots = roots if len(roots) <= _MOST_ROOTS else [UNKNOWN]
    made: list[Command] = []
    words = list(command.words)
    for at, word in enumerate(words):
        if word.value in _FIND_RUNS:
            body = list(_until_end(words[at + 1 :]))
            if body:
                made.append(_made(command, [part for w in body for part in _filled(w, roots)]))
    return Script(tuple(made))


def _find_roots(words: Iterable[Word]) -> Iterator[Word]:
    for word in words:
        if word.value in {"-H", "-L", "-P"}:
            continue
        if word.value is not None and word.value[:1] in {"-", "(", "!"}:
            return
        yield word


def _until_end(words: Iterable[Word]) -> Iterator[Word]:
    for word in words:
        if word.value in {";", "+"}:
            return
        yield word


def _filled(word: Word, roots: list[Word]) -> list[Word]:
    if word.value != "{}":
        return [word]
    return [below(root) for root in roots]


def below(root: Word) -> Word:
    """Some entry of a directory."""
    value = None if root.value is None else f"{root.value.rstrip('/')}/{{}}"
    return replace(root, raw=f"{root.raw}/{{}}", value=value)


def _merged(scripts: Iterable[Script]) -> Script:
    parts = list(scripts)
    return Script(
        tuple(command for part in parts for command in part.commands),
        tuple(reason for part in parts for reason in part.unclear),
        frozenset(name for part in parts for name in part.functions),
    )


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_OPENERS: dict[str, Callable[[Command, str], Script]] = {
    "eval": _of_eval,
    "trap": _of_trap,
    "su": _of_su,
    "runuser": _of_su,
    "script": _of_su,
    "mapfile": _of_callback,
    "readarray": _of_callback,
    "complete": _of_callback,
    "compgen": _of_callback,
    "ssh": _of_remote,
    "parallel": _of_parallel,
    "alias": _of_alias,
    **dict.fromkeys(_RUNNERS, _of_runner),
    "find": _of_find,
    "gfind": _of_find,
}
