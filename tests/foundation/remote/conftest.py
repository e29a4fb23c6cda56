"""A real server in front of a real store."""

from tests.apps.web.conftest import served, store

__all__ = ["served", "store"]
