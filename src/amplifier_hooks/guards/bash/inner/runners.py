"""Commands that take a script or another command as an argument: `eval`, `trap`, `ssh`, `uv run`.

What runs on another machine or in a container is judged as if it ran here.
"""

from __future__ import annotations

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.inner.prefixes import create_inner
from amplifier_hooks.guards.bash.inner.text import add_doubt, parse_inner, parse_joined
from amplifier_hooks.guards.bash.options import Options, read_options
from amplifier_hooks.guards.bash.script import Script, join_scripts
from amplifier_hooks.guards.bash.word import create_literal, split_names

_CONTAINERS = frozenset({"docker", "podman", "kubectl"})
RUNNERS = split_names("poetry uv pipenv bundle conda npm pnpm yarn rye hatch pdm") | _CONTAINERS
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
    at = next((n for n, word in enumerate(words) if word.value in {"run", "exec"}), None)
    if at is None:
        return Script(())
    rest = [word for word in words[at + 1 :] if word.value != "--"]
    while rest and rest[0].is_flag:
        rest.pop(0)
    if command.name in _CONTAINERS:
        rest = rest[1:]  # the container's or image's name
    return Script((create_inner(command, rest),)) if rest else Script(())


def unwrap_git_program(command: Command, owner: str) -> Script:
    """`/usr/lib/git-core/git-push -f` is `git push -f`."""
    subcommand = (command.name or "").removeprefix("git-")
    words = [create_literal("git"), create_literal(subcommand), *command.words]
    return Script((create_inner(command, words),))


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
