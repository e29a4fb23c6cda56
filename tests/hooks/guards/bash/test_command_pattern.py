"""Patterns for commands."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.command_pattern import CommandPattern
from tests.hooks.guards.bash.reading import read_command


@pytest.mark.parametrize(
    ("pattern", "source", "matches"),
    [
        ("git", "git status", True),
        ("git", "/usr/bin/Git status", True),
        ("git", "gitk", False),
        ("git|hg", "hg log", True),
        ("mkfs.*", "mkfs.ext4 x", True),
        ("git push", "git -C x push origin", True),
        ("git push", "git log push-notes", False),
        ("git push --force|-f", "git push origin -f", True),
        ("git push --force|-f", "git push -fu origin", True),
        ("git push --force", "git push --forc", True),
        ("git push --force", "git push --fo", True),
        ("git push --force", "git push --f", False),
        ("find -force", "find -for", False),
        ("git push --force", "git push --forceful", False),
        ("git --force push|pull", "git pull --force", True),
        ("git push --force", "git push", False),
        ("git push +*", "git push origin +main", True),
        ("a b c", "a b x c", True),
        ("a b c", "a c b", False),
        ("a *", "a $x", False),
        ("a", "$x", False),
        ("a [b]", "a '[b]'", True),
        ("a [b]", "a b", True),
        ("a b.c", "a bxc", False),
        ("mkfs.*|fdisk", "fdisk x", True),
        ("git-*", "git x", False),
        ("/Opt/Tool/run", "/Opt/Tool/run x", True),
        ("/Opt/Tool/run", "/opt/tool/RUN x", True),
        ("./Deploy.sh", "./Deploy.sh now", True),
        ("/Opt/Tool/*", "/Opt/Tool/run x", True),
    ],
)
def test_a_pattern_is_read_word_by_word(pattern: str, source: str, matches: bool) -> None:
    """At least these options and, in this order, these arguments; the rest is free."""
    assert CommandPattern.read(pattern).matches(read_command(source)) is matches


@pytest.mark.parametrize(("text", "word"), [("", "empty"), ("  ", "empty"), ("git a|", "'|'")])
def test_a_pattern_that_means_nothing_is_refused(text: str, word: str) -> None:
    """With a sentence, when the configuration is read."""
    with pytest.raises(ValueError, match=word.replace("|", r"\|")):
        CommandPattern.read(text)


@pytest.mark.parametrize(
    ("pattern", "source", "permits"),
    [
        ("git", "git status", True),
        ("git", "/usr/bin/git status", True),
        ("git", "/tmp/git status", False),
        ("git", "./git status", False),
        ("git", "Git status", False),
        ("git status", "git status -s x", True),
        ("git status", "git -c x=y status", False),
        ("git status", "git -C x status", False),
        ("git status", "git push status", False),
        ("git -C sub status", "git -C sub status", True),
        ("git push --dry-run", "git push x --dry-run", True),
        ("deploy-*", "deploy-test a", True),
        ("deploy-*", "/usr/bin/deploy-test a", True),
        ("deploy-*", "/tmp/deploy-test a", False),
        ("*run", "/tmp/run", False),
        ("/tmp/*", "/tmp/run", True),
        ("git --no-pager status", "git --no-pager status", True),
        ("git --no-pager status", "git --no-pager -c x status", False),
        ("./run.sh", "./run.sh a", True),
        ("./run.sh", "/x/run.sh", False),
        ("/opt/x/run", "/opt/x/run", True),
        ("make test", "make $x", False),
        ("make", "make $x", True),
        ("rm out/*", "rm out/a out/b", True),
        ("rm out/*", "rm -f out/a", False),
        ("rm out/*", "rm out/a ../b", False),
        ("rm out/*", "rm out/../b", False),
        ("tool -v|verbose run", "tool -v run", True),
        ("tool -v|verbose run", "tool verbose run -v", False),
    ],
)
def test_what_a_pattern_permits_is_surely_that(pattern: str, source: str, permits: bool) -> None:
    """The very program, and its arguments as the first words."""
    assert CommandPattern.read(pattern).permits(read_command(source)) is permits


@pytest.mark.parametrize(
    ("pattern", "source", "matches"),
    [
        ("deploy.sh", "bash deploy.sh", True),
        ("deploy.sh eu", "sh -ex ./bin/deploy.sh now eu", True),
        ("deploy.sh", ". deploy.sh", True),
        ("deploy.sh", "bash other.sh deploy.sh", False),
        ("deploy.sh", "bash -c ls deploy.sh", False),
        ("deploy.sh us", "bash deploy.sh eu", False),
    ],
)
def test_a_script_is_the_same_script_when_a_shell_runs_it(
    pattern: str, source: str, matches: bool
) -> None:
    """Who forbids a script forbids it however it is started; who allows it allows it by itself."""
    read = CommandPattern.read(pattern)
    assert read.matches(read_command(source)) is matches
    assert not read.permits(read_command(source))
    assert not read.covers(read_command(source))


@pytest.mark.parametrize(
    ("pattern", "source", "covers"),
    [
        ("make", "make test deploy", True),
        ("make test", "./make test deploy", True),
        ("make test", "make deploy test", False),
        ("rm out/*", "rm -rf out/a out/b", True),
        ("rm out/*", "rm", False),
        ("rm out/*", "rm out/a ../b", False),
        ("rm out/*", "rm ../b out/a", False),
        ("rm out/*", "rm out/../b", False),
        ("rm out/*", "rm out/a $x", False),
        ("rm out/*|tmp/*", "rm out/a tmp/b", True),
        ("cat *", "cat ../a ../../b", True),
        ("cp ../a out/*", "cp ../a out/b", True),
        ("git push origin agent/*", "git push origin agent/x main", False),
    ],
)
def test_what_a_pattern_covers_goes_no_further_than_its_globs(
    pattern: str, source: str, covers: bool
) -> None:
    """What follows the last argument has to fit it too, if that one is a glob."""
    assert CommandPattern.read(pattern).covers(read_command(source)) is covers


def test_a_pattern_knows_which_programs_it_is_about() -> None:
    """For callers that have only the name."""
    pattern = CommandPattern.read("docker|podman push")
    assert pattern.matches_name("podman")
    assert not pattern.matches_name("push")
    assert not pattern.matches_name(None)
