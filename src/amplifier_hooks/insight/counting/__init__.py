"""What hooks did, counted from the trails of recorded sessions."""

from amplifier_hooks.insight.counting.standing import STANDINGS, Standing, judge_standing
from amplifier_hooks.insight.counting.survey import Survey
from amplifier_hooks.trails.recount import Recount, recount

__all__ = ["STANDINGS", "Recount", "Standing", "Survey", "judge_standing", "recount"]
