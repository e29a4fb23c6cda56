"""Backtests: what other hooks would have decided in sessions that are recorded in trails."""

from amplifier_hooks.insight.backtest.counts import Tally
from amplifier_hooks.insight.backtest.policy import Policy, PolicyError, PolicySource, load_policy
from amplifier_hooks.insight.backtest.trail_run import Window, backtest_trails

__all__ = [
    "Policy",
    "PolicyError",
    "PolicySource",
    "Tally",
    "Window",
    "backtest_trails",
    "load_policy",
]

PUBLIC_MODULES = (
    "counts",
    "job",
    "verdicts",
)
