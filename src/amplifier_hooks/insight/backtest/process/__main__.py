"""The process that hooks run in during a backtest: reads a job, tells what it finds."""

from amplifier_hooks.insight.backtest.process.worker import main

main()
