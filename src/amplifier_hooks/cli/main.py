"""The start of the `amplifier` command; imports follow when they are known to be needed."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__" and not __file__.startswith(sys.path[0]):
    # Python puts the folder that we are in first: any module could be replaced by a file there.
    del sys.path[0]

_VERSION = ["--version"]

if __name__ == "__main__" or sys.argv[0].rpartition("/")[2] in ("amplifier", "amplifier-hooks"):
    # Importing makes many objects and no garbage: looking for it takes 5 % of a short command.
    gc.set_threshold(50_000)
    if sys.argv[1:] != _VERSION:
        from amplifier_hooks.cli.early_signals import answer_signals

        answer_signals(sys.argv[1:])  # before the rest is imported, which takes a while

TYPE_CHECKING = False  # importing `typing` takes longer than all that is done here
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments != _VERSION:  # which needs no kernel, and is told at once
        from amplifier_hooks.installation_check import find_clash

        if clash := find_clash():
            sys.exit(f"Error: {clash}")
    from amplifier_audit.streams import finish_streams, prepare_streams

    prepare_streams()
    code = _print_version() if arguments == _VERSION else _run_command(arguments)
    sys.exit(finish_streams(code))


def _print_version() -> int:
    from contextlib import suppress

    from amplifier_hooks.cli import exit_codes
    from amplifier_hooks.cli.version import find_version

    with suppress(OSError):  # `finish_streams` tells
        sys.stdout.write(f"amplifier {find_version()}\n")  # no click for one line
    return exit_codes.DONE


def _run_command(arguments: list[str]) -> int:
    from amplifier_hooks.cli.early_signals import release_signals
    from amplifier_hooks.cli.text.encoding import accept_any_text

    accept_any_text(sys.stdout, sys.stderr)
    release_signals()
    return run(arguments, debug="--debug" in arguments)


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run the command and return its exit code; with `debug` an error shows its traceback."""
    from amplifier_hooks.cli import program

    return program.run(arguments, debug=debug)


if __name__ == "__main__":
    main()
