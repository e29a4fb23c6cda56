"""Hooks in front of agents that are not ours: coding agents that call a command at their events."""
