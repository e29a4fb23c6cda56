"""Commands that run another command or text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from amplifier_hooks.guards.bash.commands import Command, Reading
from amplifier_hooks.guards.bash.find import unwrap_xargs
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.unwrap import unwrap_command
from amplifier_hooks.guards.bash.words import create_literal
from amplifier_hooks.guards.bash.wrappers import (
    PREFIXES,
    RUNNERS,
    add_doubt,
    create_inner,
    parse_inner,
    parse_joined,
    unwrap_alias,
    unwrap_callback,
    unwrap_debugger,
    unwrap_entr,
    unwrap_env,
    unwrap_eval,
    unwrap_flock,
    unwrap_git_program,
    unwrap_parallel,
    unwrap_prefix,
    unwrap_remote,
    unwrap_runner,
    unwrap_script,
    unwrap_su,
    unwrap_trap,
    unwrap_watch,
)
from tests.hooks.guards.bash.reading import read_argument, read_command


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("sudo rm x", "rm x"),
        ("sudo -u root -- rm x", "rm x"),
        ("sudo A=1 rm x", "rm x"),
        ("timeout 5 rm x", "rm x"),
        ("timeout -s KILL 5 rm x", "rm x"),
        ("nice -n 3 rm x", "rm x"),
        ("nohup rm x", "rm x"),
        ("exec -a name rm x", "rm x"),
        ("chroot /mnt rm x", "rm x"),
        ("time -p rm x", "rm x"),
        ("sudo -nu root rm x", "rm x"),
        ("timeout -vk5 5 rm x", "rm x"),
        ("nice -5 rm x", "rm x"),
        ("timeout --kill=1 5 rm x", "rm x"),
        ("stdbuf -oL rm x", "rm x"),
    ],
)
def test_the_command_behind_a_prefix(source: str, text: str) -> None:
    """Behind its options, their values, assignments and its own arguments."""
    [inner] = unwrap_prefix(read_command(source), "test").commands
    assert inner.text == text
    assert inner.via == (source.split()[0],)


@pytest.mark.parametrize("source", ["sudo", "sudo -l", "command -v rm", "timeout 5", "nice -n 3"])
def test_a_prefix_without_a_command_runs_nothing(source: str) -> None:
    """`command -v` only looks a program up."""
    assert unwrap_prefix(read_command(source), "test").commands == ()


def test_the_inner_command_keeps_what_surrounds_it() -> None:
    """The same pipe, the same redirections; assignments before the prefix are the prefix's."""
    command = read_command("A=1 sudo rm x > log")
    inner = create_inner(command, list(command.words))
    assert inner.redirects == command.redirects
    assert (inner.program, inner.assigns) == ("rm", ())


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("env rm x", ["rm"]),
        ("env -i A=1 rm x", ["rm"]),
        ("env -u A rm x", ["rm"]),
        ("env -S 'rm x'", ["rm"]),
        ("env '-Srm x'", ["rm"]),
        ("env -vS 'rm x' y", ["rm"]),
        ("env -iS 'A=1 rm x'", ["rm"]),
        ("env --split='rm x'", ["rm"]),
        ("env - rm x", ["rm"]),
        ("env", []),
    ],
)
def test_env_is_a_prefix_or_splits_a_text(source: str, names: list[str]) -> None:
    """`-S` is how a script's first line says more than one word."""
    found = unwrap_env(read_command(source), "test").commands
    assert [one.name for one in found] == names


@pytest.mark.parametrize(
    "source",
    [
        "timeout $t rm",
        "timeout * rm",
        "nice --frobnicate rm",
        "sudo -$x rm",
        "taskset $mask rm",
        "env -S 'a\\_b'",
        "env -S 'ls ${X}'",
        "env -vS 'ls;x'",
        'env -S"$x" ls',
        "xargs -Z rm",
        "sudo",
        "chroot /x",
    ],
)
def test_options_that_are_not_known_make_the_command_uncertain(source: str) -> None:
    """Where the program stands depends on them."""
    command = read_command(source)
    unwrap = {"env": unwrap_env, "xargs": unwrap_xargs}.get(command.name or "", unwrap_prefix)
    assert unwrap(command, "test").unclear != ()


