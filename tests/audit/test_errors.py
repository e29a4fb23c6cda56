"""The exceptions of the audit trail."""

from __future__ import annotations

import re

import pytest

from amplifier_audit import errors
from amplifier_audit.errors import AuditError

KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}


def test_the_tree_on_top_of_the_file_is_the_tree() -> None:
    """Every exception is drawn there, below the one that catches all."""
    drawn = re.findall(r"^(?:[├└]── )?([A-Z]\w+)", errors.__doc__ or "", re.MULTILINE)
    assert {name for name in drawn if name in KINDS} == set(KINDS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_one_except_clause_catches_them_all(name: str) -> None:
    """And the message is what was said, without decoration."""
    with pytest.raises(AuditError) as error:
        raise KINDS[name]("one clear sentence")
    assert str(error.value) == "one clear sentence"


def test_none_of_them_passes_for_an_error_of_python() -> None:
    """A ValueError or OSError that escapes from the trail is a mistake of the trail."""
    for kind in KINDS.values():
        assert not issubclass(kind, (ValueError, OSError, RuntimeError))
