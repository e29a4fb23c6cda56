"""hooks-provenance: judge calls by where their values come from."""

from amplifier_hooks.guards.provenance.guard import NAME, Config, Provenance, mount

__all__ = ["NAME", "Config", "Provenance", "mount"]