@pytest.mark.parametrize("name", sorted(PREFIXES))
def test_no_prefix_is_lost_without_words(name: str) -> None:
    """Hostile input may be a prefix and nothing else."""
    assert unwrap_prefix(read_command(name), "test").commands == ()


@pytest.mark.parametrize(
    ("unwrap", "source", "names"),
    [
        (unwrap_eval, "eval 'rm x; ls'", ["rm", "ls"]),
        (unwrap_eval, "eval rm x", ["rm"]),
        (unwrap_eval, "eval", []),
        (unwrap_trap, "trap 'rm x' EXIT", ["rm"]),
        (unwrap_trap, "trap - EXIT", []),
        (unwrap_trap, "trap", []),
        (unwrap_remote, "ssh host rm x", ["rm"]),
        (unwrap_remote, "ssh host 'rm x; ls'", ["rm", "ls"]),
        (unwrap_remote, "ssh host", []),
        (unwrap_runner, "poetry run rm x", ["rm"]),
        (unwrap_runner, "uv run --quiet -- rm x", ["rm"]),
        (unwrap_runner, "docker exec -it box rm x", ["rm"]),
        (unwrap_runner, "docker ps", []),
        (unwrap_git_program, "/usr/lib/git-core/git-push -f", ["git"]),
        (unwrap_runner, "npm run", []),
        (unwrap_alias, "alias x='rm y' z=ls", ["rm", "ls"]),
        (unwrap_alias, "alias x", []),
        (unwrap_debugger, "gdb --args rm x", ["rm"]),
        (unwrap_debugger, "gdb rm", []),
        (unwrap_remote, "ssh -p 22 host rm x", ["rm"]),
        (unwrap_remote, "ssh host -t rm x", ["rm"]),
    ],
)
def test_what_is_run_is_found(
    unwrap: Callable[[Command, str], Script], source: str, names: list[str]
) -> None:
    """Judged as if it ran here and now."""
    script = unwrap(read_command(source), "test")
    assert [one.name for one in script.commands] == names


@pytest.mark.parametrize(
    ("unwrap", "source"),
    [
        (unwrap_trap, 'trap "$x" EXIT'),
        (unwrap_eval, 'eval "$x"'),
    ],
)
def test_what_is_not_in_sight_is_in_doubt(
    unwrap: Callable[[Command, str], Script], source: str
) -> None:
    """A shell that reads its input, a text that is not literal, an option that is not known."""
    assert unwrap(read_command(source), "test").unclear != ()


def test_what_parallel_runs_is_in_doubt() -> None:
    """It is put together from its input."""
    assert unwrap_parallel(read_command("parallel rm"), "test").unclear != ()


@pytest.mark.parametrize(
    "source",
    [
        "mise exec -- git push -f",
        "mise x node@20 -- git push -f",
        "nvm exec 20 git push -f",
        "nvm exec git push -f",
        "direnv exec . git push -f",
        "micromamba run -n x git push -f",
        "nix shell nixpkgs#git -c git push -f",
        "op run --env-file=x -- git push -f",
        "docker-compose run x git push -f",
    ],
)
def test_what_managers_run_is_found(source: str) -> None:
    """Behind the dashes, or behind a word, a folder or a version, whichever it is."""
    texts = [one.text for one in unwrap_command(source).commands]
    assert "git push -f" in texts


@pytest.mark.parametrize("source", ["nvm use 20", "mise install node", "tox -e py -- -k x"])
def test_a_manager_that_runs_nothing(source: str) -> None:
    """Its other words are its own."""
    assert len(unwrap_command(source).commands) == 1


@pytest.mark.parametrize("name", sorted(RUNNERS))
def test_every_runner_is_known_by_run_or_exec(name: str) -> None:
    """The container's name is left out."""
    words = "box rm x" if name in {"docker", "podman", "kubectl"} else "rm x"
    script = unwrap_runner(read_command(f"{name} run {words}"), "test")
    assert [one.text for one in script.commands] == ["rm x"]


