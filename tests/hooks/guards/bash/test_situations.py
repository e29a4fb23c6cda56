"""The files that commands write."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.situations import (
    Situation,
    list_outputs,
    list_situations,
    list_written,
    strip_directory,
)
from amplifier_hooks.guards.bash.words import create_literal
from amplifier_hooks.guards.bash.workspace import Reach, Workspace
from tests.hooks.guards.bash.reading import read_command


@pytest.mark.parametrize(
    "source",
    [
        "ls > f",
        "ls >& f",
        "ls &>> f",
        "tee f",
        "cp a f",
        "cp -t f a",
        "cp --target-directory=f a",
        "install -t f a",
        "mv -tf a",
        "curl -o f u",
        "curl -sLo f u",
        "curl --output f u",
        "curl --output-dir f -O u",
        "wget -O f u",
        "wget -Pf u",
        "wget --directory-prefix=f u",
        "tar -xC f",
        "tar -C f -x",
        "tar xf a.tgz -C f",
        "tar -cf f a",
        "sort -o f a",
        "sort a --outp=f",
        "sort -uof a",
        "unzip -d f a.zip",
        "patch f p",
        "patch -o f",
        "rsync a f",
        "dd of=f",
        "sed -i s/a/b/ f",
        "perl -i -pe x f",
        "truncate -s 0 f",
        "ed f",
        "find . -fprint f",
        "find . -fls f",
        "xxd a f",
        "uniq a f",
        "script -O f",
        "git -C f pull",
        "ln -s a f",
        "shuf -o f",
    ],
)
def test_what_a_command_writes_to(source: str) -> None:
    """Redirections, operands, and the values of options in any spelling."""
    assert "f" in [word.value for word in list_written(read_command(source))]


@pytest.mark.parametrize(
    "source",
    ["cat f", "sort f", "sed s/a/b/ f", "cp f a", "uniq f", "uniq a b f", "dd if=f", "dd $x if=f"],
)
def test_what_a_command_only_reads(source: str) -> None:
    """It is not written to."""
    assert "f" not in [word.value for word in list_written(read_command(source))]


@pytest.mark.parametrize("source", ["ls 2>&1", "ls >&-", "ls 2>&1-"])
def test_a_stream_that_is_open_already_is_no_file(source: str) -> None:
    """It is named by its number."""
    assert list(list_written(read_command(source))) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("curl -O https://h/a/x.sh", "x.sh"),
        ("curl -O https://h/x.sh?v=1", "x.sh"),
        ("wget https://h/%78.sh", "x.sh"),
        ("wget h/x.sh", "x.sh"),
        ("curl u > x.sh", "x.sh"),
        ("mv a x.sh", "x.sh"),
        ("mv x.sh sub", "x.sh"),
        ("tee x.sh < x.sh", "x.sh"),
        ("cat < x.sh > x.sh", "x.sh"),
        ("echo a > 1", "1"),
        ("echo a &> 1", "1"),
        ("echo a >& f", "f"),
        ("cp x.sh sub", "x.sh"),
    ],
)
def test_the_files_that_a_script_makes(source: str, name: str) -> None:
    """Those it names, also by a number, and those named by an address or by what is copied."""
    assert name in set(list_outputs(parse_script(source)))


def test_no_address_is_too_odd() -> None:
    """Hostile input must not raise."""
    assert "http://[x" in set(list_outputs(parse_script("wget 'http://[x'")))


def situations(source: str) -> list[Situation]:
    return list(
        list_situations(parse_script(source), Workspace(Path("/project"), Path("/home/me")))
    )


@pytest.mark.parametrize(
    ("source", "directories"),
    [
        ("ls", ["/project"]),
        ("cd a && ls", ["/project", "/project/a"]),
        ("ls; cd later", ["/project", "/project/later"]),
    ],
)
def test_every_command_knows_where_the_script_goes(source: str, directories: list[str]) -> None:
    """Also directories it changes to later: a loop may come back."""
    for situation in situations(source):
        assert list(map(str, situation.directories.known)) == directories


@pytest.mark.parametrize(
    ("source", "outputs"),
    [
        ("echo a > x", {"x"}),
        ("echo a >> ./x", {"x"}),
        ("cat < x", set()),
        ("curl -o x https://u", {"x", "u"}),
        ("curl -O https://u/a/x.sh", {"x.sh"}),
        ("cp a b", {"a", "b"}),
        ("ls > $x", set()),
    ],
)
def test_what_the_script_writes_or_fetches_is_known(source: str, outputs: set[str]) -> None:
    """For the check of files that are written and then run."""
    assert situations(source)[0].outputs == outputs


def test_the_worst_word_counts() -> None:
    """Of many places the worst one is named."""
    [situation] = situations("rm a / b")
    assert situation.rate(situation.command.words) == (Reach.SYSTEM, create_literal("/"))
    assert situation.rate(()) is None


def test_too_many_words_are_unknown() -> None:
    """They are not looked at one by one."""
    [situation] = situations("ls")
    many = tuple(create_literal(f"a{number}") for number in range(201))
    assert situation.rate(many) == (Reach.UNKNOWN, create_literal("a0"))
    assert situation.rate(many[1:]) == (Reach.INSIDE, create_literal("a1"))


@pytest.mark.parametrize(("path", "bare"), [("./x", "x"), ("x", "x"), ("../x", "x"), ("a/", "a")])
def test_a_file_has_one_name(path: str, bare: str) -> None:
    """Wherever it is: a `cd` may change how its directory is written."""
    assert strip_directory(path) == bare


@pytest.mark.parametrize(
    ("source", "written", "paths"),
    [
        ("ls", "x", {"/project/x"}),
        (
            "cd .git; cd hooks; ls",
            "x",
            {"/project/x", "/project/.git/x", "/project/hooks/x", "/project/.git/hooks/x"},
        ),
        ("cd a; ls", "/x", {"/x"}),
    ],
)
def test_a_relative_path_has_a_place_in_every_directory(
    source: str, written: str, paths: set[str]
) -> None:
    """A write behind `cd` is judged where it really goes."""
    situation = situations(source)[-1]
    assert {str(path) for path in situation.find_paths(create_literal(written))} == paths


def test_behind_an_unknown_directory_relative_paths_are_unknown() -> None:
    """Absolute ones are not."""
    situation = situations("cd $x; rm -r bin /tmp/x")[-1]
    assert situation.rate((create_literal("bin"),)) == (Reach.UNKNOWN, create_literal("bin"))
    assert situation.rate((create_literal("/tmp/x"),)) == (Reach.INSIDE, create_literal("/tmp/x"))
