"""Adapters that put hooks under other agents."""
