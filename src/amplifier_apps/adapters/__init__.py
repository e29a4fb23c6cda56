"""The same hooks in front of the frameworks that people build agents with."""

from amplifier_apps.adapters.governing.governor import Governor, govern
from amplifier_apps.adapters.governing.handover import answer

__all__ = ["Governor", "answer", "govern"]
