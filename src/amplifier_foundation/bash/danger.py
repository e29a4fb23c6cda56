"""What is known to be dangerous in a shell script: rules by name, each finding with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from amplifier_foundation.bash.lists import LISTED, ListedCommand, Verdict
from amplifier_foundation.bash.place import Place, Reach
from amplifier_foundation.bash.script import Command, Script
from amplifier_foundation.bash.unwrap import SHELLS, below
from amplifier_foundation.bash.word import Word, literal, words
from amplifier_foundation.policy.paths import matches


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks against a command."""

    verdict: Verdict
    rule: str
    reason: str
    command: str


@dataclass(frozen=True, slots=True)
class Scene:
    """A command with its surroundings."""

    command: Command
    script: Script
    place: Place
    directories: tuple[Word, ...] = ()
    outputs: frozenset[str] = frozenset()

    def reach(self, words: tuple[Word, ...]) -> tuple[Reach, Word] | None:
        """The worst place among the words, and the word that names it."""
        if len(words) > MOST_WORDS:
            return Reach.UNKNOWN, words[0]
        rated = [(self.place.reach(word, self.directories), word) for word in words]
        return max(rated, key=lambda pair: pair[0], default=None)


def _directories(script: Script) -> tuple[Word, ...]:
    """Where the script changes to; a bare `cd` goes home."""
    home = Word("~", "~", tilde=True)
    changes = (c for c in script.commands if c.name in {"cd", "pushd", "chdir"})
    return tuple(change.arguments[0] if change.arguments else home for change in changes)


MOST_WORDS = 200
"""A command of more words is not looked at word by word."""

Check = Callable[[Scene], "tuple[Verdict, str] | None"]

_DOWNLOADERS = words("curl wget fetch aria2c axel http https xh lynx nc ncat socat")
_INTERPRETERS = words("perl ruby node nodejs deno bun php lua tclsh osascript pwsh")
_CODE_FLAGS: dict[str, frozenset[str]] = {
    "python": frozenset({"-c"}),
    "perl": frozenset({"-e", "-E", "-n", "-p"}),
    "ruby": frozenset({"-e"}),
    "node": frozenset({"-e", "-p", "--eval", "--print"}),
    "nodejs": frozenset({"-e", "-p", "--eval", "--print"}),
    "deno": frozenset(),
    "bun": frozenset({"-e", "--eval"}),
    "php": frozenset({"-r", "-B", "-E"}),
    "lua": frozenset({"-e"}),
    "osascript": frozenset({"-e"}),
    "pwsh": frozenset({"-c", "-Command", "-e", "-EncodedCommand"}),
}
_DEVICE_FILES = words(
    "/dev/null /dev/zero /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/full "
    "/dev/random /dev/urandom /dev/fd/** /dev/shm/** /dev/pts/**"
)
_STARTUP_FILES = (
    "~/.{bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zprofile,zshenv,zlogin,kshrc}",
    "~/.config/fish/**",
    "~/.config/autostart/**",
    "~/.{gitconfig,npmrc,pypirc,netrc}",
    "~/.ssh/**",
    "~/.aws/**",
    "~/Library/LaunchAgents/**",
    "**/.git/{config,hooks/**}",
    "**/.amplifier/**",
    "**/amplifier.yaml",
    "/etc/**",
)
_WRITERS_LAST = frozenset({"cp", "ln", "install", "rsync", "scp"})
_WRITERS_ALL = words("tee truncate mv shred rm unlink rmdir sponge")
_RISKY_NAMES = words(
    "PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 PAGER EDITOR VISUAL "
    "BROWSER LESSOPEN LESSCLOSE MANPAGER PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS "
    "NODE_PATH PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS HOME CDPATH "
    "SHELL GCONV_PATH FZF_DEFAULT_COMMAND RIPGREP_CONFIG_PATH"
)
_RISKY_STARTS = ("LD_", "DYLD_", "GIT_", "BASH_FUNC_", "SSH_", "npm_config_")


