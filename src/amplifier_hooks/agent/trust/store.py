"""Trusted content: the last one of each folder and bundle, with the person and the time.

Where   $XDG_DATA_HOME/amplifier/trust, by default ~/.local/share/amplifier/trust
Format  one JSON file for each folder and bundle, with digests; the contents beside it, by digest

Only the last content counts: one that was trusted before it may lack a guard that came later.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.agent.trust.outline import check_outline
from amplifier_hooks.machine.files import (
    compute_digest,
    digest_files,
    normalize,
    read_regular,
    replace_file,
)
from amplifier_hooks.machine.locations import find_data_home

_PRIVATE = 0o600
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Trusted:
    """One folder with the content that was trusted there."""

    folder: str
    bundle: str
    digest: str
    files: dict[str, str]
    outline: dict[str, Any]
    at: str
    by: str

    @property
    def time(self) -> str:
        """When, on the clock of whoever reads it."""
        return datetime.fromisoformat(self.at).astimezone().strftime("%Y-%m-%d %H:%M")


def _check(trusted: Trusted) -> None:
    """Refuse what we have not written: it may be damaged, or of another version."""
    if not isinstance(trusted.files, dict) or not isinstance(trusted.outline, dict):
        raise TypeError("not as it was written")
    texts = (trusted.folder, trusted.bundle, trusted.digest, trusted.at, trusted.by)
    if not all(isinstance(one, str) for one in (*texts, *trusted.files, *trusted.files.values())):
        raise TypeError("not as it was written")
    if not all(_DIGEST.fullmatch(one) for one in (trusted.digest, *trusted.files.values())):
        raise ValueError("not a digest")
    datetime.fromisoformat(trusted.at)
    check_outline(trusted.outline)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A record that cannot be used: nobody can say what it trusted."""

    path: Path
    why: str


