"""Under which addresses a server answers."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.http_guard import bracket
from amplifier_hooks.server.settings import ServerSettings, list_hosts, list_origins, name_address


def test_on_loopback_the_three_names_of_this_machine_are_known_with_the_port():
    """Loopback by default, exact Host and Origin lists."""
    hosts = {"127.0.0.1:8411", "localhost:8411", "[::1]:8411"}
    assert list_hosts(ServerSettings()) == hosts
    assert list_origins(ServerSettings()) == {f"http://{host}" for host in hosts}
    assert name_address(ServerSettings()) == "http://127.0.0.1:8411"


def test_another_interface_is_known_by_its_own_address_only():
    """Names of loopback say nothing to other machines."""
    settings = ServerSettings(host="10.0.0.5", tls_cert=Path("c"), tls_key=Path("k"))
    assert list_hosts(settings) == {"10.0.0.5:8411"}
    assert list_origins(settings) == {"https://10.0.0.5:8411"}


def test_the_port_of_the_scheme_may_be_left_out_as_browsers_do():
    """A browser sends no port 443 with https."""
    settings = ServerSettings(host="::1", port=443, tls_cert=Path("c"), tls_key=Path("k"))
    assert {"[::1]:443", "[::1]"} <= list_hosts(settings)
    assert name_address(settings) == "https://[::1]"


def test_names_that_are_given_are_added_and_their_pages_are_ours():
    """Behind a proxy people come with https; without a port of ours."""
    settings = ServerSettings(behind_proxy=True, allowed_hosts=("agents.example.com",))
    assert "agents.example.com" in list_hosts(settings)
    assert "https://agents.example.com" in list_origins(settings)
    assert "http://agents.example.com" not in list_origins(settings)
    assert "http://127.0.0.1:8411" in list_origins(settings)
    assert name_address(settings) == "https://agents.example.com"


def test_other_pages_are_only_those_that_were_named():
    """Exact Origin list."""
    settings = ServerSettings(allowed_origins=("https://tools.example.com",))
    assert "https://tools.example.com" in list_origins(settings)


def test_ipv6_stands_in_brackets():
    """As in every address."""
    assert [bracket(one) for one in ("::1", "[::1]", "127.0.0.1")] == [
        "[::1]",
        "[::1]",
        "127.0.0.1",
    ]
