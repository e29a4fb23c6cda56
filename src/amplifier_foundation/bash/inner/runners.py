"""Commands that take a script or another command as an argument: `eval`, `su -c`, `ssh`, `uv run`.

What runs on another machine or in a container is judged as if it ran here.
"""

from __future__ import annotations

from dataclasses import replace

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.inner.prefixes import create_inner, open_rest
from amplifier_foundation.bash.inner.text import parse_inner, parse_joined
from amplifier_foundation.bash.options import Options, Reading, read_options
from amplifier_foundation.bash.script import Script, join_scripts
from amplifier_foundation.bash.word import Word, create_literal, split_names

_CONTAINERS = frozenset({"docker", "podman", "kubectl"})
RUNNERS = split_names("poetry uv pipenv bundle conda npm pnpm yarn rye hatch pdm") | _CONTAINERS
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
_SSH = Options.read("46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOoPpQRSWw")
_CALLBACK = Options.read("abcdefgjksuvptDEI", "dnOsuCcoAGWFPSX", permutes=True)


def unwrap_eval(command: Command, owner: str) -> Script:
    """`eval a b` runs its words as one script."""
    words = command.words
    return parse_joined(command, words[words[:1] == (create_literal("--"),) :], owner)


def unwrap_trap(command: Command, owner: str) -> Script:
    """`trap TEXT EXIT` runs the text later; `trap - EXIT` forgets it."""
    reading = read_options(command.words, Options.read("lpP"))
    if reading.given or not reading.rest or reading.rest[0].value == "-":
        return _doubt(command, reading)
    return _with_doubt(parse_inner(command, reading.rest[0], owner), command, reading)


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
        return _with_doubt(parse_inner(command, text, owner), command, reading)
    return open_rest(command, reading, rest[:1], rest[1:])


def unwrap_watch(command: Command, owner: str) -> Script:
    """`watch a b` hands its words to a shell, `watch -x a b` runs them."""
    reading = read_options(command.words, _WATCH)
    if reading.has("x", "exec"):
        return open_rest(command, reading, [], list(reading.rest))
    return _with_doubt(parse_joined(command, reading.rest, owner), command, reading)


def unwrap_entr(command: Command, owner: str) -> Script:
    """`entr a b` runs its words, `entr -s TEXT` hands the text to a shell."""
    reading = read_options(command.words, Options.read("acdnprsxz"))
    if reading.has("s"):
        return _with_doubt(parse_joined(command, reading.rest[:1], owner), command, reading)
    return open_rest(command, reading, [], list(reading.rest))


def unwrap_callback(command: Command, owner: str) -> Script:
    """`mapfile -C TEXT` and `complete -C TEXT` run the text."""
    reading = read_options(command.words, _CALLBACK)
    return _with_doubt(parse_inner(command, reading.find("C"), owner), command, reading)


def unwrap_remote(command: Command, owner: str) -> Script:
    """`ssh host a b` joins its words for the shell over there."""
    reading = read_options(command.words, _SSH)
    after = read_options(reading.rest[1:], _SSH)  # options may stand behind the host, too
    return _with_doubt(parse_joined(command, after.rest, owner), command, reading)


def unwrap_runner(command: Command, owner: str) -> Script:
    """`poetry run x`, `docker exec box x`."""
    words = list(command.words)
    at = next((n for n, word in enumerate(words) if word.value in {"run", "exec"}), None)
    if at is None:
        return Script(())
    rest = [word for word in words[at + 1 :] if word.value != "--"]
    while rest and rest[0].is_flag:
        rest.pop(0)
    if command.name in _CONTAINERS:
        rest = rest[1:]  # the container's or image's name
    return Script((create_inner(command, rest),)) if rest else Script(())


def unwrap_debugger(command: Command, owner: str) -> Script:
    """`gdb --args a b` runs `a b`."""
    at = next((n for n, w in enumerate(command.words) if w.value in {"--args", "-args"}), None)
    rest = () if at is None else command.words[at + 1 :]
    return Script((create_inner(command, list(rest)),)) if rest else Script(())


def unwrap_parallel(command: Command, owner: str) -> Script:
    """What `parallel` runs is only known when it runs."""
    return Script((), ("what parallel runs is put together from its input",))


def unwrap_alias(command: Command, owner: str) -> Script:
    """`alias x=TEXT`: the text is judged where it is given, not where x is used."""
    return join_scripts(
        parse_inner(command, create_literal(word.value.partition("=")[2]), owner)
        for word in command.arguments
        if word.value and "=" in word.value
    )


def _unwrap_text(command: Command, reading: Reading, owner: str, *names: str) -> Script:
    text: Word | None = reading.find(*names)
    if text is None:
        unseen = f"{command.name} starts a shell, whose input is not in sight"
        return Script((), (unseen,))
    return _with_doubt(parse_inner(command, text, owner), command, reading)


def _with_doubt(script: Script, command: Command, reading: Reading) -> Script:
    return join_scripts([script, _doubt(command, reading)])


def _doubt(command: Command, reading: Reading) -> Script:
    if reading.doubt is None:
        return Script(())
    return Script((), (f"what {command.name} runs is not certain: {reading.doubt}",))
