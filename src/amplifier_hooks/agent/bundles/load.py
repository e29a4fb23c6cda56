"""Finding the files of a bundle, and merging them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from amplifier_hooks.agent.bundles.bundle import Bundle, make_bundle
from amplifier_hooks.agent.bundles.document import DocumentReader, LeavingOut
from amplifier_hooks.agent.bundles.mount_plan import find_incomplete
from amplifier_hooks.machine.locations import find_config_home
from amplifier_hooks.yaml_files.node import BundleError, Place, Problem, raise_problems

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
    whole, merged = merged, left_out.clean(merged) if unset else merged
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

    sources, secrets = tuple(reader.sources), frozenset(reader.secrets)
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
