"""What the package offers."""

from __future__ import annotations

import pytest

pytest.importorskip("langchain")

from amplifier_hooks.coverage import LANGCHAIN
from amplifier_hooks.frameworks import langchain


def test_the_package_offers_the_middleware_and_its_table() -> None:
    """Nothing else; the table is the one that can be read without LangChain."""
    assert sorted(langchain.__all__) == ["AmplifierMiddleware", "coverage"]
    assert langchain.coverage() is LANGCHAIN
    assert langchain.AmplifierMiddleware.__name__ in LANGCHAIN.attach
