"""How a trail begins."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.agent.session.origin import digest_hooks
from amplifier_hooks.trails import read_header
from tests.support.project import Project, script


async def test_a_header_says_whose_session_it_is(project: Project, tmp_path: Path) -> None:
    """Its folder, its bundle, its level and the hooks that it had at the start."""
    audit = {"enabled": True, "path": str(tmp_path / "trails")}
    bundle = project.bundle(hooks=["hooks-datetime"], audit=audit, providers=script("hello"))
    async with project.session(bundle) as session:
        await session.execute("x")
    (path,) = (tmp_path / "trails").iterdir()
    header = read_header(path)
    assert (header.session, header.path) == (path.name, path)
    assert header.folder == str(project.folder)
    assert header.bundle_file == str(project.folder / "amplifier.yaml")
    assert (header.level, header.values, header.shadow) == ("normal", "inline", False)
    assert header.bundle_digest == bundle.digest
    assert header.hooks_digest == digest_hooks(bundle)
    assert "hooks-datetime" in {one.module for one in header.hooks.values()}
    assert header.started < "9"
