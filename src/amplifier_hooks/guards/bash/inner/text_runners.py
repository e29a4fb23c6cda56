"""Commands that hand a text to a shell: `su -c TEXT`, `script -c TEXT`, `watch TEXT`."""

from __future__ import annotations

from dataclasses import replace

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.inner.prefixes import open_rest
from amplifier_hooks.guards.bash.inner.text import add_doubt, parse_inner, parse_joined
from amplifier_hooks.guards.bash.options import Options, Reading, read_options
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.word import Word

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
