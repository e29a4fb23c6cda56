"""python -m amplifier_foundation.guests FOLDER: the resident process of the guests."""

from __future__ import annotations

import sys
from pathlib import Path

from amplifier_foundation.guests.resident.request import Judge
from amplifier_foundation.guests.resident.running import run_resident


def main(argv: list[str]) -> int:
    """Run it until nobody needs it."""
    if len(argv) != 1 or not Path(argv[0]).is_absolute():
        sys.stderr.write("usage: python -m amplifier_foundation.guests FOLDER (a full path)\n")
        return 2
    return run_resident(Path(argv[0]), _create_judge)


def _create_judge() -> Judge:
    from amplifier_foundation.guests.sessions.judge import GuestJudge

    return GuestJudge()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
