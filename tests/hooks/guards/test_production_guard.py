"""hooks-production-guard: real paths, however they are written."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult
from tests.hooks.guards.bash.repository import build
from tests.support.harness import Harness


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a production directory and ways around it."""
    (tmp_path / "production" / "sub").mkdir(parents=True)
    (tmp_path / "safe").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "production")
    (tmp_path / "safe" / "deep").symlink_to("../production/sub")
    (tmp_path / "safe" / "file.txt").symlink_to(tmp_path / "production" / "x")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("link")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


async def write(directory: Path, path: Any, **config: Any) -> HookResult:
    harness = Harness(directory)
    await harness.mount("production_guard", config)
    return await harness.answer("Write", {"file_path": path, "content": "x"})


async def judge(directory: Path, command: str) -> HookResult:
    harness = Harness(directory)
    await harness.mount("production_guard", {})
    return await harness.answer("Bash", {"command": command})


TRICKS = [
    "production/x",
    "./production/x",
    "safe/../production/x",
    "safe/../../{name}/production/x",
    "{root}/production/x",
    "{root}//production//x",
    "{root}/./production/./x",
    "{root}/safe/../production/x/",
    "Production/x",
    "PRODUCTION/X",
    "pRoDuCtIoN/x",
    "link/x",
    "link/new/file",
    "safe/deep/x",
    "safe/file.txt",
    "one/x",
    "production%2Fx",
    "%70roduction/x",
    "ｐｒｏｄｕｃｔｉｏｎ/x",
    "/proc/self/root{root}/production/x",
    "/proc/self/cwd/../../../../../../../../../../{root}/production/x",
    "production/" + "a" * 200,
    "production/" + "d/" * 1000 + "x",
    ".env",
    "sub/.env",
    "prod.env",
    ".env.local",
    ".ENV",
]


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick[:40])
async def test_no_spelling_of_a_guarded_path_goes_unasked(tree: Path, trick: str) -> None:
    """T6: the real path is compared, by component, in any case and composition."""
    path = trick.replace("{root}", str(tree)).replace("{name}", tree.name)
    result = await write(tree, path)
    assert result.action == "ask_user", path
    assert result.approval_default == "deny"
    assert result.approval_options == ["Allow once", "Allow always", "Deny"]


@pytest.mark.parametrize(
    "path",
    [
        "safe/x",
        "productions/x",
        "my-production/x",
        "production",
        "x.environment",
        "notes.md",
        "env",
    ],
)
async def test_other_paths_are_not_asked_about(tree: Path, path: str) -> None:
    """T6: no comparison looks at a part of a name; `production` alone is its own file."""
    expected = "ask_user" if path == "production" else "continue"
    assert (await write(tree, path)).action == expected


@pytest.mark.parametrize("path", ["production/\0x", "", "   ", "loop/x", "a/" * 5000 + "\0"])
async def test_a_path_that_cannot_be_resolved_is_denied(tree: Path, path: str) -> None:
    """NUL bytes, empty paths and loops of symlinks have no real path to compare."""
    assert (await write(tree, path)).action == "deny"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_unicode_composition_makes_no_difference(tmp_path: Path, form: Any) -> None:
    """T6: NFC versus NFD."""
    path = unicodedata.normalize(form, "café/x")
    assert (await write(tmp_path, path, patterns=["café/**"])).action == "ask_user"


async def test_the_question_states_where_the_path_really_leads(tree: Path) -> None:
    """The prompt states the resolved path, and the path as given when they differ."""
    result = await write(tree, "link/x")
    assert str(tree / "production" / "x") in (result.approval_prompt or "")
    assert "given as 'link/x'" in (result.approval_prompt or "")
    plain = await write(tree, str(tree / "production" / "x"))
    assert "given as" not in (plain.approval_prompt or "")
    assert "production/**" in (plain.reason or "")


