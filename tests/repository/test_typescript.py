"""The TypeScript client: its lock names no host, and what its pages quote is what is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
README = (CLIENT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "typescript.md").read_text(encoding="utf-8")
PACKAGE: dict[str, Any] = json.loads((CLIENT / "package.json").read_text())
LOCK = (CLIENT / "package-lock.json").read_text()


def test_every_package_of_the_lock_has_a_version_and_a_hash_and_no_address() -> None:
    packages = {name: one for name, one in json.loads(LOCK)["packages"].items() if name}
    assert len(packages) > 50
    assert [name for name, one in packages.items() if not one["integrity"].startswith("sha")] == []
    assert "://" not in LOCK


def test_the_lock_is_that_of_the_package() -> None:
    """No range, so that nothing changes behind our back; and nothing that users would need."""
    own = json.loads(LOCK)["packages"][""]
    assert own["devDependencies"] == PACKAGE["devDependencies"]
    assert own["version"] == PACKAGE["version"]
    pins = PACKAGE["devDependencies"].values()
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", pin) for pin in pins)
    assert "dependencies" not in PACKAGE


def test_the_readme_names_the_file_that_npm_pack_makes() -> None:
    name = f"{PACKAGE['name'].removeprefix('@').replace('/', '-')}-{PACKAGE['version']}.tgz"
    assert set(re.findall(r"amplifier-hooks-client-[\w.]+?\.tgz", README)) == {name}


def test_the_licence_is_that_of_the_repository() -> None:
    assert (CLIENT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert PACKAGE["license"] == "MIT"


@pytest.mark.parametrize(
    "example", sorted((CLIENT / "examples").glob("*.ts")), ids=lambda one: one.stem
)
def test_the_page_quotes_the_example_that_runs(example: Path) -> None:
    assert f"```ts\n{example.read_text(encoding='utf-8')}```" in PAGE


def test_the_page_names_the_versions_that_are_tested() -> None:
    for name, title in (("ai", "AI SDK"), ("@mastra/core", "Mastra")):
        assert f"{title} {PACKAGE['devDependencies'][name]}" in PAGE


def test_every_file_of_the_public_face_is_exported() -> None:
    """What the package promises is built from a source that is there."""
    built = [one["default"] for one in PACKAGE["exports"].values() if isinstance(one, dict)]
    sources = [CLIENT / one.replace("./dist/", "").replace(".js", ".ts") for one in built]
    assert len(sources) == 3
    assert [str(one) for one in sources if not one.is_file()] == []
