"""Bundle documents: each file merged over the files that it includes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path

from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.locks import keep_locked
from amplifier_hooks.agent.bundles.long_form import write_out
from amplifier_hooks.agent.bundles.merge import overlay
from amplifier_hooks.machine.snapshot import Snapshot
from amplifier_hooks.yaml_files.node import (
    BundleError,
    Node,
    Place,
    Problem,
    find_broken,
    raise_problems,
)
from amplifier_hooks.yaml_files.reader import read_file


@dataclass
class DocumentReader:
    """Reads files with their includes; remembers which files it read, and the secrets in them."""

    env: Mapping[str, str]
    snapshot: Snapshot = field(default_factory=Snapshot)
    sources: list[Path] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)

    def read_layers(self, layers: list[Path], *, defaults: bool) -> Node:
        """Read layers from the top down and merge them; under one that does not inherit, only what
        is locked stays."""
        found = [self.read(layer.absolute()) for layer in layers]
        found += [self.read_packaged()] if defaults else []
        merged = Node({}, Place("nothing"))
        for layer in reversed(found):
            merged = overlay(merged if _inherits(layer) else keep_locked(merged), layer)
        return merged

    def read_packaged(self) -> Node:
        """Read the bundle that comes with the package."""
        with as_file(files("amplifier_hooks.agent.bundles") / "default.yaml") as path:
            return self.read(path)

    def read(self, path: Path, chain: tuple[Path, ...] = ()) -> Node:
        """Read one file over the files it includes; `chain` has the files that led to it."""
        node = read_file(path, self.env, self.secrets, self.snapshot.read)
        if path not in self.sources:
            self.sources.append(path)
        node = write_out(node, path.parent)
        raise_problems(schema.find_problems(node))
        below = Node({}, Place("nothing"))
        for name in _list_includes(node):
            below = overlay(below, self._include(name, path, (*chain, path)))
        return overlay(below, node.without("include"))

    def _include(self, name: Node, path: Path, chain: tuple[Path, ...]) -> Node:
        raise_problems(find_broken(name))
        target = Path(os.path.normpath(path.parent / Path(str(name.value)).expanduser()))
        if target in chain:
            circle = " → ".join(str(step) for step in (*chain[chain.index(target) :], target))
            raise BundleError([Problem(name.place, "include", f"includes itself: {circle}")])
        if not target.is_file():
            raise BundleError([Problem(name.place, "include", f"no file {str(target)!r}")])
        return self.read(target, chain)


def _list_includes(node: Node) -> tuple[Node, ...]:
    found = node.mapping().get("include")
    if found is None:
        return ()
    return found.items() if isinstance(found.value, tuple) else (found,)


def _inherits(document: Node) -> bool:
    found = document.mapping().get("inherit")
    return found is None or found.value is not False