async def test_a_glob_whose_own_beginning_is_a_symlink_still_guards(tmp_path: Path) -> None:
    """A pattern on a symlink guards what the link leads to, by either name."""
    (tmp_path / "data" / "prod").mkdir(parents=True)
    (tmp_path / "live").symlink_to(tmp_path / "data" / "prod")
    pattern = f"{tmp_path}/live/**"
    for path in ("live/x", "data/prod/x", "data/../live/x"):
        assert (await write(tmp_path, path, patterns=[pattern])).action == "ask_user", path


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "NotebookEdit"])
@pytest.mark.parametrize("key", ["file_path", "path", "notebook_path"])
async def test_every_writing_tool_is_covered(tree: Path, tool: str, key: str) -> None:
    """Write, Edit, MultiEdit and NotebookEdit, whichever name they give the path."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer(tool, {key: "link/x"})).action == "ask_user"
    nested = {"edits": [{key: "safe/x"}, {"more": {key: "production/x"}}]}
    assert (await harness.answer(tool, nested)).action == "ask_user"


async def test_reading_is_not_asked_about(tree: Path) -> None:
    """Only writes are guarded."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer("Read", {"file_path": "production/x"})).action == "continue"


async def test_tools_and_their_keys_are_configurable(tree: Path) -> None:
    """`tools` maps tool globs to one key or several."""
    harness = Harness(tree)
    await harness.mount("production_guard", {"tools": {"mcp__*__put": "target"}, "shell": {}})
    result = await harness.answer("mcp__disk__put", {"target": "production/x"})
    assert result.action == "ask_user"
    assert (await harness.answer("Write", {"file_path": "production/x"})).action == "ask_user"
    assert (await harness.answer("Write", {"place": "production/x"})).action == "continue"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > production/x",
        "echo x >> link/x",
        "cp a production/",
        "cd production && rm x",
        "cd safe && touch ../production/x",
        "dd if=a of=production/x",
        "sort a --output=production/x",
        "bash -c 'tee production/x'",
        "sed -i s/a/b/ .env",
        "mkdir production/new",
        "sudo mv a link/b",
        "cd safe; cd ../production; rm x",
        "curl -oproduction/x u",
        "rm pro*/sub",
        "rm */sub",
        "rm production/$x",
        'rm "production/$x"',
        "rm production/{a,b}",
        "echo x > production/$x",
        "tar -C production -xf a",
        "git checkout -- production/x",
    ],
)
async def test_shell_commands_that_name_a_guarded_path_are_asked_about(
    tree: Path, command: str
) -> None:
    """A write is a write, also through the shell."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer("Bash", {"command": command})).action == "ask_user"


@pytest.mark.parametrize(
    "command",
    [
        "rm -r config",
        "mv config old",
        "cd config && mv eu us",
        "chmod -R a-w conf*",
        "git -C . rm -r config",
        "find config -delete",
        "rm -rf other config",
    ],
)
async def test_a_folder_is_asked_about_if_something_guarded_is_in_it(
    tmp_path: Path, command: str
) -> None:
    """Who removes or moves a folder removes or moves what is in it."""
    (tmp_path / "config" / "eu" / "production").mkdir(parents=True)
    harness = Harness(tmp_path)
    await harness.mount("production_guard", {"patterns": ["config/*/production"]})
    answer = await harness.answer("Bash", {"command": command})
    assert answer.action == "ask_user"
    assert "config/eu/production" in (answer.approval_prompt or "")


@pytest.mark.parametrize(
    "command", ["rm -r build", "mv build old", "find config -name x", "ls -R config", "make config"]
)
async def test_other_folders_and_commands_are_not_asked_about(tmp_path: Path, command: str) -> None:
    """Nothing guarded is in them, or they leave the folder as it is."""
    (tmp_path / "config" / "eu" / "production").mkdir(parents=True)
    (tmp_path / "build" / "node_modules" / "production").mkdir(parents=True)
    harness = Harness(tmp_path)
    await harness.mount("production_guard")
    assert (await harness.answer("Bash", {"command": command})).action == "continue"


@pytest.mark.parametrize(
    "command", ["cat production/x", "ls production", "echo production/x", "make"]
)
async def test_shell_commands_that_only_look_pass(tree: Path, command: str) -> None:
    """Reading production is not writing to it."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer("Bash", {"command": command})).action == "continue"


async def test_the_action_can_be_a_denial(tree: Path) -> None:
    """`action: deny` does not ask at all."""
    result = await write(tree, "link/x", action="deny")
    assert result.action == "deny"
    assert str(tree / "production/x") in (result.reason or "")


async def ask_about(directory: Path, command: str) -> str:
    harness = Harness(directory)
    await harness.mount("production_guard")
    result = await harness.answer("Bash", {"command": command})
    assert result.action == "ask_user"
    return result.approval_prompt or ""


