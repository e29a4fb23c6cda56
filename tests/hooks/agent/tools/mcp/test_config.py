"""The options of tool-mcp."""

from __future__ import annotations

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools.mcp.launch import Config, Restart, ServerConfig
from amplifier_hooks.modules.options import parse_config


def read(**server):
    return parse_config(Config, {"servers": {"one": server}}, "tool-mcp").servers["one"]


def test_a_server_is_a_command_or_an_address():
    """With what belongs to each."""
    assert read(command="uvx", args=["mcp-server-time"], env={"TZ": "UTC"}).args == [
        "mcp-server-time"
    ]
    assert read(url="https://example.com/mcp", headers={"A": {"env": "B"}}).headers


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ({}, "either `command` or `url`"),
        ({"command": "a", "url": "http://b"}, "either `command` or `url`"),
        ({"command": "a", "headers": {"A": "b"}}, "`headers` are for a server with `url`"),
        ({"url": "http://b", "env": {"A": "b"}}, "are for a server with `command`"),
        ({"url": "ftp://b"}, "http:// or https://"),
        ({"command": "a", "new_tools": "never"}, "'allow' or 'ask'"),
        ({"command": "a", "timeout": 0}, "greater than 0"),
        ({"command": "a", "exlcude": []}, "did you mean 'exclude'"),
    ],
)
def test_what_makes_no_sense_is_named(server, word):
    """With what would do."""
    with pytest.raises(ModuleLoadError, match=word):
        read(**server)


@pytest.mark.parametrize("name", ["a__b", "a b", "_a"])
def test_a_server_needs_a_name_that_cannot_be_mistaken(name):
    """Its tools are told from those of others by it."""
    with pytest.raises(ModuleLoadError, match="no name for a server"):
        parse_config(Config, {"servers": {name: {"command": "a"}}}, "tool-mcp")


def test_tools_are_chosen_by_patterns():
    """`exclude` counts more."""
    server = ServerConfig(command="a", tools=["read_*", "list"], exclude=["read_secret"])
    assert [one for one in ("read_a", "read_secret", "list", "write") if server.wants(one)] == [
        "read_a",
        "list",
    ]
    assert ServerConfig(command="a").wants("anything")


def test_a_pattern_that_fits_nothing_is_noticed():
    """It is most likely misspelt."""
    server = ServerConfig(command="a", tools=["read_*", "lsit"])
    assert server.list_unmet(["read_a", "list"]) == ["lsit"]


def test_each_restart_waits_twice_as_long_up_to_a_limit():
    """So that a broken server does not keep the machine busy."""
    restart = Restart(delay=1, max_delay=5)
    assert [restart.get_delay(one) for one in (1, 2, 3, 4, 500)] == [1, 2, 4, 5, 5]
