"""What may be listened on, and with what."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_apps.web.settings import ServeError, ServerSettings, check_settings, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "localhost", "::1", "[::1]"])
def test_loopback_needs_nothing_else(host: str):
    """Loopback by default."""
    assert is_loopback(host)
    check_settings(ServerSettings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.5", "localhost.evil.test"])
def test_another_interface_without_tls_is_refused_with_what_would_do(host: str):
    """Another interface only with TLS and login."""
    assert not is_loopback(host)
    with pytest.raises(ServeError, match=r"--tls-cert and --tls-key, or --behind-proxy"):
        check_settings(ServerSettings(host=host))


def test_another_interface_is_allowed_with_tls_or_behind_a_proxy(tmp_path: Path):
    """TLS here, or TLS in front."""
    file = tmp_path / "pem"
    file.write_text("x")
    check_settings(ServerSettings(host="10.0.0.5", tls_cert=file, tls_key=file))
    check_settings(ServerSettings(host="10.0.0.5", behind_proxy=True))


def test_every_interface_needs_a_name():
    """Without one, no request could have the right Host."""
    with pytest.raises(ServeError, match="--allow-host"):
        check_settings(ServerSettings(host="0.0.0.0", behind_proxy=True))
    check_settings(ServerSettings(host="0.0.0.0", behind_proxy=True, allowed_hosts=("a.test",)))


def test_a_certificate_needs_its_key_and_both_must_be_there(tmp_path: Path):
    """Said before anything listens."""
    with pytest.raises(ServeError, match="both"):
        check_settings(ServerSettings(tls_cert=tmp_path))
    with pytest.raises(ServeError, match="There is no file"):
        check_settings(ServerSettings(tls_cert=tmp_path / "a", tls_key=tmp_path / "b"))