async def test_the_question_names_every_guarded_path(tree: Path) -> None:
    """Not only the first: an approval covers what was read."""
    prompt = await ask_about(tree, "cp a production/one; cp a link/two; cd production; rm three")
    for name in ("one", "two", "three"):
        assert str(tree / "production" / name) in prompt
    assert "guarded paths" in prompt


@pytest.mark.parametrize(
    ("command", "written", "read"),
    [
        ("cp .env.example .env", ".env", ".env.example"),
        ("cp -fv -- .env.example .env", ".env", ".env.example"),
        ("cp .env.example production", "production", ".env.example"),
        ("cat .env.example > .env", ".env", ".env.example"),
    ],
)
async def test_the_question_names_only_what_would_be_written(
    tree: Path, command: str, written: str, read: str
) -> None:
    """What a copy reads is not written to."""
    prompt = (await ask_about(tree, command)).partition("The command:")[0]
    assert f"{tree / written}" in prompt
    assert f"{tree / read}" not in prompt
    assert "guarded paths" not in prompt


@pytest.mark.parametrize(
    "command",
    [
        "cp -l .env.example x",
        "cp -s .env.example x",
        "cp --link .env.example x",
        "cp -t safe .env.example",
        "cp .env.example",
        "cp $how .env.example x",
        "mv .env.example x",
        "ln .env.example x",
    ],
)
async def test_what_may_lead_back_to_a_guarded_file_is_asked_about(
    tree: Path, command: str
) -> None:
    """A link to it, what is moved away, and a copy whose options are not known."""
    assert ".env.example" in (await ask_about(tree, command)).partition("The command:")[0]


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("find . -name '*.pyc' -delete", "continue"),
        ("find . -type f -name '*.pyc' -delete", "continue"),
        ("find . -name __pycache__ -type d -exec rm -rf {} +", "continue"),
        ("find . -name '*.pyc' -exec rm -f {} ';'", "continue"),
        ("find . -delete", "ask_user"),
        ("find . -delete -name '*.pyc'", "ask_user"),
        ("find . -name '*.pyc' -o -delete", "ask_user"),
        ("find . ! -name '*.pyc' -delete", "ask_user"),
        ("find . -not -name '*.pyc' -delete", "ask_user"),
        ("find . -path -name -delete", "continue"),
        ("find . -exec stat {} ';'", "continue"),
        ("find . -type f -exec grep -l x {} +", "continue"),
        (r"find . \( -name '*.pyc' -o -name '*.pyo' \) -delete", "continue"),
        ("find . -path './src/*' -delete", "continue"),
        ("find . -type d -exec chmod 755 {} +", "continue"),
        ("find . -type f -exec chmod 600 {} +", "continue"),
        ("find . -type f -exec chmod 000 {} +", "ask_user"),
        ("find . -mtime +90 -delete", "continue"),
        ("find . -mtime -90 -delete", "ask_user"),
        ("find . -size +1M -exec rm {} +", "continue"),
        ("find . -size -1M -exec rm {} +", "ask_user"),
        ("find . -empty -delete", "ask_user"),
        ("find . -maxdepth 0 -delete", "continue"),
        (r"find . \( -name '*.pyc' -o -name '.env*' \) -delete", "ask_user"),
        ("find . -path './.env*' -delete", "ask_user"),
        ("find . -exec sed -i s/a/b/ {} +", "ask_user"),
        ("find . -exec sh -c 'rm $1' x {} ';'", "ask_user"),
        ("find . -exec sh -c 'cat $1' x {} ';'", "continue"),
        ("find . -fprintf x -name -delete", "ask_user"),
        ("find . -name '.env*' -delete", "ask_user"),
        ("find . -name '[.]env*' -delete", "ask_user"),
        ("find . -name '*' -delete", "ask_user"),
        ("find . -name '.*' -exec rm -rf {} +", "ask_user"),
        ("find . -name sub -exec rm -rf {} +", "ask_user"),
        ("find . -name $x -delete", "ask_user"),
        ("find . -name '*.pyc' -exec rm -rf . ';'", "ask_user"),
        ("find . -name '*.pyc' -exec mv . {} ';'", "ask_user"),
    ],
)
async def test_what_find_removes_by_name_is_what_is_judged(
    tree: Path, command: str, action: str
) -> None:
    """A guarded file that has another name is not asked about, if that is certain."""
    (tree / ".env.example").touch()
    (tree / "production" / "sub" / "file").write_text("a\n")
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer("Bash", {"command": command})).action == action


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("f=.env; sed -i s/A/b/ $f", "ask_user"),
        ("f=.env.example; cp x ${f%.example}", "ask_user"),
        ("for f in .e*; do cp x $f; done", "ask_user"),
        ("find . -name .env | xargs sed -i s/A/b/", "ask_user"),
        ("find . -name '.e*' | xargs rm", "ask_user"),
        ("find . -name '.e*' | parallel rm", "ask_user"),
        ("find . -type f -print0 | xargs -0 rm", "ask_user"),
        ("find . -name .env | while read f; do rm $f; done", "ask_user"),
        ("while read f; do rm $f; done < <(find . -name .env)", "ask_user"),
        ("for f in $(ls -a); do rm $f; done", "ask_user"),
        ("rm $(find . -name .env)", "ask_user"),
        ("echo .env | xargs -I{} sh -c 'rm {}'", "ask_user"),
        ("set -- .env; rm $1", "ask_user"),
        ("f=.env; echo x > $f", "ask_user"),
        ("grep -rl A . | xargs sed -i s/A/b/", "ask_user"),
        ("find . -name .env | xargs sed -i s/other/b/", "continue"),
        ("find . -exec sed -i s/other/b/ {} +", "continue"),
        ("find . -exec sed -i -E 's/(other|more)/b/g; s|x.y|z|' {} +", "continue"),
        ("find . -exec sed -i 's/other/b/; 1d' {} +", "ask_user"),
        ("find . -exec sed -i 's/other/b/w x' {} +", "ask_user"),
        ("find . -exec sed -i 's/[A-B]/b/' {} +", "ask_user"),
        ("find . -exec perl -pi -e 's/other/b/g' {} +", "continue"),
        ("find . -exec perl -pi -e 's/A/b/g' {} +", "ask_user"),
        ("find . -name '*.md' | xargs rm", "continue"),
        ("find . | xargs -I{} sh -c 'echo {} {}'", "continue"),
        ("find . -name .env | xargs sh -c 'rm $0'", "ask_user"),
        ("find . -type f | xargs chmod -v 644", "continue"),
        ("find . -exec perl -i -pe 's/other/b/g' {} +", "continue"),
        ("find . -type f | grep 'md$' | xargs rm", "continue"),
        ("find . -exec printf %s {} ';' -exec uuidgen ';'", "continue"),
        ("for f in *.md; do cp $f out/$f; done", "continue"),
        ("f=.env; cat $f", "continue"),
        ("mv x .", "continue"),
        ("mv .env x", "ask_user"),
        ("rsync -a src/ .", "continue"),
        ("rsync -a --delete src/ .", "ask_user"),
    ],
)
async def test_names_that_only_running_would_tell_are_looked_up(
    tmp_path: Path, command: str, action: str
) -> None:
    """Variables, loops, and what other commands print."""
    (tmp_path / ".env").write_text("A=1\n")
    (tmp_path / "a.md").touch()
    harness = Harness(tmp_path)
    await harness.mount("production_guard")
    assert (await harness.answer("Bash", {"command": command})).action == action