def _is_interpreter(name: str | None) -> bool:
    return name is not None and (
        name in SHELLS or name in _INTERPRETERS or name.startswith(("python", "pypy"))
    )


def _code_flags(name: str) -> frozenset[str]:
    return _CODE_FLAGS["python" if name.startswith(("python", "pypy")) else name]


def _recursive_delete(scene: Scene) -> tuple[Verdict, str] | None:
    command = scene.command
    if command.name == "rm" and _recursive(command):
        if "--no-preserve-root" in command.flags:
            return "deny", "it deletes with the protection of / switched off"
        return _deletes(scene, _operands(command))
    if command.name in {"find", "gfind"} and "-delete" in command.flags:
        roots = _roots(command)
        chosen = {word.value for word in command.words if word.is_flag} - _UNCHOOSING
        return _deletes(scene, tuple(map(below, roots)) if chosen else roots)
    return None


_UNCHOOSING = words("-delete -depth -d -xdev -mount -type -mindepth -maxdepth -print -H -L -P")
"""Options of find beside which everything is found."""


def _recursive(command: Command) -> bool:
    return any(
        flag in {"-r", "-R"} or (len(flag) > 2 and "--recursive".startswith(flag))
        for flag in command.flags
    )


def _roots(command: Command) -> tuple[Word, ...]:
    roots: list[Word] = []
    for word in command.words:
        if word.is_flag or word.value in {"(", "!"}:
            break
        roots.append(word)
    return tuple(roots) or (literal("."),)


def _operands(command: Command) -> tuple[Word, ...]:
    """The words that are no options; behind `--` all of them."""
    words = command.words
    ends = next((at for at, word in enumerate(words) if word.value == "--"), len(words))
    return tuple(word for word in words[:ends] if not word.is_flag) + words[ends + 1 :]


def _deletes(scene: Scene, words: tuple[Word, ...]) -> tuple[Verdict, str] | None:
    worst = scene.reach(words)
    if worst is None or worst[0] is Reach.INSIDE:
        return None
    reach, word = worst
    if reach is Reach.SYSTEM:
        return "deny", f"it deletes {word.raw} and everything below"
    what = {
        Reach.OUTSIDE: "outside the working directory",
        Reach.PROJECT: "the whole working directory",
        Reach.UNKNOWN: "and only running it would tell what that is",
    }
    return "ask", f"it deletes {word.raw} recursively, {what[reach]}"


def _recursive_rights(scene: Scene) -> tuple[Verdict, str] | None:
    command = scene.command
    if command.name not in {"chmod", "chown", "chgrp", "chattr", "setfacl"}:
        return None
    worst = scene.reach(command.arguments[1:])
    if worst is None or not _recursive(command):
        return None
    if worst[0] is Reach.SYSTEM:
        return "deny", f"it changes the rights of {worst[1].raw} and everything below"
    if worst[0] is not Reach.INSIDE:
        return "ask", f"it changes the rights of {worst[1].raw} and everything below"
    return None


def _device_write(scene: Scene) -> tuple[Verdict, str] | None:
    for word in islice(_written(scene.command), MOST_WORDS):
        path = scene.place.path(word)
        if path is None or path.parts[:2] != ("/", "dev") or matches(path, _DEVICE_FILES):
            continue
        if path.parts[2:3] in {("tcp",), ("udp",)}:
            return "ask", f"it opens a network connection through {word.raw}"
        return "deny", f"it writes to the device {word.raw}"
    return None


def _written(command: Command) -> Iterator[Word]:
    """Every word of the command that names something it writes to."""
    yield from (redirect.target for redirect in command.redirects if _to_file(redirect.target))
    name, operands = command.name, _operands(command)
    if name in _WRITERS_ALL:
        yield from operands
    elif name in _WRITERS_LAST:
        yield from operands[-1:]
    elif name == "sed" and any(flag.startswith(("-i", "--in-p")) for flag in command.flags):
        yield from operands
    elif name == "dd":
        yield from (
            Word(word.raw, word.value[3:])
            for word in command.words
            if word.value and word.value.startswith("of=")
        )


def _to_file(target: Word) -> bool:
    return target.value is None or not target.value.lstrip("-").isdigit()


