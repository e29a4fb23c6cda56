"""Commands that run another command or text: `sudo ls`, `nice make`, `su -c TEXT`, `uv run x`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile

from amplifier_hooks.guards.bash.commands import (
    Command,
    Options,
    Reading,
    Ways,
    find_values,
    name_program,
    read_options,
)
from amplifier_hooks.guards.bash.script import Script, join_scripts, parse_script
from amplifier_hooks.guards.bash.words import UNKNOWN, Word, create_literal, split_names, unquote

_HELD = re.compile(r"\"[\w./-]+ (?:[^\"\\$`]|\$\{?[A-Za-z_]\w*\}?)*\"")
"""A text in which only plain variables are not known."""


def parse_inner(command: Command, word: Word | None, owner: str) -> Script:
    """The script inside a word, parsed once more; nothing when there is no word."""
    if word is None:
        return Script(())
    if word.value is None or word.glob:
        doubt = f"the text that {command.name} runs, {_shorten(word.raw)}, is not literal"
        # Of `sh -c 'rm {}'` only the name is missing.
        if "{}" in word.raw or _HELD.fullmatch(word.raw):
            known = _parse_text(command, unquote(word.raw), owner)
        else:
            known = Script(())
        return replace(known, unclear=(*known.unclear, doubt))
    return _parse_text(command, word.value, owner)


def _parse_text(command: Command, text: str, owner: str) -> Script:
    script = parse_script(text, owner)
    wrapper = command.name or "?"
    # A trap and an alias run later, wherever the shell is by then.
    ways = None if wrapper in {"trap", "alias"} else command.ways
    inside = (found.run_behind(ways) for found in script.commands)
    commands = tuple(found.run_by(*command.via, wrapper) for found in inside)
    if not _MARKING.isdisjoint((*command.via, wrapper)):
        commands = tuple(map(_forget_marks, commands))
    return replace(script, commands=commands)


_MARKING = frozenset({"xargs", "find", "gfind", "parallel"})


def _forget_marks(command: Command) -> Command:
    """Where `{}` stands in the text of a script, there is a name that only running would tell."""
    words = tuple(_forget_mark(word) for word in command.words)
    redirects = tuple(replace(one, target=_forget_mark(one.target)) for one in command.redirects)
    return replace(command, words=words, redirects=redirects)


def _forget_mark(word: Word) -> Word:
    return replace(word, value=None) if "{}" in word.raw else word


def parse_joined(command: Command, words: Iterable[Word], owner: str) -> Script:
    """`eval a b` and its like: the words with blanks between them are a script."""
    parts = list(words)
    if not parts:
        return Script(())
    raw = " ".join(word.raw for word in parts)
    values = [word.value for word in parts if word.value is not None and not word.glob]
    whole = len(values) == len(parts)
    return parse_inner(command, Word(raw, " ".join(values) if whole else None), owner)


def add_doubt(script: Script, command: Command, reading: Reading) -> Script:
    """The script, and in doubt if the options of the command that runs it are."""
    if reading.doubt is None:
        return script
    doubt = f"what {command.name} runs is not certain: {reading.doubt}"
    return replace(script, unclear=(*script.unclear, doubt))


def _shorten(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


@dataclass(frozen=True, slots=True)
class _Prefix:
    """How a prefix is written: its options, then so many words, then the command."""

    options: Options
    positional: int = 0


def _prefix(plain: str = "", valued: str = "", optional: str = "", positional: int = 0) -> _Prefix:
    return _Prefix(Options.read(plain, valued, optional), positional)


_TIMEOUT = _prefix(
    "vfp --preserve-status --foreground --verbose", "ks --signal --kill-after", "", 1
)
_TRACER = _prefix("cCdfFhiknqrtTvVwxyYzZDSbL --decode-fds", "aAbeEIoOpPsuUXln")
_PREFIXES = {
    "sudo": _prefix(
        "AbBEHKknPSvN --askpass --background --preserve-env --set-home --non-interactive --stdin "
        "--validate --remove-timestamp --reset-timestamp",
        "aCcDghpRrTtUu --user --group --host --prompt --close-from --role --type --chdir --chroot "
        "--command-timeout --other-user --login-class",
    ),
    "doas": _prefix("Ln", "aCu"),
    "timeout": _TIMEOUT,
    "gtimeout": _TIMEOUT,
    "nice": _prefix("0123456789", "n --adjustment"),
    "ionice": _prefix("t --ignore", "cn --class --classdata"),
    "nohup": _prefix(),
    "setsid": _prefix("cfw --ctty --fork --wait"),
    "stdbuf": _prefix("", "ioe --input --output --error"),
    "time": _prefix("apqv --append --portability --quiet --verbose", "fo --format --output"),
    "command": _prefix("pvV"),
    "builtin": _prefix(),
    "exec": _prefix("cl", "a"),
    "coproc": _prefix(),
    "chroot": _prefix("--skip-chdir", "--userspec --groups", "", 1),
    "taskset": _prefix("ac --all-tasks --cpu-list", "", "", 1),
    "chrt": _prefix("abdfiorRv", "TPD", "", 1),
    "strace": _TRACER,
    "ltrace": _TRACER,
    "unshare": _prefix(
        "imnpuUCTfrc --fork --map-root-user --map-current-user --keep-caps",
        "RwSG --root --wd --setuid --setgid",
        "--mount --uts --ipc --net --pid --user --cgroup --time --mount-proc",
    ),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "caffeinate": _prefix("dimsu", "tw"),
    "unbuffer": _prefix("p"),
    "proot": _prefix("0", "rbwkq"),
    "fakeroot": _prefix("u", "lsib"),
    "setarch": _prefix("vhBFILRSTXZ3", "", "", 1),
    "chronic": _prefix("ev"),
    "rlwrap": _prefix("aAciImnNrRtuUvwWzX", "bCDefgHlopPqsS"),
    "catchsegv": _prefix(),
    "pkexec": _prefix("--disable-internal-agent --keep-cwd", "u --user"),
    "cross-env": _prefix(),
    "env-cmd": _prefix(
        "x --expand-envs --no-override --silent --verbose --fallback", "f r --file --rc-file"
    ),
    "xvfb-run": _prefix(
        "al --auto-servernum --listen-tcp",
        "nsefpw --server-num --server-args --error-file --auth-file --xauth-protocol --wait",
    ),
    "dbus-run-session": _prefix(),
    "eatmydata": _prefix(),
    "ifne": _prefix("n"),
    "dumb-init": _prefix("cv --single-child --verbose", "r --rewrite"),
    "tini": _prefix("svwg", "pe"),
    "retry": _prefix("", "tdsm --times --delay --until --while --max --min"),
    "numactl": _prefix(
        "alb --all --localalloc",
        "CNPim --physcpubind --cpunodebind --preferred --interleave --membind",
    ),
    "systemd-inhibit": _prefix("", "--what --who --why --mode"),
    "faketime": _prefix("m", "", "", 1),
}
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")
_BEFORE_ASSIGNMENTS = frozenset({"sudo", "doas", "time", "coproc", "cross-env"})
_SHELL_STARTERS = frozenset({"sudo", "doas", "chroot", "unshare", "fakeroot", "proot", "pkexec"})

PREFIXES: frozenset[str] = frozenset(_PREFIXES)
"""The names of all of them."""


def unwrap_prefix(command: Command, owner: str) -> Script:
    """The command behind the prefix."""
    prefix = _PREFIXES[command.name or ""]
    reading = read_options(command.words, prefix.options)
    if command.name == "command" and reading.has("v", "V"):
        return Script(())
    rest = list(reading.rest)
    if command.name in _BEFORE_ASSIGNMENTS:
        return open_assigned(command, reading)
    return open_rest(command, reading, rest[: prefix.positional], rest[prefix.positional :])


def open_assigned(command: Command, reading: Reading) -> Script:
    """The command behind `NAME=value`; `time NAME=value` alone sets the variable."""
    rest = list(dropwhile(_is_assignment, reading.rest))
    names = tuple(_split_name(word) for word in reading.rest[: len(reading.rest) - len(rest)])
    script = open_rest(command, reading, [], rest)
    if not script.commands and names:
        return replace(script, commands=(replace(command, program=":", words=(), assigns=names),))
    return replace(script, commands=tuple(replace(c, assigns=names) for c in script.commands))


def open_rest(command: Command, reading: Reading, before: list[Word], rest: list[Word]) -> Script:
    """The command that the words behind the options are, with what is not certain about them."""
    doubt = reading.doubt or next(
        (f"{word.raw} may be several words" for word in before if not word.fixed), None
    )
    unclear: tuple[str, ...] = ()
    if doubt is not None:
        unclear += (f"what {command.name} runs is not certain: {doubt}",)
    if not rest:
        if command.name in _SHELL_STARTERS:
            unclear += (f"{command.name} starts a shell, whose input is not in sight",)
        return Script((), unclear)
    return Script((create_inner(command, rest),), unclear)


def unwrap_env(command: Command, owner: str) -> Script:
    """`env -S TEXT` splits its text into words; otherwise it is a plain prefix."""
    reading = read_options(command.words, _ENV)
    if reading.rest and reading.rest[0].value == "-":  # an old way to write `-i`
        reading = replace(reading, rest=reading.rest[1:])
    text = reading.find("S", "split-string")
    if text is not None:
        return _unwrap_split(command, reading, text, owner)
    return open_assigned(command, reading)


_ENV = Options.read(
    "i0v --ignore-environment --null --debug --list-signal-handling",
    "uCaS --unset --chdir --argv0 --split-string",
    "--block-signal --default-signal --ignore-signal",
)


def _unwrap_split(command: Command, reading: Reading, text: Word, owner: str) -> Script:
    """Only blanks between plain words mean the same to env as to anybody else."""
    parts = (text.value or "").split()
    plain = all(_PLAIN.fullmatch(part) for part in parts)
    words = [*(Word(part, part) for part in parts), *reading.rest]
    inner = unwrap_env(replace(command, words=tuple(words)), owner) if words else Script(())
    if plain and parts and text.fixed and reading.doubt is None:
        return inner
    doubt = reading.doubt or f"env splits {text.raw} by rules of its own"
    return replace(inner, unclear=(*inner.unclear, doubt))


def create_inner(command: Command, words: list[Word]) -> Command:
    """The command that these words of another one are, with its pipes and redirections."""
    before = command.words[: max(len(command.words) - len(words), 0)]
    return replace(
        command,
        ways=_go_on(command, before),
        program=name_program(words[0]),
        words=tuple(words[1:]),
        text=" ".join(word.raw for word in words),
        assigns=(),
        via=(*command.via, command.name or "?"),
    )


_GOING = {
    "env": ("-C", "--chdir"),
    "sudo": ("-D", "--chdir"),
    "pnpm": ("-C", "--dir"),
    "npm": ("-C", "--prefix"),
    "yarn": ("--", "--cwd"),
    "uv": ("--", "--directory"),
    "poetry": ("-C", "--directory"),
    "hatch": ("--", "--directory"),
    "pdm": ("-p", "--project"),
}
"""Options that say in which folder the inner command runs."""


def _go_on(command: Command, before: Sequence[Word]) -> Ways | None:
    """The ways to the inner command: `env -C src ls`."""
    if command.ways is None or command.name not in _GOING:
        return command.ways
    targets = tuple(find_values(before, *_GOING[command.name]))
    return frozenset((*way, *targets) for way in command.ways)


def _is_assignment(word: Word) -> bool:
    """`$x=1` may be anything; `A=$x` is one, as long as it is a single word."""
    name = _split_name(word)
    return name.isidentifier() and "=" in word.raw and word.single


def _split_name(word: Word) -> str:
    return (word.raw if word.value is None else word.value).partition("=")[0].removeprefix('"')


_CONTAINERS = frozenset({"docker", "podman", "kubectl"})
_MANAGERS = split_names(
    "asdf aws-vault chamber corepack devbox direnv doppler dotenv dotenvx flatpak fnm foreman guix "
    "honcho incus infisical lerna limactl lxc mamba micromamba mise nerdctl nix nodenv nvm nx op "
    "pixi pyenv rbenv rtx teller tox volta"
)
"""They run what stands behind two dashes, or behind a word, a folder or a version."""
_VERBS = frozenset({"run", "exec"})
_MANAGERS_VERBS = _VERBS | {"x", "-c", "--command"}
_MOST_BEFORE = 2
RUNNERS = _CONTAINERS | split_names("poetry uv pipenv bundle conda npm pnpm yarn rye hatch pdm")
PACKAGE_RUNNERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "bun"})
MANAGERS = _MANAGERS | split_names("docker-compose podman-compose")
_SSH = Options.read("46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOoPpQRSWw")


def unwrap_eval(command: Command, owner: str) -> Script:
    """`eval a b` runs its words as one script."""
    words = command.words
    return parse_joined(command, words[words[:1] == (create_literal("--"),) :], owner)


def unwrap_trap(command: Command, owner: str) -> Script:
    """`trap TEXT EXIT` runs the text later; `trap - EXIT` forgets it."""
    reading = read_options(command.words, Options.read("lpP"))
    if reading.given or not reading.rest or reading.rest[0].value == "-":
        return add_doubt(Script(()), command, reading)
    return add_doubt(parse_inner(command, reading.rest[0], owner), command, reading)


def unwrap_remote(command: Command, owner: str) -> Script:
    """`ssh host a b` joins its words for the shell over there."""
    reading = read_options(command.words, _SSH)
    after = read_options(reading.rest[1:], _SSH)  # options may stand behind the host, too
    return add_doubt(parse_joined(command, after.rest, owner), command, reading)


def unwrap_runner(command: Command, owner: str) -> Script:
    """`poetry run x`, `docker exec box x`."""
    words = list(command.words)
    verbs = _VERBS | {"dlx"} if command.name in {"pnpm", "yarn"} else _VERBS
    verbs = verbs | {"x"} if command.name == "npm" else verbs
    at = next((n for n, word in enumerate(words) if word.value in verbs), None)
    if at is None:
        return Script(())
    if command.name in _CONTAINERS:
        rest = _take_contained(words[at + 1 :])
        return Script((create_inner(command, rest),)) if rest else Script(())
    rest = [word for word in words[at + 1 :] if word.value != "--"]
    while rest and rest[0].is_flag:
        flag = rest.pop(0).value
        if command.name == "uv" and flag in _UV_VALUED and rest:
            rest.pop(0)
    return Script((create_inner(command, rest),)) if rest else Script(())


def _take_contained(words: list[Word]) -> list[Word]:
    """The command behind the options and the name of the container, image or pod."""
    values = [word.value for word in words]
    if "--" in values:
        return words[values.index("--") + 1 :]
    rest = list(words)
    while rest and rest[0].is_flag:
        if rest.pop(0).value in _CONTAINER_VALUED and rest:
            rest.pop(0)
    return rest[1:]


_CONTAINER_VALUED = split_names(
    "-e --env --env-file -v --volume --mount -p --publish -w --workdir -u --user --name --network "
    "--net --entrypoint -h --hostname --platform -m --memory --cpus -l --label --ulimit --add-host "
    "--dns --tmpfs --device --gpus --ipc --pid --userns --restart --shm-size --cap-add --cap-drop "
    "--security-opt --link --expose --index -n --namespace -c --container --context --pull -a"
)


_UV_VALUED = split_names(
    "-p --python --with --with-requirements --package --extra --group --env-file --index "
    "--directory "
    "--project --only-group --no-group -m --module"
)


def unwrap_manager(command: Command, owner: str) -> Script:
    """`mise exec -- x`, `nvm exec 20 x`: where it is not sure which word begins, each may."""
    words = list(command.words)
    values = [word.value for word in words]
    if "--" in values:
        rest = words[values.index("--") + 1 :]
        known = rest and _may_be_program(rest[0])
        return Script((create_inner(command, rest),)) if known else Script(())
    at = next((n for n, value in enumerate(values) if value in _MANAGERS_VERBS), None)
    rest = [] if at is None else words[at + 1 :]
    while rest and rest[0].is_flag:
        rest.pop(0)
    starts = [n for n, word in enumerate(rest[: _MOST_BEFORE + 1]) if _may_be_program(word)]
    return Script(tuple(create_inner(command, rest[n:]) for n in starts))


def unwrap_package_runner(command: Command, owner: str) -> Script:
    """`npx tsc`, `uvx ruff@1 check`, `npx -c TEXT`: the tool by its name, without a version."""
    words = list(command.words)
    if command.name == "pipx":
        verbs = [word.value for word in words[:1]]
        words = words[1:] if verbs == ["run"] else []
    if command.name == "bun":
        words = words[1:] if words and words[0].value == "x" else []
    texts = [parse_inner(command, word, owner) for word in find_values(words, "-c", "--call")]
    while words and words[0].is_flag:
        flag = words.pop(0).value
        if flag in _PACKAGE_VALUED and words:
            words.pop(0)
    found = [] if texts or not words else [Script((create_inner(command, _drop_version(words)),))]
    return join_scripts([*texts, *found])


_PACKAGE_VALUED = frozenset(
    {"-p", "--package", "--from", "--with", "--python", "-c", "--call", "-w"}
)


def _drop_version(words: list[Word]) -> list[Word]:
    """`prettier@3` and `ruff==0.5` are these programs, as is `@scope/tool`."""
    value = words[0].value
    if value is None or "://" in value:
        return words
    name = re.split("(?<=.)[@]|==", value)[0]
    return [create_literal(name), *words[1:]]


def unwrap_git(command: Command, owner: str) -> Script:
    """`git bisect run x` and `git submodule foreach TEXT` run the command."""
    values = [word.value for word in command.words]
    if values[:2] == ["bisect", "run"] and len(values) > 2:
        return Script((create_inner(command, list(command.words[2:])),))
    if values[:2] == ["submodule", "foreach"]:
        rest = [word for word in command.words[2:] if word.value not in {"--recursive", "-q"}]
        return parse_joined(command, rest, owner)
    return Script(())


def _may_be_program(word: Word) -> bool:
    return not word.is_flag and word.value not in {".", ".."}


def unwrap_git_program(command: Command, owner: str) -> Script:
    """`/usr/lib/git-core/git-push -f` is `git push -f`."""
    subcommand = (command.name or "").removeprefix("git-")
    words = [create_literal("git"), create_literal(subcommand), *command.words]
    return Script((create_inner(command, words),))


DEBUGGERS = split_names("gdb gdb-multiarch rust-gdb lldb rust-lldb")
"""Programs that run another one step by step."""


def unwrap_debugger(command: Command, owner: str) -> Script:
    """`gdb --args a b` and `lldb -- a b` run `a b`."""
    ends = {"--"} if (command.name or "").endswith("lldb") else {"--args", "-args"}
    at = next((n for n, w in enumerate(command.words) if w.value in ends), None)
    rest = () if at is None else command.words[at + 1 :]
    return Script((create_inner(command, list(rest)),)) if rest else Script(())


def unwrap_parallel(command: Command, owner: str) -> Script:
    """`parallel rm ::: a b`: the words before the colons, with others that come from its input."""
    words = list(command.words)
    while words and words[0].is_flag:
        flag = words.pop(0).value or ""
        if flag in {"-S", "--sshlogin", "--sshloginfile", "--slf"}:
            return Script((), ("what parallel runs, it runs on other machines",))
        if flag in _PARALLEL_VALUED and words:
            words.pop(0)
    words = list(takewhile(lambda word: not (word.value or "").startswith(":::"), words))
    if not words:
        return Script((), ("parallel runs what it reads from its input",))
    doubt = "what parallel runs is put together from its input"
    if len(words) == 1 and re.search(r"\s", words[0].raw):
        inner = _parse_text(command, unquote(words[0].raw), owner)
        return replace(inner, unclear=(*inner.unclear, doubt))
    return Script((create_inner(command, [*words, UNKNOWN]),), (doubt,))


_PARALLEL_VALUED = split_names("-j -P --jobs -a --arg-file -N -n -L -I -d --delimiter -C --colsep")


def unwrap_alias(command: Command, owner: str) -> Script:
    """`alias x=TEXT`: the text is judged where it is given, not where x is used."""
    return join_scripts(
        parse_inner(command, create_literal(word.value.partition("=")[2]), owner)
        for word in command.arguments
        if word.value and "=" in word.value
    )


_SU = Options.read(
    "flmpPT --fast --login --preserve-environment --pty --no-pty",
    "cgGsuw --command --session-command --shell --user --group --supp-group "
    "--whitelist-environment",
    permutes=True,
)
_SCRIPT = Options.read(
    "aefqr --append --return --flush --force --quiet",
    "cBEIOomT --command --log-io --echo --log-in --log-out --output-limit --logging-format "
    "--log-timing",
    "t --timing",
    permutes=True,
)
_FLOCK = Options.read(
    "senouxF --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose",
    "wEc --timeout --wait --conflict-exit-code --command",
)
_WATCH = Options.read(
    "bcegptwxCrf --beep --color --no-color --errexit --chgexit --no-title --precise --no-wrap "
    "--exec --no-rerun",
    "nqs --interval --equexit --shotsdir",
    "d --differences",
)
_CALLBACK = Options.read("abcdefgjksuvptDEI", "dnOsuCcoAGWFPSX", permutes=True)


def unwrap_su(command: Command, owner: str) -> Script:
    """`su -c TEXT` runs the text as somebody else; `runuser -u me ls` a command."""
    reading = read_options(command.words, _SU)
    if command.name == "runuser" and reading.has("u", "user"):
        reading = read_options(command.words, replace(_SU, permutes=False))
        return open_rest(command, reading, [], list(reading.rest))
    return _unwrap_text(command, reading, owner, "c", "command", "session-command")


def unwrap_script(command: Command, owner: str) -> Script:
    """`script -c TEXT FILE` runs the text and keeps what it prints."""
    return _unwrap_text(command, read_options(command.words, _SCRIPT), owner, "c", "command")


def unwrap_flock(command: Command, owner: str) -> Script:
    """`flock FILE -c TEXT` hands its text to a shell; `flock FILE ls` runs a command."""
    reading = read_options(command.words, _FLOCK)
    text = reading.find("c", "command")
    rest = list(reading.rest)
    if text is None and len(rest) > 2 and rest[1].value in {"-c", "--command"}:
        text = rest[2]
    if text is not None:
        return add_doubt(parse_inner(command, text, owner), command, reading)
    return open_rest(command, reading, rest[:1], rest[1:])


def unwrap_watch(command: Command, owner: str) -> Script:
    """`watch a b` hands its words to a shell, `watch -x a b` runs them."""
    reading = read_options(command.words, _WATCH)
    if reading.has("x", "exec"):
        return open_rest(command, reading, [], list(reading.rest))
    return add_doubt(parse_joined(command, reading.rest, owner), command, reading)


def unwrap_entr(command: Command, owner: str) -> Script:
    """`entr a b` runs its words, `entr -s TEXT` hands the text to a shell."""
    reading = read_options(command.words, Options.read("acdnprsxz"))
    if reading.has("s"):
        return add_doubt(parse_joined(command, reading.rest[:1], owner), command, reading)
    return open_rest(command, reading, [], list(reading.rest))


def unwrap_callback(command: Command, owner: str) -> Script:
    """`mapfile -C TEXT` and `complete -C TEXT` run the text."""
    reading = read_options(command.words, _CALLBACK)
    return add_doubt(parse_inner(command, reading.find("C"), owner), command, reading)


def _unwrap_text(command: Command, reading: Reading, owner: str, *names: str) -> Script:
    text: Word | None = reading.find(*names)
    if text is None:
        unseen = f"{command.name} starts a shell, whose input is not in sight"
        return Script((), (unseen,))
    return add_doubt(parse_inner(command, text, owner), command, reading)
