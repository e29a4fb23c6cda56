"""What hooks print."""

from __future__ import annotations

import subprocess
import sys

import pytest

from amplifier_hooks.cli.commands.hooks.tried_text import capture_output


def test_everything_that_is_written_is_kept_from_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """By Python and by programs, on both streams, in its order; afterwards all is as before."""
    sys.stdout.write("before\n")
    with capture_output() as printed:
        sys.stdout.write("one\n")
        sys.stderr.write("two ü\n")
        subprocess.run(["echo", "three"], check=True)
    sys.stdout.write("after\n")
    assert printed.text == "one\ntwo ü\nthree\n"
    assert capfd.readouterr() == ("before\nafter\n", "")


def test_what_was_printed_before_a_failure_is_kept() -> None:
    """And the failure goes on."""
    seen = []

    def print_and_fail() -> None:
        with capture_output() as printed:
            seen.append(printed)
            sys.stdout.write("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        print_and_fail()
    assert [one.text for one in seen] == ["half"]
