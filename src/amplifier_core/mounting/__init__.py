"""Modules: from an id or a path to a mounted module, and back in reverse order."""

from amplifier_core.mounting.loading import GROUP, Module, ModuleLoader
from amplifier_core.mounting.mounted import Mounted, Mounting

__all__ = ["GROUP", "Module", "ModuleLoader", "Mounted", "Mounting"]