async def test_the_question_shows_the_exact_command(tree: Path) -> None:
    """Two commands that write to one path are two questions."""
    prompt = await ask_about(tree, "cp a production/x")
    assert "cp a production/x" in prompt
    assert prompt != await ask_about(tree, "cp b production/x")


async def test_a_command_that_is_cut_in_the_question_is_told_apart_by_its_digest(
    tree: Path,
) -> None:
    """Two that begin alike are two questions, too."""
    start = "echo " + "x" * 3_000 + " > production/x"
    assert await ask_about(tree, f"{start}; ls") != await ask_about(tree, f"{start}; id")


async def test_many_guarded_paths_are_counted_and_digested(tree: Path) -> None:
    """The list is cut, its rest is not forgotten."""
    many = [f"production/{number}" for number in range(40)]
    prompt = await ask_about(tree, f"rm {' '.join(many)}")
    assert "these 40 guarded paths" in prompt
    assert "and 20 more (SHA-256" in prompt
    other = await ask_about(tree, f"rm {' '.join([*many[:-1], 'production/other'])}")
    assert prompt != other


async def test_the_question_about_a_file_shows_the_exact_input(tree: Path) -> None:
    """The content is part of what is approved."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    one = await harness.answer("Write", {"file_path": "production/x", "content": "one"})
    other = await harness.answer("Write", {"file_path": "production/x", "content": "other"})
    assert '"content": "one"' in (one.approval_prompt or "")
    assert one.approval_prompt != other.approval_prompt


async def test_a_command_may_be_a_list_of_words(tree: Path) -> None:
    """As hooks-command-guard takes it, too."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    asked = await harness.answer("Bash", {"command": ["rm", "production/x"]})
    assert asked.action == "ask_user"


