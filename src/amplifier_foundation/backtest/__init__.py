"""Backtests: what other hooks would have decided in sessions that are recorded in trails."""

from amplifier_foundation.backtest.policy import Policy, PolicyError, PolicySource, load_policy
from amplifier_foundation.backtest.reading import Window
from amplifier_foundation.backtest.run import backtest_trails
from amplifier_foundation.backtest.tally import Tally

__all__ = [
    "Policy",
    "PolicyError",
    "PolicySource",
    "Tally",
    "Window",
    "backtest_trails",
    "load_policy",
]
