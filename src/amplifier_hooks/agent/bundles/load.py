"""Finding the files of a bundle, and merging each over those that it includes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from amplifier_core.mount_plan import EXAMPLES, LISTS
from amplifier_hooks.agent.bundles import schema
from amplifier_hooks.agent.bundles.bundle import Bundle, make_bundle
from amplifier_hooks.agent.bundles.merge import keep_locked, overlay
from amplifier_hooks.agent.bundles.mount_plan import find_incomplete, write_out
from amplifier_hooks.machine.files import Snapshot, normalize
from amplifier_hooks.machine.locations import find_config_home
from amplifier_hooks.yaml_files.node import (
    BundleError,
    Node,
    Place,
    Problem,
    find_broken,
    raise_problems,
)
from amplifier_hooks.yaml_files.reader import read_file

_SECTIONS = ("approval", "audit", "sandbox")
_READS_FILES = frozenset({"hooks-rules", "hooks-shell", "tool-mcp"})
_HARMLESS = frozenset({"env", "headers"})


PACKAGED = normalize(Path(__file__)).with_name("default.yaml")
"""The bundle below all others."""


@dataclass
class LeavingOut:
    """Takes values that could not be filled in out of a document; `problems` has them."""

    problems: list[Problem] = field(default_factory=list)

    def clean(self, document: Node) -> Node:
        """The document without them; where it could say what runs, they stay."""
        for key in _SECTIONS:
            document = _change(document, key, self._drop)
        document = _change(document, "session", self._clean_session)
        document = self._clean_lists(document)
        return _change(document, "agents", lambda node: _change_all(node, self._clean_agent))

    def _clean_agent(self, agent: Node) -> Node:
        return self._clean_lists(_change(agent, "session", self._clean_session))

    def _clean_session(self, session: Node) -> Node:
        modules = {key: node for key, node in session.mapping().items() if key in EXAMPLES}
        rest = self._drop(session.without(*modules))
        return replace(rest, value={**rest.mapping(), **modules}) if modules else rest

    def _clean_lists(self, node: Node) -> Node:
        for kind in LISTS:
            node = _change(
                node,
                kind,
                lambda listed: replace(listed, value=tuple(map(self._clean_entry, listed.items()))),
            )
        return node

    def _clean_entry(self, entry: Node) -> Node:
        names_files = entry.text("module") in _READS_FILES
        clean = self._drop_harmless if names_files else self._drop
        return _change(entry, "config", clean)

    def _drop_harmless(self, node: Node) -> Node:
        """What a command gets, not the command."""
        if isinstance(node.value, tuple):
            return replace(node, value=tuple(map(self._drop_harmless, node.value)))
        found = {
            key: self._drop(one) if key in _HARMLESS else self._drop_harmless(one)
            for key, one in node.mapping().items()
        }
        return replace(node, value=found) if isinstance(node.value, dict) else node

    def _drop(self, node: Node) -> Node:
        if isinstance(node.value, tuple):
            return replace(
                node, value=tuple(self._drop(one) for one in node.value if self._is_set(one))
            )
        if not isinstance(node.value, dict):
            return node
        return replace(
            node, value={k: self._drop(one) for k, one in node.value.items() if self._is_set(one)}
        )

    def _is_set(self, node: Node) -> bool:
        if isinstance(node.value, Problem):
            self.problems.append(node.value)
        return not isinstance(node.value, Problem)


def _change(node: Node, key: str, change: Callable[[Node], Node]) -> Node:
    child = node.mapping().get(key)
    return node if child is None else node.with_key(key, change(child))


def _change_all(node: Node, change: Callable[[Node], Node]) -> Node:
    if not isinstance(node.value, dict):
        return node
    return replace(node, value={key: change(child) for key, child in node.value.items()})


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
        return self.read(PACKAGED)

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


FILE_NAME = "amplifier.yaml"


def load_bundle(
    path: str | Path | None = None,
    *,
    project_dir: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    user: bool = True,
    project: bool = True,
    defaults: bool = True,
    unset: bool = False,
) -> Bundle:
    """The project's bundle (or the file at `path`) over the user's over the packaged one.

    With `unset`, options whose variable is not set are left out, for people who only look; the
    bundle's `unset` has them.
    """
    env = os.environ if env is None else env
    directory = Path(project_dir or Path.cwd()).absolute()
    candidates = list_project_candidates(directory) if path is None and project else ()
    personal = (find_user_candidate(env),) if user else ()
    named = None if path is None else directory / Path(path).expanduser()
    layers = [named] if named is not None else _choose_one(candidates)
    layers += [candidate for candidate in personal if candidate.is_file()]
    reader = DocumentReader(env)
    merged = reader.read_layers(layers, defaults=defaults)
    left_out = LeavingOut()
    whole = merged
    merged = left_out.clean(merged) if unset else merged
    raise_problems(one for one in find_incomplete(whole) if one not in left_out.problems)
    watched = tuple(dict.fromkeys((*candidates, *personal, *reader.sources)))

    def read_again() -> Bundle:
        return load_bundle(
            named,
            project_dir=directory,
            env=env,
            user=user,
            project=project,
            defaults=defaults,
            unset=unset,
        )

    sources = tuple(reader.sources)
    secrets = frozenset(reader.secrets)
    bundle = make_bundle(merged, sources, watched, secrets, read_again, reader.snapshot)
    return replace(bundle, unset=tuple(left_out.problems))


def list_project_candidates(directory: Path) -> tuple[Path, Path]:
    """Where a project may keep its bundle."""
    directory = directory.absolute()
    return directory / FILE_NAME, directory / ".amplifier" / FILE_NAME


def find_user_candidate(env: Mapping[str, str]) -> Path:
    """Where a person keeps a bundle of their own."""
    return find_config_home(env) / "amplifier" / FILE_NAME


def _choose_one(candidates: tuple[Path, ...]) -> list[Path]:
    found = [candidate for candidate in candidates if candidate.is_file()]
    if len(found) > 1:
        message = f"there is also {str(found[1])!r}; keep one of the two"
        raise BundleError([Problem(Place(str(found[0])), "", message)])
    return found
