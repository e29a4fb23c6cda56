"""The files that commands write."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.danger.outputs import list_outputs, list_written
from amplifier_hooks.guards.bash.script import parse_script
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