class TrustStore:
    """Remembers trust, and the contents that were trusted, so that changes can be shown."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else find_data_home() / "amplifier" / "trust"

    def is_trusted(self, material: Material) -> bool:
        """Whether exactly this content was trusted last, for this folder and bundle."""
        if not material.files:
            return True
        last = self.find(material)
        return last is not None and last.digest == material.digest

    def find(self, material: Material) -> Trusted | None:
        """What was trusted last for the folder and bundle of a material."""
        return self._read(self._get_path(str(material.folder), material.name))

    def find_damage(self, material: Material) -> Damaged | None:
        """The record of a folder and bundle, if there is one that cannot be used."""
        found = self._examine(self._get_path(str(material.folder), material.name))
        return found if isinstance(found, Damaged) else None

    def read_files(self, trusted: Trusted) -> dict[str, bytes]:
        """The contents that were trusted; what is lost of them is empty."""
        found: dict[str, bytes] = {}
        for name, digest in trusted.files.items():
            found[name] = b""
            with contextlib.suppress(OSError):
                content = read_regular(self._get_content_path(digest))
                if compute_digest(content) == digest:
                    found[name] = content
        return found

    def has_seen(self, folder: Path, contents: Iterable[bytes]) -> bool:
        """Whether all these contents are among those that are trusted in a folder."""
        here = [one for one in self.list() if one.folder == str(folder)]
        known = {digest for one in here for digest in one.files.values()}
        return all(compute_digest(content) in known for content in contents)

    def trust(self, material: Material, by: str) -> Trusted:
        """Remember that a person has seen this content and allows it."""
        digests = {name: compute_digest(content) for name, content in material.files.items()}
        trusted = Trusted(
            folder=str(material.folder),
            bundle=material.name,
            digest=digest_files(material.files.items()),
            files=digests,
            outline=material.outline,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            by=by,
        )
        try:
            self._write(trusted, material)
        except OSError as error:
            why = error.strerror or str(error)
            raise OSError(f"What you trust cannot be saved in {self.root}: {why}") from error
        self._remove_orphans()
        self._read_back(trusted)
        return trusted

    def _read_back(self, trusted: Trusted) -> None:
        """Nobody is told that it is trusted before it is found again."""
        found = self._examine(self._get_path(trusted.folder, trusted.bundle))
        if not isinstance(found, Trusted) or found.digest != trusted.digest:
            why = found.why if isinstance(found, Damaged) else "it is not what was written"
            raise OSError(f"What you trust was saved in {self.root} and cannot be read back: {why}")

    def _write(self, trusted: Trusted, material: Material) -> None:
        """The contents first: a record never names one that is not there."""
        self._contents.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, content in material.files.items():
            path = self._get_content_path(trusted.files[name])
            replace_file(path, content, mode=_PRIVATE, sync=False)
        text = json.dumps(asdict(trusted), indent=1, sort_keys=True, default=str)
        path = self._get_path(trusted.folder, trusted.bundle)
        replace_file(path, text.encode(), mode=_PRIVATE)

    def revoke(self, folder: Path) -> list[Trusted]:
        """Trust nothing in a folder any more; returns what was trusted there."""
        gone = [one for one in self.list() if one.folder == str(folder)]
        for one in gone:
            self._get_path(one.folder, one.bundle).unlink(missing_ok=True)
        self._remove_orphans()
        return gone

    def list(self) -> list[Trusted]:
        """Everything that is trusted, by folder."""
        found = (self._read(path) for path in self._iterate_paths())
        kept = [one for one in found if one is not None]
        return sorted(kept, key=lambda one: (one.folder, one.bundle))

    def list_damaged(self) -> tuple[Damaged, ...]:
        """The records that cannot be used."""
        found = (self._examine(path) for path in sorted(self._iterate_paths()))
        return tuple(one for one in found if isinstance(one, Damaged))

    def _iterate_paths(self) -> Iterator[Path]:
        return self.root.glob("*.json") if self.root.is_dir() else iter(())

    def _get_path(self, folder: str, bundle: str) -> Path:
        key = compute_digest(f"{folder}\0{bundle}".encode(errors="surrogateescape"))
        return self.root / f"{key[:32]}.json"

    def _get_content_path(self, digest: str) -> Path:
        return self._contents / digest

    @property
    def _contents(self) -> Path:
        return self.root / "contents"

    def _read(self, path: Path) -> Trusted | None:
        found = self._examine(path)
        return found if isinstance(found, Trusted) else None

    def _examine(self, path: Path) -> Trusted | Damaged | None:
        """A record, or why it cannot be used; None if there is none."""
        try:
            trusted = Trusted(**json.loads(read_regular(path)))
            _check(trusted)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return Damaged(path, error.strerror or str(error))
        except (ValueError, TypeError, RecursionError) as error:
            return Damaged(path, str(error) or type(error).__name__)
        if self._get_path(trusted.folder, trusted.bundle) != path:
            return Damaged(path, f"it is about {trusted.bundle!r} in {trusted.folder!r}")
        return trusted

    def _remove_orphans(self) -> None:
        """Delete contents that nothing trusts any more."""
        needed = {digest for one in self.list() for digest in one.files.values()}
        for path in self._contents.iterdir() if self._contents.is_dir() else ():
            if path.name not in needed:
                path.unlink(missing_ok=True)


def collect_where_it_lies(named: Path) -> Material:
    """What a bundle runs in its own folder; that is what people look at to trust it."""
    return collect_material(load_bundle(named, project_dir=named.parent), named.parent)


def is_trusted_by_name(material: Material, named: Path | None, store: TrustStore) -> bool:
    """Whether what would run was trusted: in its folder, or else where the named bundle lies.

    The latter holds for exactly the files that were trusted there. A file of the folder itself
    that the bundle would run as well is not one of them.
    """
    if store.is_trusted(material):
        return True
    if named is None:
        return False
    there = collect_where_it_lies(named)
    trusted = _list_contents(there)
    return store.is_trusted(there) and all(
        trusted.get(path) == content for path, content in _list_contents(material).items()
    )


def _list_contents(material: Material) -> dict[Path, bytes]:
    return {normalize(material.folder / name): one for name, one in material.files.items()}