def _protected_write(scene: Scene) -> tuple[Verdict, str] | None:
    written = tuple(_written(scene.command))
    if len(written) > MOST_WORDS:
        return "ask", f"it writes to {len(written)} places, too many to be looked at"
    for word in written:
        path = scene.place.path(word)
        if path is None or matches(path, _DEVICE_FILES):
            continue
        own = (str(scene.place.home) + glob[1:] for glob in _STARTUP_FILES if glob[0] == "~")
        if matches(path, (*own, *_STARTUP_FILES)):
            return "ask", f"it writes to {word.raw}, which decides what runs later"
        if scene.place.reach(word, scene.directories) is Reach.SYSTEM:
            return "ask", f"it writes to {word.raw}, a place of the system"
    return None


def _unknown_write(scene: Scene) -> tuple[Verdict, str] | None:
    for redirect in scene.command.redirects:
        if redirect.writes and redirect.target.value is None:
            return "ask", f"only running it would tell what it writes to: {redirect.target.raw}"
    return None


def _downloaded_code(scene: Scene) -> tuple[Verdict, str] | None:
    command = scene.command
    if not _is_interpreter(command.name) and command.name not in {"source", ".", "eval"}:
        return None
    feeds = {*command.piped_from, *(run for word in command.words for run in word.runs)}
    if command.stdin is not None:
        feeds |= set(command.stdin.runs)
    names = {name.rpartition("/")[2] for name in feeds if name}
    if names & _DOWNLOADERS:
        return "deny", f"{command.name} runs what {', '.join(sorted(names & _DOWNLOADERS))} fetches"
    return None


def _fork_bomb(scene: Scene) -> tuple[Verdict, str] | None:
    command = scene.command
    if command.program in scene.script.functions and command.program in command.piped_from:
        return "deny", f"the function {command.program} starts itself without end"
    return None


def _opaque_code(scene: Scene) -> tuple[Verdict, str] | None:
    """Code of another language, which is not read here."""
    command, name = scene.command, scene.command.name or ""
    if name in {"awk", "gawk", "mawk", "nawk"}:
        return _awk(command)
    if name in {"sed", "gsed"}:
        return _sed(command)
    if name in SHELLS or not _is_interpreter(name):
        return None
    if command.flags & _code_flags(name):
        return "ask", f"it hands code to {name}, which is not read here"
    if not command.arguments and (command.piped_from or command.stdin or command.redirects):
        return "ask", f"{name} runs what it is fed, which is not read here"
    if command.arguments and command.arguments[0].value == "-":
        return "ask", f"{name} runs what it is fed, which is not read here"
    return None


def _awk(command: Command) -> tuple[Verdict, str] | None:
    signs = ("system", "|", "getline", ">", "@load", "@include")
    if any(word.value is None or any(s in word.value for s in signs) for word in command.words):
        return "ask", "its awk program may run commands or write files"
    return None


def _sed(command: Command) -> tuple[Verdict, str] | None:
    """GNU sed runs commands (`e`) and writes files (`w`) from inside its script."""
    for word in command.words:
        if word.value is None or _sed_runs(word.value):
            return "ask", "its sed script may run commands or write files"
    return None


def _sed_runs(script: str) -> bool:
    if script.startswith(("./", "/")) and " " not in script and script.count("/") < 3:
        return False
    for line in script.replace(";", "\n").replace("{", "\n").splitlines():
        bare = line.strip().lstrip("0123456789,$!~+ ")
        if bare[:1] in {"e", "w", "W"} and bare[1:2] in {"", " "}:
            return True
        if bare[:1] == "s" and any(map(_has_sed_flag, bare.split(bare[1:2] or "/")[3:])):
            return True
        if bare[:1] == "/" and _behind_address(bare):
            return True
    return False


def _has_sed_flag(text: str) -> bool:
    flags = text.split(" ")[0]
    return set(flags) <= set("gpiImMew0123456789") and bool(set(flags) & {"e", "w"})


