"""Addresses of databases."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.stores.postgres_connection import check_address, describe_address


@pytest.mark.parametrize(
    "url",
    ["postgresql://ann:s3cret@[::1/x", "postgresql://ann:s3cret@h/x?no_such=1", "host s3cret"],
)
def test_an_address_that_cannot_be_one_is_refused_without_its_password(url: str) -> None:
    """The error says what one looks like."""
    with pytest.raises(BadRequest, match="postgresql://USER@HOST:5432/DATABASE") as caught:
        check_address(url)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://ann:s3@cret@db.example:5432/team?sslmode=require",
         "postgresql://db.example:5432/team"),
        ("postgresql:///team?host=/run/pg&password=x", "postgresql:///team"),
    ],
)  # fmt: skip
def test_messages_name_the_database_and_no_secret(url: str, words: str) -> None:
    """Neither person nor password nor options."""
    assert describe_address(url) == words
