"""amplifier audit: verify, read and redact the audit trail.

Exit codes of `verify`: 0 proven to an anchor, 3 consistent but the end is not proven, 4 recovered
after a crash, 5 tampered with. 2: the command or the log cannot be read.
"""

from __future__ import annotations

import click

from amplifier_hooks.cli.commands.audit.checkpoints import checkpoint, create_key, prove, redact
from amplifier_hooks.cli.commands.audit.listing import list_command
from amplifier_hooks.cli.commands.audit.records import show, tail
from amplifier_hooks.cli.commands.audit.serve import serve
from amplifier_hooks.cli.commands.audit.statistics import stats
from amplifier_hooks.cli.commands.audit.verification import verify

EPILOG = """\b
Examples:
  amplifier audit list
  amplifier audit show
  amplifier audit show 3f2a --action deny
  amplifier audit verify "fix the parser"
"""


@click.group(epilog=EPILOG)
def audit() -> None:
    """Read, verify and redact the audit trail.

    LOG is the directory of a log, the beginning of a session's id, or a session's name. If it is
    omitted, the newest trail of this folder's bundle is used.
    """


for _command in (
    list_command,
    show,
    verify,
    tail,
    stats,
    redact,
    prove,
    checkpoint,
    create_key,
    serve,
):
    audit.add_command(_command)
