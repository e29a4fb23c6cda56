"""The address of a database."""

from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
from psycopg import conninfo

from amplifier_hooks.approvals.stores.errors import BadRequest


def check_address(url: str) -> None:
    """Raises BadRequest for an address that cannot be one; its password is not repeated."""
    try:
        conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise BadRequest(
            "The address of the PostgreSQL store cannot be read; it looks like"
            " postgresql://USER@HOST:5432/DATABASE, with special characters as %XX"
        ) from None


def describe_address(url: str) -> str:
    """Which database it is, for messages: without the password and other options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
