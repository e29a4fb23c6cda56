"""Finding the files of a bundle, and merging them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from amplifier_foundation.bundles.bundle import Bundle, make_bundle
from amplifier_foundation.bundles.document import DocumentReader
from amplifier_foundation.bundles.mount_plan import find_incomplete
from amplifier_foundation.bundles.node import BundleError, Place, Problem, raise_problems
from amplifier_foundation.machine.user import find_config_home

FILE_NAME = "amplifier.yaml"


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
    project = list_project_candidates(directory) if path is None else ()
    personal = (find_user_candidate(env),) if user else ()
    named = None if path is None else directory / Path(path).expanduser()
    layers = [named] if named is not None else _choose_one(project)
    layers += [candidate for candidate in personal if candidate.is_file()]
    reader = DocumentReader(env)
    merged = reader.read_layers(layers, defaults=defaults)
    raise_problems(find_incomplete(merged))
    watched = tuple(dict.fromkeys((*project, *personal, *reader.sources)))

    def read_again() -> Bundle:
        return load_bundle(named, project_dir=directory, env=env, user=user, defaults=defaults)

    sources, secrets = tuple(reader.sources), frozenset(reader.secrets)
    return make_bundle(merged, sources, watched, secrets, read_again, reader.snapshot)


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
