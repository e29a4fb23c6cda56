"""What hooks did, counted from the trails of recorded sessions."""

from amplifier_foundation.counting.recount import Recount, recount
from amplifier_foundation.counting.standing import STANDINGS, Standing, judge_standing
from amplifier_foundation.counting.survey import Survey

__all__ = ["STANDINGS", "Recount", "Standing", "Survey", "judge_standing", "recount"]
