"""Every test of a wire protocol runs over all three of them."""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest

from tests.support.models import PROTOCOLS, Protocol


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every new client reads all certificates, for 50 ms, and none is needed on the way to here."""
    end = "-----END CERTIFICATE-----\n"
    first, *_ = Path(certifi.where()).read_text(encoding="utf-8").partition(end)
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(first + end)
    return str(path)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, one_certificate: str) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", one_certificate)
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
