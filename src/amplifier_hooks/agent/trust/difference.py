"""The text that a person is shown before trusting: the programs that would run, or the changes.

Lines of a file stand behind a margin, and names on one line: no file can look like a part of the
question.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.event_names import find_problem
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.trust.comparison import Change, Rules, compare_outlines, describe
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.agent.trust.outline import Word, digest_value, outline_plan, outline_rules
from amplifier_hooks.machine.files import compute_digest


def find_dead_guards(material: Material) -> list[str]:
    """Each with its place, and our name for what was probably meant.

    What a file computes cannot be seen here; that is refused when the guard is registered.
    """
    found = [*_find_in_rules(material)]
    for name, content in material.files.items():
        if name.endswith(".py"):
            found += _find_in_python(name, content)
    return found


def _find_in_rules(material: Material) -> Iterator[str]:
    for entry in material.hooks:
        rules = entry.config.get("rules") if entry.module == "hooks-rules" else None
        for rule in rules if isinstance(rules, list) else ():
            events = rule.get("event") if isinstance(rule, dict) else None
            for event in events if isinstance(events, list) else [events]:
                if isinstance(event, str) and (problem := find_problem(event)):
                    yield f"rule {rule.get('name')!r}: {problem}"


def _find_in_python(name: str, content: bytes) -> Iterator[str]:
    try:
        calls = [one for one in ast.walk(ast.parse(content)) if isinstance(one, ast.Call)]
    except (SyntaxError, ValueError, RecursionError):
        return  # it does not load either, which is said there
    declared = {text for call in calls if _name(call) == "declare" for text in _list_texts(call)}
    for call in calls:
        if _name(call) in ("hook", "register", "on") and _is_guard(call):
            texts = _list_texts(call) if _name(call) == "hook" else _list_texts(call)[:1]
            for event in texts:
                if event not in declared and (problem := find_problem(event)):
                    yield f"{name}:{call.lineno}: {problem}"


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", None) or getattr(call.func, "id", ""))


def _list_texts(call: ast.Call) -> list[str]:
    given = (one.value for one in call.args if isinstance(one, ast.Constant))
    return [one for one in given if isinstance(one, str) and one.strip()]


def _is_guard(call: ast.Call) -> bool:
    values = [one.value for one in call.keywords if one.arg == "on_error"]
    return any(isinstance(one, ast.Constant) and one.value == "deny" for one in values)


_CONTEXT = 3
_MOST_LINES = 20_000
_MARGIN = "│ "
_RULES = "hooks-rules"
_FIRST: Mapping[Word, str] = {
    "weaker": "Weaker than what holds without this bundle:",
    "different": "Different from what holds without this bundle:",
}


def describe_first_use(material: Material) -> str:
    """What a bundle that nobody has trusted yet would run, and the files themselves."""
    lines = [*_describe_first_changes(material)]
    lines += [f"The bundle {_show(material.name)} of {_show(str(material.folder))} would run:"]
    lines += [f"  {_show(line)}" for line in _list_what_runs(material)]
    for name, content in material.files.items():
        lines += ["", f"── {_show(name)}", *_indent(_read_lines(content))]
    return "\n".join(_cut(lines))


def _describe_first_changes(material: Material) -> Iterator[str]:
    """What the bundle takes away of what holds in a folder without one."""
    usual = load_bundle(project=False, unset=True)
    found = compare_outlines(outline_plan(usual.mount_plan), material.outline)
    if lines := describe(found, _FIRST):
        yield from map(_show, lines)
        yield ""


def _list_what_runs(material: Material) -> Iterator[str]:
    plan = MountPlan.parse(material.bundle.mount_plan)
    for kind, entry in plan.entries():
        if entry.source is not None:
            yield f"{kind.removesuffix('s')} {entry.module} from {entry.source}"
        if entry.mode == "shadow":
            yield f"{kind.removesuffix('s')} {entry.module} in shadow mode: it would have no effect"
    for command in dict.fromkeys(material.commands):
        yield f"command {command}"
    for name, content in material.files.items():
        yield f"file {name}, {len(content):,} bytes"


def describe_change(files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material) -> str:
    """What is different from files and an outline that were trusted, lost guards first."""
    lines = [_show(line) for line in describe(find_changes(files, plan, material))]
    if material.commands and _outline_servers(plan) != _outline_servers(material.outline):
        lines += ["", "With other MCP servers, it would run these commands:"]
        lines += [f"  {_show(one)}" for one in dict.fromkeys(material.commands)]
    for name in sorted({*files, *material.files}):
        before = files.get(name)
        after = material.files.get(name)
        if before != after:
            lines += ["", *_compare(_show(name), before, after)]
    return "\n".join(_cut(lines)).strip() or "Only settings outside the folder differ."


def _outline_servers(outline: Mapping[str, Any]) -> list[Any]:
    tools = [one for one in outline.get("tools") or () if isinstance(one, Mapping)]
    return [one.get("config") for one in tools if one.get("module") == "tool-mcp"]


def find_changes(
    files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material
) -> list[Change]:
    """What would be different in what the plan holds."""
    changed = find_changed_hooks(files, material)
    return compare_outlines(plan, material.outline, changed, _read_rules(files, plan, material))


def _read_rules(
    files: Mapping[str, bytes], plan: Mapping[str, Any], material: Material
) -> dict[str, Rules]:
    """The rules of hooks-rules before and after, those of its files too, by entry.

    Without those whose files before are not known: nobody can say what they held.
    """
    before = {_name_entry(one): one for one in plan.get("hooks") or ()}
    found: dict[str, Rules] = {}
    for entry in MountPlan.parse(material.bundle.mount_plan).hooks:
        name = entry.name or entry.instance_id or entry.module
        old = before.get(name, {}).get("options")
        if entry.module == _RULES and entry.source is None and old is not None:
            with contextlib.suppress(ModuleLoadError, ValidationError, OSError, LookupError):
                found[name] = _collect_rules(files, old, entry, material)
    return found


def _collect_rules(
    files: Mapping[str, bytes], old: Mapping[str, Any], entry: ModuleEntry, material: Material
) -> Rules:
    from amplifier_hooks.guards.rules.loading import Config, list_files, read_file

    config = Config.model_validate(entry.config)
    given = [config.file] if isinstance(config.file, str) else config.file
    listed = old.get("file") or []
    known = set([listed] if isinstance(listed, str) else listed)
    if known - {digest_value(name) for name in given}:
        raise LookupError("a file of rules is no longer read")
    before = list(old.get("rules") or ())
    after = outline_rules(config.rules)
    for name, path in zip(given, list_files(config, material.folder), strict=True):
        after += outline_rules(read_file(path, material.snapshot.read))
        if digest_value(name) in known:
            kept = {path: files[material.name_path(path)]}
            before += outline_rules(read_file(path, kept.__getitem__))
    return before, after


def _name_entry(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("instance_id") or entry["module"])


def find_changed_hooks(files: Mapping[str, bytes], material: Material) -> set[str]:
    """The ids of hooks that run a file which is not as it was trusted, or is new to them."""
    changed = {name for name, content in material.files.items() if files.get(name) != content}
    changed |= files.keys() - material.files.keys()
    return {entry.module for entry in material.hooks if changed & set(material.name_files(entry))}


def _compare(name: str, before: bytes | None, after: bytes | None) -> list[str]:
    if before is None:
        return [f"── {name}: new", *_indent(_read_lines(after or b""))]
    if after is None:
        return [f"── {name}: no longer used"]
    rows = difflib.unified_diff(_read_lines(before), _read_lines(after), n=_CONTEXT, lineterm="")
    return [f"── {name}", *_indent(list(rows)[2:])]


def _indent(lines: Iterable[str]) -> list[str]:
    return [_MARGIN + line for line in lines]


def _read_lines(content: bytes) -> list[str]:
    if b"\0" in content:
        return [f"(not text: {len(content):,} bytes, SHA-256 {compute_digest(content)})"]
    text = content.decode("utf-8", "backslashreplace")
    return text.removesuffix("\n").split("\n")


def _cut(lines: list[str]) -> list[str]:
    """What nobody would read to its end is better read in an editor."""
    if len(lines) <= _MOST_LINES:
        return lines
    rest = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], "", f"{rest:,} more lines are not shown: look at the files."]


def _show(text: str) -> str:
    """A text on one line, with every character that moves or hides others spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