async def test_a_glob_of_too_many_files_is_denied(tree: Path) -> None:
    """What cannot be looked at cannot be allowed."""
    for number in range(1_001):
        (tree / "safe" / str(number)).touch()
    harness = Harness(tree)
    await harness.mount("production_guard")
    denied = await harness.answer("Bash", {"command": "rm safe/[0-9]*"})
    assert denied.action == "deny"
    assert "too many" in (denied.reason or "")


@pytest.mark.parametrize("patterns", [[], [""], ["/ok/**", " "]])
async def test_patterns_that_guard_nothing_are_refused(tmp_path: Path, patterns: list[str]) -> None:
    """A guard without a territory is a mistake, not a choice."""
    with pytest.raises(ModuleLoadError, match="patterns"):
        await Harness(tmp_path).mount("production_guard", {"patterns": patterns})


@pytest.mark.parametrize(
    ("tool", "given"),
    [("write", {"file_path": "production/x"}), ("bash", {"command": "echo > production/x"})],
)
async def test_letter_case_of_a_tools_name_is_no_way_around(
    tree: Path, tool: str, given: dict[str, str]
) -> None:
    """A tool of somebody else's may be called `write` or `bash`."""
    harness = Harness(tree)
    await harness.mount("production_guard", {})
    assert (await harness.answer(tool, given)).action == "ask_user"


async def test_the_words_of_a_question_and_of_a_denial(tree: Path) -> None:
    """One path is one, several are listed once each in the order of the command."""
    one, two = tree / "production/x", tree / "production/y"
    single = await ask_about(tree, "rm production/x production/../production/x")
    assert single == (
        f"Allow Bash to write to the guarded path {one}?\n\n"
        "The command:\n\nrm production/x production/../production/x"
    )
    led = await ask_about(tree, "rm link/x")
    assert f"guarded path {one} (given as 'link/x')?" in led
    both = await ask_about(tree, "rm production/y production/x")
    assert both.startswith("Allow Bash to write to these 2 guarded paths?\n\n")
    assert both.index(str(two)) < both.index(str(one))
    denied = await write(tree, "production/x", action="deny")
    assert denied.reason == f"{one} is guarded by 'production/**'; Write may not write there"
    harness = Harness(tree)
    await harness.mount("production_guard", {"action": "deny"})
    several = await harness.answer("Bash", {"command": "rm production/y production/x"})
    assert f"{two}, {one} are guarded by 'production/**'; Bash" in (several.reason or "")


async def test_a_command_with_other_input_is_shown_with_all_of_it(tree: Path) -> None:
    """A key beside the command may change what it does."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    asked = await harness.answer("Bash", {"command": "rm production/x", "needs": "network"})
    assert (asked.approval_prompt or "").endswith(
        'The input:\n\n{"command": "rm production/x", "needs": "network"}'
    )


async def test_a_glob_of_as_many_files_as_can_be_looked_at_is_judged(tree: Path) -> None:
    """A thousand files, none of them guarded."""
    for number in range(1_000):
        (tree / "safe" / str(number)).touch()
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer("Bash", {"command": "rm safe/[0-9]*"})).action == "continue"


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("rm ~/kept", "ask_user"),
        ("rm -r ~", "ask_user"),
        ("rm '~/kept'", "continue"),
        ("rm ~other/kept", "continue"),
        ("rm ~/k*", "ask_user"),
    ],
)
async def test_a_tilde_is_the_home_folder_where_the_shell_makes_it_that(
    tree: Path, monkeypatch: pytest.MonkeyPatch, command: str, action: str
) -> None:
    """Quoted, or before another user's name, it is not."""
    home = tree / "home"
    home.mkdir()
    (home / "kept").touch()
    monkeypatch.setenv("HOME", str(home))
    harness = Harness(tree)
    await harness.mount("production_guard", {"patterns": [str(home), f"{home}/**"]})
    assert (await harness.answer("Bash", {"command": command})).action == action


