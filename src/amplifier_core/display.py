"""The display of an application, at the path that existing modules import it from."""

from amplifier_core.host.display import DisplaySystem

__all__ = ["DisplaySystem"]
