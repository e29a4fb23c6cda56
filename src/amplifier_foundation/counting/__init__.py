"""What hooks did, counted from the trails of recorded sessions."""

from amplifier_foundation.counting.recount import Recount, recount

__all__ = ["Recount", "recount"]
