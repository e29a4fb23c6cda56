"""The hooks that cases are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.insight.cases.case import Case, Expectation, Step
from amplifier_hooks.insight.cases.case_run import find_events, run_case
from amplifier_hooks.insight.cases.subject import find_subject, open_bundle
from tests.hooks.insight.cases.hook_files import COUNTER, GUARD, send, write_hook


def test_a_file_a_package_and_a_module_can_be_tried(tmp_path: Path) -> None:
    """Functions with a decorator, with a mount of their own, and installed ones."""
    write_hook(tmp_path)
    package = tmp_path / "mine"
    package.mkdir()
    write_hook(package, COUNTER, "__init__.py")
    wrapped = tmp_path / "wrapped" / "amplifier_module_hooks_counted_here"
    wrapped.mkdir(parents=True)
    write_hook(wrapped, COUNTER, "__init__.py")
    events = {
        name: find_events(find_subject(name, tmp_path), {})
        for name in ("guard.py", "./mine", "wrapped", "hooks-backup")
    }
    assert events["guard.py"] == ["prompt:submit", "tool:pre"]
    assert events["./mine"] == events["wrapped"] == ["tool:pre"]
    assert "tool:pre" in events["hooks-backup"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.py", "There is no file or folder 'none.py' in "),
        ("./none", "There is no file or folder './none' in "),
        ("hooks-backp", "no file and no module 'hooks-backp'; did you mean 'hooks-backup'?"),
        ("no-such", "no file and no module 'no-such'; have hooks-backup, hooks-command-guard, "),
    ],
)
def test_what_is_not_there_is_an_error_with_its_name(tmp_path: Path, name: str, told: str) -> None:
    """A file, a folder, an installed module."""
    with pytest.raises(ModuleLoadError) as caught:
        find_events(find_subject(name, tmp_path), {})
    assert told in str(caught.value)


def test_the_id_of_a_module_does_not_mean_a_folder_of_that_name(tmp_path: Path) -> None:
    """Anybody could have put it there; with a slash it is meant."""
    folder = tmp_path / "hooks-backup"
    folder.mkdir()
    write_hook(folder, GUARD, "__init__.py")
    assert find_subject("hooks-backup", tmp_path).path is None
    assert find_subject("./hooks-backup", tmp_path).path == folder


def test_a_module_that_is_not_ready_cannot_be_tried(tmp_path: Path) -> None:
    """What it does then would prove nothing."""
    path = write_hook(tmp_path, f"{GUARD}\nasync def on_session_ready(coordinator): return 1 / 0\n")
    with pytest.raises(ModuleLoadError, match="on_session_ready failed: division by zero"):
        find_events(find_subject(str(path), tmp_path), {})


def test_a_bundle_is_tried_as_a_whole_without_personal_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases give the same result on every machine."""
    personal = tmp_path / "config" / "amplifier"
    personal.mkdir(parents=True)
    (personal / "amplifier.yaml").write_text("hooks: [{module: no-such-hook}]\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    write_hook(folder)
    bundle = folder / "amplifier.yaml"
    session = "session: {orchestrator: loop-basic, context: context-simple}\n"
    alone = f"inherit: false\n{session}"
    bundle.write_text(f"hooks: [{{module: ./guard.py}}]\n{alone}")
    case = Case("it", (send("rm x", "deny", hook="guard.guard"),))
    found = run_case(case, open_bundle(bundle))
    assert found.list_reasons() == []
    bundle.write_text(f"hooks: [{{module: ./guard.py, config: {{x: 1}}}}]\n{alone}")
    told = run_case(case, open_bundle(bundle)).problem
    assert told.startswith(f"{bundle}:1: Module 'guard' takes no config, got x")


def test_hooks_are_told_the_folder_that_they_work_in(tmp_path: Path) -> None:
    """The one of the case, if it has files."""
    text = """
from amplifier_core import HookResult

async def mount(coordinator, config):
    folder = coordinator.get_capability("session.working_dir")

    async def tell(event, data):
        with open(folder + "/in/a.txt") as file:
            return HookResult(action="deny", reason=file.read())

    coordinator.hooks.register("tool:pre", tell)
"""
    subject = find_subject(str(write_hook(tmp_path, text)), tmp_path)
    step = Step("tool:pre", {}, Expectation("deny", fields={"reason": "hello"}))
    found = run_case(Case("it", (step,), files={"in/a.txt": "hello"}), subject)
    assert found.list_reasons() == []
