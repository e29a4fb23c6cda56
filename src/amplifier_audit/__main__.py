"""`python -m amplifier_audit verify LOG`."""

import sys

from amplifier_audit.command_line import main

if __name__ == "__main__":
    sys.exit(main())
