"""The tests of a provider's behaviour."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.testing import MockProvider
from amplifier_core.validation.behavioral import ProviderBehaviorTests
from tests.support.behavior import find_failures, list_tests


def test_there_are_five() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(ProviderBehaviorTests)) == 5


async def test_a_provider_that_does_everything_passes() -> None:
    """The double is one."""
    assert await find_failures(ProviderBehaviorTests, lambda: (MockProvider(),)) == set()


async def _no_list() -> None: ...


@pytest.mark.parametrize(
    ("attribute", "value", "failed"),
    [
        ("name", "", "test_the_provider_has_a_name"),
        ("get_info", dict, "test_the_provider_introduces_itself"),
        ("list_models", _no_list, "test_the_provider_lists_its_models"),
        ("parse_tool_calls", str, "test_the_provider_finds_the_tool_calls_of_a_response"),
        ("complete", None, "test_the_provider_can_complete"),
    ],
)
async def test_each_fault_fails_its_own_test(attribute: str, value: Any, failed: str) -> None:
    """So that the author sees what it is."""

    def make() -> tuple[MockProvider]:
        provider = MockProvider()
        setattr(provider, attribute, value)
        return (provider,)

    assert await find_failures(ProviderBehaviorTests, make) == {failed}
