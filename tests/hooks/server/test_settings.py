"""What may be listened on, and with what."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.server.settings import ServeError, ServerSettings, check_settings


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "localhost", "::1", "[::1]"])
def test_loopback_needs_nothing_else(host: str):
    """Loopback by default."""
    check_settings(ServerSettings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.0.0.5", "localhost.evil.test"])
def test_another_interface_without_tls_is_refused_with_what_would_do(host: str):
    """Another interface only with TLS and login."""
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


@pytest.mark.parametrize("host", ["a.test", "a.test:8443", "localhost", "10.0.0.5", "[::1]:80"])
def test_names_and_origins_as_browsers_send_them_are_taken(host: str):
    """Exact lists."""
    check_settings(ServerSettings(allowed_hosts=(host,), allowed_origins=(f"https://{host}",)))


@pytest.mark.parametrize("host", ["", "A.test", "a.test/", "https://a.test", "a.test.", "*.test"])
def test_what_no_browser_sends_is_refused_rather_than_never_matched(host: str):
    """A list that silently matches nothing would look like a fault of the server."""
    with pytest.raises(ServeError, match="--allow-host"):
        check_settings(ServerSettings(allowed_hosts=(host,)))


@pytest.mark.parametrize(
    "origin",
    ["", "null", "a.test", "ftp://a.test", "https://a.test/", "HTTPS://a.test", "https://"],
)
def test_an_origin_that_no_browser_sends_is_refused(origin: str):
    """With what would do."""
    with pytest.raises(ServeError, match=r"--allow-origin.*without a path"):
        check_settings(ServerSettings(allowed_origins=(origin,)))
