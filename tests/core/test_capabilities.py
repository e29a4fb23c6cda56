"""Names of what a model can do."""

from __future__ import annotations

from amplifier_core import capabilities


def test_each_constant_is_its_name_in_lower_case() -> None:
    """And the list has every one of them, once."""
    names = [one for one in vars(capabilities) if one.isupper() and not one.startswith("ALL_")]
    values = [getattr(capabilities, name) for name in names]
    assert values == [name.lower() for name in names]
    assert values == capabilities.ALL_WELL_KNOWN_CAPABILITIES
    assert len(set(values)) == 16
