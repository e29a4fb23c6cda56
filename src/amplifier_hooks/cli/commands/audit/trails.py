"""Which trail is meant: by its session's id or name, by a folder, or by the bundle here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.agent.session.inspection.trails import (
    Root,
    Trail,
    find_home,
    find_root,
    find_trail_origin,
    list_trails,
)
from amplifier_hooks.agent.session.origin import is_self_test

if TYPE_CHECKING:
    from amplifier_hooks.agent.bundles import Bundle
    from amplifier_hooks.agent.session.origin import Origin

LIST = "amplifier audit list"


def find_inside(folder: Path) -> Trail | None:
    """The newest trail in a folder that is not one itself, or in the folders below it."""
    from amplifier_hooks.agent.session.inspection.trails import holds_log, list_logs_below

    if not folder.is_dir() or holds_log(folder):
        return None
    newest_first = reversed(list_logs_below(folder))
    return next((one for one in newest_first if not is_self_test(one.path)), None)


def report_unused_path(root: Root | None = None) -> None:
    """Say on standard error that a bundle that is not trusted does not say where trails lie."""
    from amplifier_hooks.agent.bundles import BundleError

    try:
        root = root or find_root()
    except (BundleError, OSError):
        return  # whoever looks for a trail is not stopped by the bundle
    if root.note:
        click.echo(f"Note: {root.note}", err=True)


def find_named(name: str) -> Path:
    """The trail of a session, by the start of its id or by its name."""
    from amplifier_hooks.agent.session.inspection.trails import TrailNotFound, find_named_trail

    report_unused_path()
    try:
        return find_named_trail(name)
    except TrailNotFound as error:
        raise click.UsageError(str(error)) from error


def select(
    names: Sequence[str] = (), *, everywhere: bool = False, self_tests: bool = False
) -> list[Path]:
    """The trails that are named, or all of this folder, or of this machine; there may be none."""
    from amplifier_hooks.agent.session.inspection.trails import TrailNotFound, select_trails

    if not names or not all(Path(name).exists() for name in names):
        report_unused_path()
    try:
        return select_trails(names, everywhere=everywhere, self_tests=self_tests)
    except TrailNotFound as error:
        raise click.UsageError(str(error)) from error


def select_recorded(
    names: Sequence[str], everywhere: bool, *, self_tests: bool = False
) -> list[Path]:
    """The same, where there must be one."""
    found = select(names, everywhere=everywhere, self_tests=self_tests)
    if not found:
        where = "on this machine" if everywhere else "of this folder"
        raise click.UsageError(
            f"There is no recorded session {where}; name a trail, the start of a session's id "
            "or a session's name" + ("" if everywhere else ", or use --everywhere")
        )
    return found


def find_own(bundle_file: Path | None = None) -> tuple[Trail, Origin]:
    """The newest trail of this folder's bundle, and where that bundle comes from."""
    from amplifier_hooks.agent.bundles import BundleError, load_bundle
    from amplifier_hooks.agent.session.origin import find_origin

    try:
        bundle = load_bundle(bundle_file)
    except BundleError as error:
        raise click.UsageError(
            f"The trail cannot be found, because the bundle cannot be read: {error}\n"
            f"Name a trail; {LIST} shows them."
        ) from error
    wanted = find_origin(bundle, Path.cwd())
    place = find_root(bundle_file, bundle=bundle)
    report_unused_path(place)
    root = place.path
    others: set[str] = set()
    for trail in list_trails(root):
        origin = find_trail_origin(trail)
        if is_self_test(trail.path):
            continue
        if _is_meant(origin, wanted, is_home=root == find_home()):
            return trail, wanted
        if origin is not None and origin.folder == wanted.folder:
            others.add(origin.file)
    raise click.UsageError(_explain_absence(bundle, root, wanted, others))


def _is_meant(origin: Origin | None, wanted: Origin, *, is_home: bool) -> bool:
    if origin is None:  # an older trail; whose it is, only a place of its own says
        return not is_home
    if origin.bundle and origin.file != wanted.file:
        return False
    # A project's bundle is one of a kind, wherever it is used; all others are used everywhere.
    return origin.folder == wanted.folder or _is_of_a_project(origin)


def _is_of_a_project(origin: Origin) -> bool:
    from amplifier_hooks.machine.locations import find_config_home

    personal = find_config_home() / "amplifier"
    return bool(origin.file) and not Path(origin.file).is_relative_to(personal)


def _explain_absence(bundle: Bundle, root: Path, wanted: Origin, others: set[str]) -> str:
    return " ".join(_list_reasons(bundle, root, wanted, others))


def _list_reasons(bundle: Bundle, root: Path, wanted: Origin, others: set[str]) -> Iterator[str]:
    what = wanted.file or "the packaged bundle"
    yield f"There is no trail of {what} in {wanted.folder} yet (looked in {root})."
    audit = bundle.mount_plan["audit"]
    if audit.get("socket"):
        yield f"The writer at {audit['socket']} keeps the trails of this bundle."
    elif not audit.get("enabled"):
        yield "The bundle has audit.enabled: false."
    if files := sorted(one for one in others if one):
        yield f"Trails of this folder are of other bundles: --bundle {files[0]}."
    yield f"Name the directory of a log or the start of a session's id; {LIST} shows them."
