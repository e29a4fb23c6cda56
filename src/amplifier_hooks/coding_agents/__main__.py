"""python -m amplifier_hooks.coding_agents FOLDER: the resident process of the guests."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path

from amplifier_hooks.coding_agents.daemon.protocol import Judge
from amplifier_hooks.coding_agents.daemon.server import run_resident


def main(argv: list[str]) -> int:
    """Run it until nobody needs it."""
    if len(argv) != 1 or not Path(argv[0]).is_absolute():
        sys.stderr.write("usage: python -m amplifier_hooks.coding_agents FOLDER (a full path)\n")
        return 2
    # As in the command: a call waits while this imports, which makes many objects and no garbage.
    gc.set_threshold(50_000)
    folder = Path(argv[0])
    return run_resident(folder, partial(_create_judge, folder))


def _create_judge(folder: Path) -> Judge:
    from amplifier_hooks.coding_agents.self_test.hook import add_check_hook, find_ticket
    from amplifier_hooks.coding_agents.sessions.judge import AgentJudge

    return AgentJudge(
        equip=partial(add_check_hook, folder),
        is_self_test=lambda session_id: find_ticket(folder, session_id) is not None,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