def test_the_text_of_a_word_is_a_script() -> None:
    """Its commands know who runs them."""
    outer = read_command("bash -c x").run_by("sudo")
    script = parse_inner(outer, create_literal("ls; rm x"), "test")
    assert [(one.name, one.via) for one in script.commands] == [
        ("ls", ("sudo", "bash")),
        ("rm", ("sudo", "bash")),
    ]


def test_a_text_that_is_not_literal_is_in_doubt() -> None:
    """With its beginning, so that a person recognises it."""
    script = parse_inner(read_command("bash"), read_argument(f'"$x{"y" * 100}"'), "test")
    assert script.commands == ()
    [reason] = script.unclear
    assert reason.startswith('the text that bash runs, "$xyyy')
    assert len(reason) < 110


def test_no_text_is_no_script() -> None:
    """And no doubt."""
    assert parse_inner(read_command("bash"), None, "test").unclear == ()
    assert parse_joined(read_command("eval"), [], "test").commands == ()


def test_words_are_joined_with_blanks() -> None:
    """As `eval` does it; one that is not literal makes all of it unclear."""
    command = read_command("eval rm '-rf;' ls")
    script = parse_joined(command, command.words, "test")
    assert [one.text for one in script.commands] == ["rm -rf", "ls"]
    uncertain = read_command("eval ls $x")
    assert parse_joined(uncertain, uncertain.words, "test").unclear != ()


def test_a_doubt_about_the_options_is_one_about_the_script() -> None:
    """Without one the script stays as it is."""
    command, script = read_command("su -c ls"), Script(())
    assert add_doubt(script, command, Reading((), ())) is script
    [doubt] = add_doubt(script, command, Reading((), (), "x is odd")).unclear
    assert doubt == "what su runs is not certain: x is odd"


@pytest.mark.parametrize("source", ["eval echo *", "eval ?", "eval [a]"])
def test_names_of_files_that_become_a_script_are_in_doubt(source: str) -> None:
    """A file may be called `;rm`."""
    command = read_command(source)
    assert parse_joined(command, command.words, "test").unclear != ()


@pytest.mark.parametrize(
    ("unwrap", "source", "names"),
    [
        (unwrap_su, "su -c 'rm x'", ["rm"]),
        (unwrap_su, "su me --command='rm x'", ["rm"]),
        (unwrap_su, "su me", []),
        (unwrap_callback, "mapfile -C 'rm x' -c 1", ["rm"]),
        (unwrap_su, "su -lc 'rm x'", ["rm"]),
        (unwrap_su, "su - me -c 'rm x'", ["rm"]),
        (unwrap_su, "runuser -u me -- rm x", ["rm"]),
        (unwrap_script, "script -qc 'rm x' f", ["rm"]),
        (unwrap_script, "script f --command='rm x'", ["rm"]),
        (unwrap_flock, "flock f rm x", ["rm"]),
        (unwrap_flock, "flock f -c 'rm x; ls'", ["rm", "ls"]),
        (unwrap_flock, "flock -nc 'rm x' f", ["rm"]),
        (unwrap_flock, "flock f", []),
        (unwrap_watch, "watch -n 1 'rm x; ls'", ["rm", "ls"]),
        (unwrap_watch, "watch -x rm x", ["rm"]),
        (unwrap_entr, "entr -r rm x", ["rm"]),
        (unwrap_entr, "entr -s 'rm x; ls'", ["rm", "ls"]),
    ],
)
def test_the_text_is_found(
    unwrap: Callable[[Command, str], Script], source: str, names: list[str]
) -> None:
    """Wherever the option stands, and in a cluster, too."""
    script = unwrap(read_command(source), "test")
    assert [one.name for one in script.commands] == names


@pytest.mark.parametrize(
    ("unwrap", "source"),
    [
        (unwrap_su, "su me"),
        (unwrap_su, "su --frobnicate -c ls"),
        (unwrap_script, "script f"),
        (unwrap_script, 'script -c "$x"'),
        (unwrap_callback, "mapfile -C $x"),
        (unwrap_flock, "flock $x ls"),
    ],
)
def test_a_text_that_is_not_in_sight_is_in_doubt(
    unwrap: Callable[[Command, str], Script], source: str
) -> None:
    """A shell that reads its input, a text that is not literal, an option that is not known."""
    assert unwrap(read_command(source), "test").unclear != ()
