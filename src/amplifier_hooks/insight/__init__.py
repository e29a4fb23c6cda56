"""Looking back at trails: reports, backtests, replays, checks of rules, test cases."""

PUBLIC_MODULES = (
    "backtest",
    "cases",
    "changes",
    "counting",
    "replay",
    "reports",
    "rule_checks",
    "rule_suggestions",
)
