"""A tree of files, and the search tools of a session that works there."""

from __future__ import annotations

import os

import pytest

from amplifier_hooks.agent.tools import search
from amplifier_hooks.agent.tools.roots import Roots


@pytest.fixture
def tree(work):
    """Each file is newer than the one before; some are not to be found."""
    files = {
        "main.py": "import os\n\ndef main():\n    return os.name\n",
        "src/a.py": "def a():\n    pass\n",
        "src/deep/b.py": "def b():\n    pass\n",
        "src/deep/c.txt": "Main text\nsecond line\r\nthird main line\n",
        ".env": "KEY=main\n",
        ".git/config": "def main\n",
        ".amplifier/backups/main.py": "def main\n",
        "node_modules/m.py": "def main\n",
    }
    for number, (name, content) in enumerate(files.items()):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    (work / "binary.bin").write_bytes(b"def main\0\0")
    (work / "link").symlink_to(work.parent)
    (work / "link.txt").symlink_to(work.parent / "secret.txt")
    return work.resolve()


@pytest.fixture
async def call(coordinator, tree):
    """Calls a tool by its name, mounted with these options."""

    async def execute(name, config=None, **given):
        await search.mount(coordinator, config)
        return await coordinator.tools[name].execute(given)

    return execute


@pytest.fixture
def list_names(tree):
    """The lines of an answer, without the directory in front of each."""

    def cut(result):
        assert result.success, result.error
        return [line.removeprefix(f"{tree}/") for line in result.output.splitlines()]

    return cut


@pytest.fixture
def locate(tree):
    """The place of a path in the tree."""
    return Roots(tree, (tree,)).locate
