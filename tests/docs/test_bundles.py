"""The YAML examples in the pages are valid bundles; test_module_pages has those of modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from amplifier_foundation.bundles import load_bundle

PAGES = [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^(session|providers|tools|hooks|agents|audit|approval):", re.MULTILINE)
BLOCKS = [
    (page.name, block)
    for page in PAGES
    for block in _BLOCK.findall(page.read_text())
    if _SECTION.search(block)  # settings of other programs are shown in the same pages
]


@pytest.mark.parametrize(
    ("page", "text"), BLOCKS, ids=[f"{p}-{n}" for n, (p, _) in enumerate(BLOCKS)]
)
def test_a_yaml_example_is_a_valid_bundle(page: str, text: str, tmp_path: Path) -> None:
    """Whoever copies it gets a bundle that loads."""
    path = tmp_path / "amplifier.yaml"
    path.write_text(text)
    env = dict.fromkeys(re.findall(r"\$\{(\w+)", text), "value")
    load_bundle(path, env={"HOME": str(tmp_path), **env})
