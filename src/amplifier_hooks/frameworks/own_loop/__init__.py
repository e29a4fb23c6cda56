"""Hooks in a loop that somebody writes without a framework."""

from __future__ import annotations

from amplifier_hooks.frameworks.own_loop.guard import Guard, GuardSync, NotRun, Refused

__all__ = ["Guard", "GuardSync", "NotRun", "Refused"]