@pytest.mark.parametrize(
    ("given", "action"),
    [
        ("rm production/x", "deny"),
        (["rm production/x"], "deny"),
        ({"command": {"text": "rm production/x"}}, "deny"),
        ({"command": [["rm", "production/x"]]}, "deny"),
        ({"command": 7}, "deny"),
        ({"command": None}, "continue"),
        ({}, "continue"),
        ({"file_path": "production/x"}, "ask_user"),
    ],
)
async def test_a_command_that_cannot_be_read_is_denied(tree: Path, given: Any, action: str) -> None:
    """A call without a command is judged by the paths that it names."""
    harness = Harness(tree)
    await harness.mount("production_guard", {"tools": {"Bash": "file_path"}})
    assert (await harness.answer("Bash", given)).action == action


async def test_reading_commands_needs_its_parser_at_mount(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guard that could not judge is not mounted; one without a shell does not need it."""
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    with pytest.raises(ModuleLoadError, match="hooks-production-guard needs"):
        await Harness(tree).mount("production_guard")
    harness = Harness(tree)
    await harness.mount("production_guard", {"shell": {}})
    assert (await harness.answer("Write", {"file_path": "production/x"})).action == "ask_user"


@pytest.mark.parametrize(("action", "answer"), [("ask_user", "ask_user"), ("deny", "deny")])
async def test_a_command_that_hides_its_end_may_write_anywhere(
    tree: Path, action: str, answer: str
) -> None:
    """Padding does not lead past the guard."""
    harness = Harness(tree)
    await harness.mount("production_guard", {"action": action})
    command = "true " + "x " * 20_000 + "; echo > production/x"
    result = await harness.answer("Bash", {"command": command})
    assert result.action == answer
    assert "may write to a guarded path" in str(result.reason or result.approval_prompt)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("write_file", {"path": "production/x", "content": "x"}),
        ("edit_file", {"path": "{root}/production/x", "edits": []}),
        ("move_file", {"source": "safe/x", "destination": "production/x"}),
        ("move_file", {"source": "production/x", "destination": "safe/x"}),
        ("delete_many", {"paths": ["safe/x", "link/x"]}),
        ("save", {"uri": "file://{root}/production/x"}),
        ("save", {"uri": "file:///proc/self/root{root}/production/x"}),
        ("save", {"options": {"filePath": "production/x"}}),
        ("run", {"command": "touch production/x"}),
        ("run", {"command": "touch", "args": ["production/x"]}),
        ("get_output", {"cmd": "echo x > production/x"}),
        ("run", {"script": "true " + "x " * 20_000 + "; echo > production/x"}),
        ("run", {"command": 7}),
    ],
)
async def test_tools_of_mcp_servers_are_guarded_by_the_keys_that_they_use(
    tree: Path, tool: str, given: dict[str, Any]
) -> None:
    """Nobody has described them to us: what may write to a guarded path is asked about."""
    written = {
        key: value.replace("{root}", str(tree)) if isinstance(value, str) else value
        for key, value in given.items()
    }
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer(f"mcp__fs__{tool}", written)).action == "ask_user"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__fs__write_file", {"path": "safe/x"}),
        ("mcp__fs__read_text_file", {"path": "production/x"}),
        ("mcp__fs__list_directory", {"path": "production"}),
        ("mcp__fs__resources/read", {"uri": "file:///production/x"}),
        ("mcp__mail__send", {"text": "production/x", "path": ""}),
        ("mcp__run__run", {"command": "cat production/x"}),
        ("read_file", {"path": "production/x"}),
    ],
)
async def test_reading_and_other_places_are_not_asked_about(
    tree: Path, tool: str, given: dict[str, Any]
) -> None:
    """A tool of a server counts as reading if its name says so."""
    harness = Harness(tree)
    await harness.mount("production_guard")
    assert (await harness.answer(tool, given)).action == "continue"


async def test_home_is_where_servers_look_for_a_tilde(tree: Path) -> None:
    """They expand it, as a shell would."""
    harness = Harness(tree)
    await harness.mount("production_guard", {"patterns": ["~/live/**"]})
    assert (await harness.answer("mcp__fs__write", {"path": "~/live/x"})).action == "ask_user"


async def test_the_guard_of_mcp_tools_can_be_narrowed_and_replaced(tree: Path) -> None:
    """What `tools` names is judged as it says; empty lists switch the rest off."""
    harness = Harness(tree)
    config = {"mcp_paths": [], "mcp_commands": [], "tools": {"mcp__fs__put": "place"}}
    await harness.mount("production_guard", config)
    assert (await harness.answer("mcp__fs__write", {"path": "production/x"})).action == "continue"
    assert (await harness.answer("mcp__sh__run", {"cmd": "rm production/x"})).action == "continue"
    assert (await harness.answer("mcp__fs__put", {"place": "production/x"})).action == "ask_user"


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("git switch evil", "deny"),
        ("git switch feature", "continue"),
        ("tar xzf evil.tgz", "deny"),
        ("tar xf link.tar", "deny"),
        ("tar xzf fine.tgz", "continue"),
        ("unzip -o evil.zip", "deny"),
        ("cp -r dot .claude", "deny"),
        ("cp -r src lib", "continue"),
        ("rename README .claude/settings README", "deny"),
        ("rename s/a/b/ README", "continue"),
        ("sqlite3 :memory: '.output .claude/settings.json' 'select 1'", "deny"),
        ("git apply fine.patch", "continue"),
        ("git apply evil.patch", "deny"),
    ],
)
async def test_what_comes_without_being_named_is_judged(
    tmp_path: Path, command: str, action: str
) -> None:
    """Out of a branch, an archive, a folder, or a script in a word."""
    harness = Harness(build(tmp_path))
    config = {"patterns": [".claude/settings.json"], "action": "deny"}
    await harness.mount("production_guard", config)
    assert (await harness.answer("Bash", {"command": command})).action == action


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("webpack --mode production", "continue"),
        ("npm run build -- --mode=production", "continue"),
        ("ng build --configuration production", "continue"),
        ("cross-env NODE_ENV=production npm run build", "continue"),
        ("rake assets:precompile RAILS_ENV=production", "continue"),
        ("docker compose --profile production up", "continue"),
        ("npm install --production", "continue"),
        ("git push origin production", "continue"),
        ("git switch production", "continue"),
        ("terraform workspace select staging", "continue"),
        ("source production/x.env && npm start", "continue"),
        ("set -a; . ./.env; set +a; npm start", "continue"),
        ("docker run --env-file .env app", "continue"),
        ("node --env-file=.env server.js", "continue"),
        ("dotenv -e .env -- npm test", "continue"),
        ("npx dotenv -e .env -- npm test", "continue"),
        ("tool .env", "ask_user"),
        ("tool --mode production --out production", "ask_user"),
        ("tool --environment production/x", "ask_user"),
        ("tool production", "ask_user"),
        ("mkdir production", "ask_user"),
        ("tool -oproduction/x", "ask_user"),
        ("terraform -chdir=production apply", "ask_user"),
    ],
)
async def test_the_name_of_an_environment_is_no_folder(
    tree: Path, command: str, expected: str
) -> None:
    assert (await judge(tree, command)).action == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git checkout production", "continue"),
        ("tool production", "continue"),
        ("mkdir production", "ask_user"),
        ("git clone https://example.com/x production", "ask_user"),
        ("tool production/x", "ask_user"),
    ],
)
async def test_a_bare_word_names_a_folder_that_is_there(
    tmp_path: Path, command: str, expected: str
) -> None:
    assert (await judge(tmp_path, command)).action == expected


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("rsync -av . host:/srv/x", "continue"),
        ("scp -r . user@host:/srv", "continue"),
        ("rsync -av --remove-source-files . host:/srv/x", "ask_user"),
        ("rsync -av ./ deploy.key", "ask_user"),
        ("scp host:deploy.key deploy.key", "ask_user"),
    ],
)
async def test_a_copy_to_another_machine_writes_nothing_here(
    tmp_path: Path, command: str, action: str
) -> None:
    """It once was denied because of a file that lies below what it sends."""
    (tmp_path / "deploy.key").write_text("x")
    harness = Harness(tmp_path)
    await harness.mount("production_guard", {"patterns": ["deploy.key"]})
    assert (await harness.answer("Bash", {"command": command})).action == action