def _behind_address(text: str) -> bool:
    rest = text.rpartition("/")[2].strip("I!, ")
    return rest[:1] in {"e", "w", "W"} and rest[1:2] in {"", " "}


_EVALUATING = words("let declare typeset local readonly export test [ printf read unset wait")


def _hidden_substitution(scene: Scene) -> tuple[Verdict, str] | None:
    """Bash evaluates the index in `'a[$(…)]'` when one of these gets it as a name."""
    if scene.command.name not in _EVALUATING:
        return None
    for word in scene.command.words:
        if word.value and "[" in word.value and ("$(" in word.value or "`" in word.value):
            return "ask", f"{scene.command.name} evaluates the substitution in {word.raw}"
    return None


def _written_then_run(scene: Scene) -> tuple[Verdict, str] | None:
    """A file that the same script writes or fetches, and runs."""
    command = scene.command
    runs = [word.value for word in command.arguments[:1]] if _is_interpreter(command.name) else []
    runs += [command.program] if command.program and "/" in command.program else []
    for value in runs:
        if value is not None and _bare(value) in scene.outputs:
            return "ask", f"it runs {value}, which the same command writes"
    return None


def _bare(path: str) -> str:
    return path.removeprefix("./")


def _outputs(script: Script) -> Iterator[str]:
    for command in script.commands:
        yield from (r.target.value for r in command.redirects if r.writes and r.target.value)
        if command.name in _DOWNLOADERS or command.name in {"tee", "cp", "mv", "ln", "install"}:
            yield from (word.value for word in command.arguments if word.value)


def _sourced(scene: Scene) -> tuple[Verdict, str] | None:
    if scene.command.name in {"source", "."} and scene.command.program != "":
        return "ask", "it runs a file inside the shell"
    return None


def _environment(scene: Scene) -> tuple[Verdict, str] | None:
    names = list(scene.command.assigns)
    if scene.command.name in {"env", "sudo", "doas", "export"}:
        names += [word.raw.partition("=")[0] for word in scene.command.words if "=" in word.raw]
    for name in names:
        if name in _RISKY_NAMES or name.startswith(_RISKY_STARTS):
            return "ask", f"it sets {name}, which changes what other programs run"
    return None


def _privileges(scene: Scene) -> tuple[Verdict, str] | None:
    if scene.command.name in {"sudo", "su", "doas", "pkexec", "runuser", "run0", "gosu"}:
        return "ask", f"{scene.command.name} runs it with the rights of another user"
    return None


def _unknown_program(scene: Scene) -> tuple[Verdict, str] | None:
    if scene.command.program is None:
        return "ask", "only running it would tell which program it is"
    return None


CHECKS: Mapping[str, Check] = {
    "recursive-delete": _recursive_delete,
    "recursive-rights": _recursive_rights,
    "device-write": _device_write,
    "downloaded-code": _downloaded_code,
    "fork-bomb": _fork_bomb,
    "protected-write": _protected_write,
    "unknown-write": _unknown_write,
    "opaque-code": _opaque_code,
    "hidden-substitution": _hidden_substitution,
    "written-then-run": _written_then_run,
    "sourced-file": _sourced,
    "environment": _environment,
    "privileges": _privileges,
    "unknown-program": _unknown_program,
}

RULES: frozenset[str] = frozenset({*CHECKS, *(entry.rule for entry in LISTED)})
"""The names of all built-in rules."""


def find_dangers(
    script: Script, place: Place, listed: tuple[ListedCommand, ...], off: frozenset[str]
) -> Iterator[tuple[Command, Finding]]:
    """All that speaks against the commands of a script, in their order."""
    directories = _directories(script)
    outputs = frozenset(_bare(value) for value in _outputs(script))
    for command in script.commands:
        scene = Scene(command, script, place, directories, outputs)
        for rule, check in CHECKS.items():
            if rule not in off and (found := check(scene)):
                yield command, Finding(found[0], rule, found[1], command.text)
        for entry in listed:
            if entry.rule not in off and entry.pattern.matches(command):
                yield command, Finding(entry.verdict, entry.rule, entry.reason, command.text)
