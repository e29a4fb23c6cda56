"""What a session offers to its modules: mount points, capabilities, contributions, clean-ups."""

from amplifier_core.host.module_host import ModuleHost

__all__ = ["ModuleHost"]
