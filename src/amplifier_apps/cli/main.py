"""Where the `amplifier` command starts: what it needs is imported when that is known."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__" and not __file__.startswith(sys.path[0]):
    # Python puts the folder that we are in first: any module could be replaced by a file there.
    del sys.path[0]

_VERSION = ["--version"]

if __name__ == "__main__" or sys.argv[0].rpartition("/")[2] == "amplifier":
    # Importing makes many objects and no garbage: looking for it takes 5 % of a short command.
    gc.set_threshold(50_000)
    if sys.argv[1:] != _VERSION:
        from amplifier_apps.cli.early_signals import answer_signals

        answer_signals(sys.argv[1:])  # before the rest is imported, which takes a while

TYPE_CHECKING = False  # importing `typing` takes longer than all that is done here
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == _VERSION and _print_version():
        from amplifier_apps.cli import exit_codes

        sys.exit(exit_codes.DONE)
    from amplifier_apps.cli.early_signals import release_signals
    from amplifier_apps.cli.text.encoding import accept_any_text

    accept_any_text(sys.stdout, sys.stderr)
    release_signals()
    sys.exit(run(arguments, debug="--debug" in arguments))


def _print_version() -> bool:
    """Whether it could be written; if not, the usual way says why."""
    from amplifier_apps.cli.version import find_version

    try:
        print(f"amplifier {find_version()}", flush=True)  # noqa: T201 - no click for one line
    except OSError:
        return False
    return True


def run(arguments: list[str], *, debug: bool = False) -> int:
    """Run the command and return its exit code; with `debug` an error shows its traceback."""
    from amplifier_apps.cli import program

    return program.run(arguments, debug=debug)


if __name__ == "__main__":
    main()
