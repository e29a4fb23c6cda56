"""Mounting: the plan of a session, what became of it, and back in reverse order."""

from amplifier_core.mounting.mounted import Mounted, Mounting

__all__ = ["Mounted", "Mounting"]
