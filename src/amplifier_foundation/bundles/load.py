"""Finding bundle files, following their includes and laying them over one another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from amplifier_foundation.bundles import schema
from amplifier_foundation.bundles.bundle import Bundle, make_bundle
from amplifier_foundation.bundles.merge import overlay
from amplifier_foundation.bundles.node import BundleError, Node, Place, Problem, broken, located
from amplifier_foundation.bundles.reader import read_file
from amplifier_foundation.bundles.shape import shaped

FILE_NAME = "amplifier.yaml"
_EMPTY = Node({}, Place("nothing"))


def load_bundle(
    path: str | Path | None = None,
    *,
    project_dir: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    user: bool = True,
    defaults: bool = True,
) -> Bundle:
    """The project's bundle (or the file at `path`) over the user's over the packaged one."""
    env = os.environ if env is None else env
    directory = Path(project_dir or Path.cwd()).absolute()
    project = project_candidates(directory) if path is None else ()
    personal = (user_candidate(env),) if user else ()
    reading = _Reading(env)
    named = None if path is None else directory / Path(path).expanduser()
    layers = [named] if named is not None else _only_one(project)
    layers += [candidate for candidate in personal if candidate.is_file()]
    documents = reading.documents(layers, defaults=defaults)
    merged = _EMPTY
    for document in reversed(documents):
        merged = overlay(merged, document)
    _refuse(_incomplete(merged))
    watched = tuple(dict.fromkeys((*project, *personal, *reading.sources)))
    secrets = frozenset(reading.secrets)

    def again() -> Bundle:
        return load_bundle(named, project_dir=directory, env=env, user=user, defaults=defaults)

    return make_bundle(merged, tuple(reading.sources), watched, secrets, again)


def project_candidates(directory: Path) -> tuple[Path, Path]:
    """Where a project may keep its bundle."""
    directory = directory.absolute()
    return directory / FILE_NAME, directory / ".amplifier" / FILE_NAME


def user_candidate(env: Mapping[str, str]) -> Path:
    """Where a person keeps theirs."""
    home = Path(env.get("HOME") or Path.home())
    configured = env.get("XDG_CONFIG_HOME", "")
    base = Path(configured) if Path(configured).is_absolute() else home / ".config"
    return base / "amplifier" / FILE_NAME


def mount_plan_problems(plan: Mapping[str, Any], name: str = "mount plan") -> tuple[Problem, ...]:
    """Everything that is wrong with a mount plan written in code."""
    place = Place(name)
    if not isinstance(plan, Mapping):
        return (Problem(place, "", f"must be a mapping, got {type(plan).__name__}"),)
    document = shaped(located(plan, place), Path.cwd())
    return (*schema.problems(document, schema.MOUNT_PLAN), *_incomplete(document))


def validate_mount_plan(plan: Mapping[str, Any], name: str = "mount plan") -> None:
    """Raises `BundleError` with every problem, each with its key and the nearest right one."""
    _refuse(mount_plan_problems(plan, name))


def bundle_from_plan(plan: Mapping[str, Any], name: str = "mount plan") -> Bundle:
    """A bundle from a plan that was written in code; checked, and with no files behind it."""
    validate_mount_plan(plan, name)
    document = shaped(located(plan, Place(name)), Path.cwd())
    return make_bundle(document, (), (), frozenset(), None)


@dataclass
class _Reading:
    """The files of one load."""

    env: Mapping[str, str]
    sources: list[Path] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)

    def documents(self, layers: list[Path], *, defaults: bool) -> list[Node]:
        """Topmost first; a layer that does not inherit is the last."""
        found: list[Node] = []
        for layer in layers:
            found.append(self.document(layer.absolute(), ()))
            if not _inherits(found[-1]):
                return found
        return [*found, self.packaged()] if defaults else found

    def packaged(self) -> Node:
        """The bundle that comes with the package."""
        with as_file(files("amplifier_foundation.bundles") / "default.yaml") as path:
            return self.document(path, ())

    def document(self, path: Path, chain: tuple[Path, ...]) -> Node:
        """One file over the files it includes."""
        node = read_file(path, self.env, self.secrets)
        if path not in self.sources:
            self.sources.append(path)
        node = shaped(node, path.parent)
        _refuse(schema.problems(node))
        below = _EMPTY
        for name in _includes(node):
            included = self._include(name, path, (*chain, path))
            below = overlay(below, included)
        return overlay(below, node.without("include"))

    def _include(self, name: Node, path: Path, chain: tuple[Path, ...]) -> Node:
        _refuse(broken(name))
        target = Path(os.path.normpath(path.parent / Path(str(name.value)).expanduser()))
        if target in chain:
            circle = " → ".join(str(step) for step in (*chain[chain.index(target) :], target))
            raise BundleError([Problem(name.place, "include", f"includes itself: {circle}")])
        if not target.is_file():
            raise BundleError([Problem(name.place, "include", f"no file {str(target)!r}")])
        return self.document(target, chain)


def _includes(node: Node) -> tuple[Node, ...]:
    found = node.mapping().get("include")
    if found is None:
        return ()
    return found.items() if isinstance(found.value, tuple) else (found,)


def _inherits(document: Node) -> bool:
    found = document.mapping().get("inherit")
    return found is None or found.value is not False


def _only_one(candidates: tuple[Path, ...]) -> list[Path]:
    found = [candidate for candidate in candidates if candidate.is_file()]
    if len(found) > 1:
        message = f"there is also {str(found[1])!r}; keep one of the two"
        raise BundleError([Problem(Place(str(found[0])), "", message)])
    return found


def _incomplete(document: Node) -> Iterable[Problem]:
    yield from broken(document)
    session = document.mapping().get("session") or Node({}, document.place)
    for key in ("orchestrator", "context"):
        if session.text(key) is None and key not in session.mapping():
            example = "loop-basic" if key == "orchestrator" else "context-simple"
            message = f"is missing; a session needs one, such as {example!r}"
            yield Problem(session.place, f"session.{key}", message)


def _refuse(problems: Iterable[Problem]) -> None:
    if found := tuple(problems):
        raise BundleError(found)
