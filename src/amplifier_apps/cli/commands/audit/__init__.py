"""amplifier audit: verify, read and redact the audit trail.

Exit codes of `verify`: 0 proven to an anchor, 3 consistent but the end is not proven, 4 recovered
after a crash, 5 tampered with. 2: the command or the log cannot be read.
"""

from __future__ import annotations

import click

from amplifier_apps.cli.commands.audit.checkpoints import checkpoint, prove
from amplifier_apps.cli.commands.audit.keys import create_key
from amplifier_apps.cli.commands.audit.records import show, tail
from amplifier_apps.cli.commands.audit.redaction import redact
from amplifier_apps.cli.commands.audit.serve import serve
from amplifier_apps.cli.commands.audit.statistics import stats
from amplifier_apps.cli.commands.audit.verification import verify


@click.group()
def audit() -> None:
    """Verify, read and redact the audit trail.

    LOG is the directory of a log or the start of a session's id; where it may be left out, the
    trail of the newest session is meant.
    """


for _command in (verify, show, tail, stats, redact, prove, checkpoint, create_key, serve):
    audit.add_command(_command)
