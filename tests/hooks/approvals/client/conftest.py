"""A real server in front of a real store."""

from tests.hooks.server.conftest import served, store

__all__ = ["served", "store"]
