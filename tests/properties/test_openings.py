"""Random changes between openings: a process that has opened before finds what a fresh one finds.

What is remembered of bundles, installed modules and the path of imports must never outlive it. The
oldest changes are made to look old, because what changed a moment ago is not remembered at all.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_hooks import load_bundle
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from tests.support.forked_programs import ROOT, run_forked
from tests.support.modules import imports_undone, make_old, write_distribution, write_package
from tests.support.openings import SITE, find_opening

HOOK = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def deny(event, data):
        return HookResult(action="deny", reason="@")
    return coordinator.hooks.register("tool:pre", deny, priority=@, name="said")
"""
BUNDLE = """
include: part.yaml
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
audit: {enabled: false}
hooks:
  - ./hook.py
  - {module: hooks-rules, config: {file: rules.yaml}}
  - {module: hooks-NUMBER, required: false}
  - {module: hooks-redaction, config: {on_write: "${WRITING:-ask}", allow: ["${API_KEY:-none}"]}}
"""
_numbers = itertools.count(1)


class World:
    """A project with its home, its variables and its folder of installed packages."""

    def __init__(self, folder: Path) -> None:
        self.number = f"late-{os.getpid()}-{next(_numbers)}"
        self.project, self.home, self.site = (folder / name for name in ("project", "home", "site"))
        for one in (self.project, self.home, self.site):
            one.mkdir()
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], SITE: str(self.site)}
        self.write("amplifier.yaml", BUNDLE.replace("NUMBER", self.number))
        for part in (self.edit_hook, self.edit_rules, self.edit_include):
            part(1)
        make_old(self.site)

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        # The same time as before, to show that it is not what tells them apart.
        os.utime(path, ns=(0, 0))

    def edit_bundle(self, version: int) -> None:
        text = BUNDLE.replace("NUMBER", self.number)
        self.write("amplifier.yaml", f"{text}name: b{version}\n")

    def edit_hook(self, version: int) -> None:
        self.write("hook.py", HOOK.replace("@", str(version)))

    def edit_rules(self, version: int) -> None:
        rule = f"{{name: r, command: 'make *', action: deny, reason: 'rule {version}'}}"
        self.write("rules.yaml", f"- {rule}\n")

    def edit_include(self, version: int) -> None:
        self.write("part.yaml", f"session: {{injection_size_limit: {version}}}\n")

    def remove_include(self, version: int) -> None:
        (self.project / "part.yaml").unlink(missing_ok=True)

    def edit_own_settings(self, version: int) -> None:
        self.write(f"{self.home}/.config/amplifier/amplifier.yaml", f"name: own{version}\n")

    def set_secret(self, version: int) -> None:
        self.env["API_KEY"] = f"secret-{version}"

    def set_option(self, version: int) -> None:
        self.env["WRITING"] = ("deny", "ask", "wrong")[version - 1]

    def unset(self, version: int) -> None:
        self.env.pop(("API_KEY", "WRITING", "AMPLIFIER_MODULES")[version - 1], None)

    def install_package(self, version: int) -> None:
        """By its name; in the folder of the path, or one that a variable names."""
        if version == 1:
            write_package(self.site, f"hooks-{self.number}", HOOK.replace("@", "1"))
        else:
            place = self.home / f"modules{version}"
            folder = place / f"amplifier-module-hooks-{self.number}"
            write_package(folder, f"hooks-{self.number}", HOOK.replace("@", str(version)))
            self.env["AMPLIFIER_MODULES"] = str(place)
        make_old(self.site, 100 - version)

    def install_distribution(self, version: int) -> None:
        """Another version of it names another Python module."""
        self.uninstall(version)
        name = f"installed_{self.number.replace('-', '_')}_{version}"
        (self.site / f"{name}.py").write_text(HOOK.replace("@", str(version)))
        write_distribution(self.site, self.number, {f"hooks-{self.number}": f"{name}:mount"})
        make_old(self.site, 50 - version)

    def uninstall(self, version: int) -> None:
        for info in self.site.glob("*.dist-info"):
            shutil.rmtree(info)
        make_old(self.site, 30 - version)

    def trust(self, version: int) -> None:
        material = collect_material(load_bundle(project_dir=self.project), self.project)
        TrustStore().trust(material, "tester")

    def revoke(self, version: int) -> None:
        TrustStore().revoke(self.project)

    def damage_trust(self, version: int) -> None:
        for record in TrustStore().root.glob("*.json"):
            record.write_bytes(record.read_bytes()[:-version])

    def find_here(self) -> Any:
        return json.loads(json.dumps(find_opening(self.project), sort_keys=True, default=str))

    def find_afresh(self) -> Any:
        argv = [sys.executable, "-m", "tests.support.openings", str(self.project)]
        code, told, errors = run_forked(argv, b"", self.env, ROOT)
        assert code == 0, errors.decode()
        return json.loads(told)


CHANGES: dict[str, Callable[[World, int], None]] = {
    name: change
    for name, change in vars(World).items()
    if name.startswith(("edit_", "remove_", "set_", "install_"))
    or name in ("unset", "uninstall", "trust", "revoke", "damage_trust")
}
Change = st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(1, 3))


@settings(max_examples=8, deadline=None)
@example(
    [
        *(("install_package", 1), ("install_distribution", 1)),
        *(("install_distribution", 2), ("uninstall", 1)),
    ]
)
@example([("install_package", 2), ("install_package", 3), ("unset", 3), ("install_package", 1)])
@example([("set_secret", 1), ("set_secret", 2), ("unset", 1), ("set_option", 3), ("unset", 2)])
@example([("trust", 1), ("edit_hook", 2), ("trust", 1), ("damage_trust", 1), ("revoke", 1)])
@example([("edit_include", 2), ("remove_include", 1), ("edit_include", 1), ("edit_bundle", 2)])
@given(st.lists(Change, min_size=1, max_size=5))
def test_an_opening_finds_what_a_fresh_process_finds(changes: list[tuple[str, int]]) -> None:
    """Whatever was opened here before, with the same files, variables and installed modules."""
    with tempfile.TemporaryDirectory() as folder, imports_undone():
        world = World(Path(folder).resolve())
        sys.path.insert(0, str(world.site))
        for name, version in [("edit_hook", 1), *changes]:
            with patch.dict(os.environ, world.env, clear=True):
                CHANGES[name](world, version)
            with patch.dict(os.environ, world.env, clear=True):
                world.find_here()  # twice: what is remembered is used
                assert world.find_here() == world.find_afresh(), (name, version)
