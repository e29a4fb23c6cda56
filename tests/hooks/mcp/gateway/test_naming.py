"""What a server is called that nobody has named."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.mcp.gateway.naming import guess_name, identify_server


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem .", "server-filesystem"),
        ("npx -y @scope/server-files@2.1 .", "server-files"),
        ("uvx mcp-server-time", "mcp-server-time"),
        ("uv run server.py", "server"),
        ("/usr/bin/python3.12 -m my_server", "my_server"),
        ("node dist/index.js --port 1", "index"),
        ("/opt/tools/files/", "files"),
        ("./server", "server"),
        ("npx", "npx"),
    ],
)
def test_a_server_is_called_like_the_program_that_is_run(command: str, name: str) -> None:
    """Not like what runs it."""
    assert guess_name(None, command.split()) == name


def test_a_server_elsewhere_is_called_like_its_host() -> None:
    """Dots are not for names of tools."""
    assert guess_name("https://mcp.example.com/x", []) == "mcp-example-com"
    assert guess_name("nonsense", []) == "server"


def test_a_server_of_a_project_is_another_one_elsewhere(tmp_path: Path) -> None:
    """One that is installed is the same everywhere, and so is an address."""
    (tmp_path / "server.py").touch()
    command = ["python", "server.py"]
    assert identify_server(None, command, tmp_path) == [*command, str(tmp_path)]
    assert identify_server(None, command, tmp_path / "other") == command
    assert identify_server(None, ["/usr/bin/env", "srv"], tmp_path) == ["/usr/bin/env", "srv"]
    assert identify_server("https://example.com/mcp", [], tmp_path) == ["https://example.com/mcp"]


def test_a_key_in_an_address_is_not_kept(tmp_path: Path) -> None:
    """Another key is another server; people read the rest in lists."""
    urls = [
        *("https://h/mcp", "https://h/mcp?key=s3cret", "https://h/mcp?key=other"),
        *("https://u:s3cret@h/mcp", "https://h/mcp#s3cret", "https://[s3cret"),
    ]
    found = [identify_server(url, [], tmp_path) for url in urls]
    assert len({tuple(one) for one in found}) == len(urls)
    assert "s3cret" not in str(found)
    assert all(one[0].startswith("https://h/mcp") for one in found[:-1])
    assert found[1] == identify_server(urls[1], [], tmp_path)
