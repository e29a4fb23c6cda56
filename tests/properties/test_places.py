"""No sequence of calls to file tools reads a hidden file or changes a sealed one."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools import filesystem, search

MARK = "TOP-SECRET"
HIDDEN = ".local/share/amplifier"
SEALED = (
    ".git/config",
    ".git/hooks/pre-commit",
    ".claude/settings.json",
    ".vscode/tasks.json",
    ".bashrc",
    ".ssh/authorized_keys",
    ".config/amplifier/amplifier.yaml",
    "project/.git/config",
    "project/.mcp.json",
    "project/sub/.claude/settings.json",
)
FREE = ("a.txt", "project/b.txt", "project/sub/c.txt", ".git/HEAD", ".claude/notes.md")
NAMES = """git .git .GIT .git. git~1 hooks Hooks config CONFIG config:x commondir pre-commit .claude
.Claude settings.json settings.json. .vscode tasks.json .mcp.json .MCP.json .bashrc .ssh .config
authorized_keys amplifier Amplifier amplifier.yaml .local share audit audit.key log project sub .. .
link1 link2 hard1 hard2 new a.txt b.txt"""


READERS = {"Read", "Glob", "Grep"}


class Tree:
    """A home with our data, a project, links and second names, and the tools that work there."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self.home = home
        self.chance = chance
        for name in (f"{HIDDEN}/audit.key", f"{HIDDEN}/audit/log", f"{HIDDEN}/sessions/s.json"):
            self._write(name, f"{MARK} {name}\n")
        for name in (*SEALED, *FREE):
            self._write(name, f"text of {name}\n")
        self.folders = [path for path in home.rglob("*") if path.is_dir()]
        self.files = [path for path in home.rglob("*") if path.is_file()]
        for n in range(chance.randint(2, 8)):
            self._link(f"link{n}", f"hard{n}")
        self.guarded = self.look()

    def _write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _link(self, link: str, hard: str) -> None:
        free = [folder for folder in self.folders if not self.is_guarded(folder / "x")]
        with contextlib.suppress(OSError):
            target = self.chance.choice([*self.folders, *self.files])
            (self.chance.choice(free) / link).symlink_to(target)
            secret = [file for file in self.files if self.is_guarded(file)]
            (self.chance.choice(free) / hard).hardlink_to(self.chance.choice(secret))

    def is_guarded(self, path: Path) -> bool:
        inside = path.relative_to(self.home).parts
        if inside[: len(Path(HIDDEN).parts)] == Path(HIDDEN).parts:
            return True
        folders = (".git/hooks", "project/.git/hooks", ".ssh", ".config/amplifier")
        sealed = [Path(name).parts for name in (*SEALED, *folders)]
        return any(inside[: len(parts)] == parts for parts in sealed)

    def look(self) -> dict[str, tuple[int, bytes]]:
        """What is hidden or sealed: inode and content of each file that is there."""
        found = [path for path in self.home.rglob("*") if self.is_guarded(path)]
        return {
            str(path.relative_to(self.home)): (path.lstat().st_ino, path.read_bytes())
            for path in found
            if path.is_file()
        }

    def choose_path(self) -> str:
        """A path that exists, one in disguise, or any steps at all."""
        chance = self.chance
        existing = str(chance.choice([*self.files, *self.folders]).relative_to(self.home))
        steps = "/".join(chance.choices(NAMES.split(), k=chance.randint(1, 5)))
        disguised = "".join(
            letter.upper() if chance.random() < 0.2 else letter for letter in existing
        )
        path = chance.choice([existing, existing, disguised, steps, f"{steps}/{existing}"])
        links = [str(one.relative_to(self.home)) for one in self.home.rglob("[lh][ia][nr][kd]*")]
        if links and chance.random() < 0.5:
            below = chance.choice(NAMES.split()) if chance.random() < 0.4 else ""
            path = f"{chance.choice(links)}/{below}".rstrip("/")
        return chance.choice([path, str(self.home / path)])

    def choose_call(self) -> tuple[str, dict[str, Any]]:
        path, chance = self.choose_path(), self.chance
        edit: dict[str, Any] = {
            "old_string": chance.choice(["text", MARK, "e"]),
            "new_string": "evil",
        }
        calls: list[tuple[str, dict[str, Any]]] = [
            ("Read", {"file_path": path}),
            ("Write", {"file_path": path, "content": "evil"}),
            ("Edit", {"file_path": path, "replace_all": True, **edit}),
            ("MultiEdit", {"file_path": path, "edits": [edit]}),
            ("Glob", {"path": path, "pattern": "**"}),
            ("Grep", {"path": path, "pattern": "SECRET|text", "output_mode": "content"}),
        ]
        return chance.choice(calls)


@pytest.fixture
def make_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Tree]:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)

    def make(seed: int) -> Tree:
        home = tmp_path.resolve() / f"home{seed}"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))
        return Tree(home, random.Random(seed))

    return make


async def attack(tree: Tree, calls: int) -> int:
    """How many of the calls did what they were asked."""
    coordinator = TestCoordinator()
    coordinator.register_capability("session.working_dir", str(tree.home))
    await filesystem.mount(coordinator, {"protected": []})
    await search.mount(coordinator, {"skip": []})
    tools, done = coordinator.get("tools"), 0
    for _ in range(calls):
        name, given = tree.choose_call()
        result = await tools[name].execute(given)
        done += result.success
        assert MARK not in str(result.output), (name, given)
        assert not result.success or f"{tree.home}/{HIDDEN}/" not in result.output, (name, given)
        assert name in READERS or tree.look() == tree.guarded, (name, given)
    for folder in (".git", ".claude", "project/.git"):
        assert (tree.home / folder).is_dir()
        assert not (tree.home / folder).is_symlink()
    return done


@pytest.mark.parametrize("seed", range(8))
async def test_no_call_reaches_what_is_guarded(make_tree: Callable[[int], Tree], seed: int) -> None:
    """Paths in disguise, links, second names and steps up; the rest of the calls do their work."""
    assert await attack(make_tree(seed), 40) > 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_no_call_reaches_what_is_guarded_in_many_trees(
    make_tree: Callable[[int], Tree],
) -> None:
    """The same in a thousand trees."""
    assert sum([await attack(make_tree(seed), 40) for seed in range(1_000, 2_000)]) > 1_000
