"""The process that hooks run in during a replay: reads a job, tells what it found."""

from amplifier_hooks.insight.replay.process.worker import main

main()
