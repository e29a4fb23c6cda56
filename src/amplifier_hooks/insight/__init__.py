"""What trails show afterwards: reports, backtests, replays, checks of rules, test cases."""
