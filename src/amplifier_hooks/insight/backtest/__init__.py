"""Backtests: what other hooks would have decided in sessions that are recorded in trails."""

from amplifier_hooks.insight.backtest.policy import Policy, PolicyError, PolicySource, load_policy
from amplifier_hooks.insight.backtest.reading import Window
from amplifier_hooks.insight.backtest.run import backtest_trails
from amplifier_hooks.insight.backtest.tally import Tally

__all__ = [
    "Policy",
    "PolicyError",
    "PolicySource",
    "Tally",
    "Window",
    "backtest_trails",
    "load_policy",
]
