"""Every test of a wire protocol runs over all three of them."""

from __future__ import annotations

import pytest

from tests.providers.mounting import PROTOCOLS, Protocol


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "OPENAI"):
        for setting in ("API_KEY", "BASE_URL", "AUTH_TOKEN"):
            monkeypatch.delenv(f"{name}_{setting}", raising=False)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


@pytest.fixture(params=["whole", "streamed"])
def way(request: pytest.FixtureRequest) -> str:
    word: str = request.param
    return word
