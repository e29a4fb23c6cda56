"""`python -m amplifier_audit verify LOG`, where there is nothing but Python.

Verdicts, options and exit codes are those of `amplifier audit verify`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence

from amplifier_audit.anchor_files import read_anchors
from amplifier_audit.errors import AuditError
from amplifier_audit.keys import load_verifier
from amplifier_audit.log_directory import open_remains
from amplifier_audit.parallel import choose_jobs
from amplifier_audit.record import name_log
from amplifier_audit.report import Report, describe_report, find_exit_code, report_to_dict
from amplifier_audit.streams import print_error, run_program
from amplifier_audit.verification import LogVerification, load_position, save_position
from amplifier_audit.witness import Witness, read_witnesses

UNREADABLE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _make_parser().parse_args(arguments)
    try:
        report = _verify(options)
    except AuditError as error:
        print_error(f"Error: {error}")
        return UNREADABLE
    except OSError as error:
        print_error(f"Error: {error.strerror or error}: {error.filename}")
        return UNREADABLE
    told = report_to_dict(report, complete=options.complete)
    lines = [json.dumps(told)] if options.json else describe_report(report)
    # The exit code tells the verdict also to those who do not read to the end.
    with contextlib.suppress(OSError):
        sys.stdout.write("\n".join(lines) + "\n")
    return find_exit_code(report, complete=options.complete)


def _verify(options: argparse.Namespace) -> Report:
    log = open_remains(options.log)
    name = name_log(options.session) if options.session else None
    token = os.environ.get("AMPLIFIER_TOKEN", "")
    witnesses = [Witness(url, token) for url in options.witness]
    run = LogVerification(
        log,
        name=name,
        anchors=[*read_anchors(options.anchor, log, name), *read_witnesses(witnesses, log, name)],
        key=load_verifier(options.key) if options.key else None,
        since=load_position(options.since) if options.since else None,
        jobs=choose_jobs(log, options.jobs),
    )
    report = run.run()
    if options.save and run.end and report.verdict != "tampered":
        save_position(options.save, run.end)
    return report


def _parse_jobs(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"a number from 1 on, got {text!r}")
    return int(text)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m amplifier_audit", description="Verify an audit log."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    verify = commands.add_parser(
        "verify",
        help="check every record and say exactly what it proves",
        description="Check every record and say exactly what it proves.",
        epilog="Exit code 0: proven to an anchor; 3: consistent, end not proven; 4: recovered; "
        "5: tampered; 2: the command or the log cannot be read.",
    )
    verify.add_argument("log", metavar="LOG", help="directory of a log, or one segment")
    verify.add_argument("--key", help="public key: its text, or a file that holds it")
    verify.add_argument(
        "--anchor",
        action="append",
        default=[],
        metavar="FILE",
        help="file with checkpoints kept elsewhere; may be repeated",
    )
    verify.add_argument(
        "--witness",
        action="append",
        default=[],
        metavar="URL",
        help="server that keeps checkpoints of the log, with the token in AMPLIFIER_TOKEN",
    )
    verify.add_argument("--session", metavar="ID", help="whose trail it must be")
    verify.add_argument(
        "--complete",
        action="store_true",
        help="exit code 3 instead of 0 if records at the end are not proven",
    )
    verify.add_argument("--since", metavar="FILE", help="go on from a position that --save wrote")
    verify.add_argument("--save", metavar="FILE", help="write the verified position to this file")
    verify.add_argument(
        "--jobs",
        type=_parse_jobs,
        metavar="N",
        help="segments to verify at a time; by default one for each core, and 1 for a small log",
    )
    verify.add_argument("--json", action="store_true", help="JSON instead of text")
    return parser


if __name__ == "__main__":
    run_program(main)
