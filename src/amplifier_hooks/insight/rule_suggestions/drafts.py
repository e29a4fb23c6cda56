"""Rules as narrow as the questions that they would answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from amplifier_audit import verify
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.events import TOOL_PRE
from amplifier_core.utils.nested import iterate_parts
from amplifier_hooks.approvals.rules import NAMED_ONLY
from amplifier_hooks.guards.bash import Command, Workspace, is_harmless, unwrap_command
from amplifier_hooks.guards.command_guard import Config, Judge
from amplifier_hooks.guards.policy import protected_place_table
from amplifier_hooks.guards.policy.paths import escape_glob, resolve
from amplifier_hooks.guards.policy.protected_places import ProtectedPlaces, list_places
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, find_path
from amplifier_hooks.insight.rule_checks.coverage import is_literal
from amplifier_hooks.trails import (
    RecordedApproval,
    read_header,
    read_history,
)
from amplifier_hooks.trails.gaps import find_masked, find_missing

Said = Literal["yes", "no", "not run", "nothing"]
"""What a person said; a rule's or nobody's answer is nothing, and so is one that nobody knows.

Where another program asked its own person: yes if it ran, and `not run` if it did not.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """What a hook asked about one call, and what became of it."""

    hook: str
    event: str
    tool: str
    input: dict[str, Any]
    time: str
    session: str
    folder: str
    said: Said = "nothing"
    by: str = ""
    remembered: int = 0
    """How often an "always" of the same session answered it again."""
    complete: bool = True
    """Whether the trail has all of the input, with nothing masked."""

    @property
    def day(self) -> str:
        return self.time[:10]

    def to_question(self, hook: str | None = None) -> ApprovalQuestion:
        """The question, as an approval system would get it; `hook` is who else might ask it."""
        return ask(self.tool, self.input, self.hook if hook is None else hook, self.event)


def ask(tool: str, tool_input: dict[str, Any], hook: str, event: str) -> ApprovalQuestion:
    """A question about a call."""
    return ApprovalQuestion(
        prompt="Allow it?",
        options=("Allow once", "Deny"),
        timeout=60.0,
        default="deny",
        hook=hook,
        event=event,
        tool_name=tool,
        tool_input=tool_input,
    )


@dataclass(slots=True)
class Evidence:
    """All questions of some sessions."""

    questions: list[Question] = field(default_factory=list)
    trails: list[Path] = field(default_factory=list)
    tampered: list[Path] = field(default_factory=list)
    """Trails that were changed after they were written: what they tell is no evidence."""
    since: str = ""


def read_evidence(trails: Iterable[Path]) -> Evidence:
    """Read what people were asked in recorded sessions."""
    found = Evidence()
    for trail in trails:
        if verify(trail).verdict == "tampered":
            found.tampered.append(trail)
            continue
        header = read_header(trail)
        found.trails.append(trail)
        found.since = min(filter(None, (found.since, header.started)), default="")
        found.questions += _read_trail(trail, header.folder)
    return found


def _read_trail(trail: Path, folder: str) -> Iterator[Question]:
    asked: dict[tuple[str, int | None, str], Question] = {}
    handed: dict[tuple[str, ...], Question] = {}
    done: list[Question] = []
    for item in read_history(trail):
        if not isinstance(item, RecordedApproval):
            continue
        key = (item.session, item.id, item.digest)
        call = (item.session, item.hook, item.call_id, item.digest)
        if item.stage == "requested":
            if key in asked:
                done.append(asked[key])
            # What another program was to ask is put again with its answer.
            asked[key] = handed.pop(call, _begin(item, folder))
        elif item.stage == "outcome":
            handed |= {call: _learn(handed[call], item)} if call in handed else {}
        elif key in asked and item.stage == "handed_over":
            handed[call] = asked.pop(key)
        elif key in asked:
            asked[key] = _go_on(asked[key], item)
    yield from (*done, *handed.values(), *asked.values())


def _begin(item: RecordedApproval, folder: str) -> Question:
    given = item.input if isinstance(item.input, dict) else {}
    whole = isinstance(item.input, dict) and not find_missing("", given)
    return Question(
        item.hook,
        item.event,
        item.tool,
        given,
        item.time,
        item.session,
        folder,
        complete=whole and not any(find_masked(given)),
    )


def _learn(question: Question, item: RecordedApproval) -> Question:
    said: Said = "yes" if item.state == "allowed" else "not run"
    return replace(question, said=said, by=f"the prompt of {item.to}")


def _go_on(question: Question, item: RecordedApproval) -> Question:
    if item.stage == "remembered":
        return replace(question, remembered=question.remembered + 1)
    if item.stage != "decided" or item.how != "person":
        return question
    if item.edited:  # something else ran than what was asked about
        return replace(question, by=item.by)
    return replace(question, said="yes" if item.allowed else "no", by=item.by)


OWNER = "amplifier rules suggest"
SECRET_NAMES = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.jks", "*.keystore",
    "id_rsa*", "id_ed25519*", "id_ecdsa*", "*credential*", "*secret*", "*password*", "*token*",
    ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".dockercfg",
    "*.tfstate", "*.tfvars", "kubeconfig*",
)  # fmt: skip
_LONGEST_PATH = 300
_TELLING_WORDS = ("secret", "credential", "password", "token")
_RUNNERS = (
    "make", "just", "task", "npm", "npx", "yarn", "pnpm", "bun", "node", "deno", "python",
    "python3", "ruby", "perl", "php", "bash", "sh", "zsh", "cargo", "go", "gradle", "mvn", "ant",
    "rake", "tox", "nox", "pytest", "poetry", "uv", "pip", "bundle", "composer", "ansible",
    "terraform", "docker", "podman", "kubectl", "helm",
)  # fmt: skip


def find_obstacle(question: Question) -> str:
    """Why a question is never to be answered by a rule, in words; empty if it may be."""
    if question.event != TOOL_PRE:
        return f"it is about {question.event}, and rules answer questions about calls"
    if question.hook in NAMED_ONLY:
        return f"{question.hook} asks about secrets or about leaving the sandbox"
    if not is_literal(question.hook) or not is_literal(question.tool):
        return "the name of its hook or tool would be read as a pattern"
    if not question.complete:
        return "the trail does not have all of its input"
    return _judge_call(question, Path(question.folder or "/"))


def _judge_call(question: Question, folder: Path) -> str:
    command = get_command(question)
    danger = "" if command is None else _find_danger(command, folder)
    guarded = (_find_guarded(word, folder) for word in _list_places(question, command))
    return danger or next(filter(None, guarded), "") or _find_outside(question, folder)


def _find_outside(question: Question, folder: Path) -> str:
    """A rule about a file allows any content, which nobody wants where other programs look."""
    path = find_path(question.input) if question.tool in EDITING_TOOLS else None
    if not path:
        return ""
    try:
        real = resolve(Path(path).expanduser(), folder)
    except (ValueError, RuntimeError):
        return f"{path!r} is no path"
    if real.is_relative_to(resolve(folder, folder)):
        return ""
    return f"{path!r} lies outside the folder of the session, and a rule would allow any content"


def get_command(question: Question) -> str | None:
    """The shell command of a call, if it is one."""
    given = question.input.get("command")
    return given if isinstance(given, str) and given.strip() else None


def _find_danger(command: str, folder: Path) -> str:
    found = _make_judge(folder, Path.home().resolve()).find_all(command)
    return f"the command is dangerous: {found[0].reason}" if found else ""


@lru_cache(maxsize=16)  # the same calls come again and again
def _make_judge(folder: Path, home: Path) -> Judge:
    # A rule allows other values of what cannot be read as well, which only `careful` asks about.
    return Judge(Config(profile="careful"), Workspace(folder, home))


@lru_cache(maxsize=16)
def _find_places(folder: Path, home: Path) -> ProtectedPlaces:
    return list_places([folder])


def _list_places(question: Question, command: str | None) -> Iterator[str]:
    """Every text of a call that may name a file."""
    if command is not None:
        for part in unwrap_command(command, OWNER).commands:
            yield from _list_words(part)
    elif question.tool in EDITING_TOOLS:
        yield find_path(question.input) or ""
    else:
        texts = (text for _, text in iterate_parts(question.input) if isinstance(text, str))
        yield from (text for text in texts if len(text) < _LONGEST_PATH and "\n" not in text)


def _list_words(command: Command) -> Iterator[str]:
    words = [*command.words, *(one.target for one in command.redirects)]
    for value in (word.value or "" for word in words):
        yield value
        yield value.partition("=")[2]  # `--key=deploy.pem`


def _find_guarded(word: str, folder: Path) -> str:
    """Why a rule should not open a place, if the word names one that it should not."""
    try:
        path = Path(word).expanduser() if word.startswith("~") else Path(word)
        real = resolve(path, folder)
    except (ValueError, RuntimeError):
        return ""
    for name in (path.name, real.name):
        if any(fnmatchcase(name.casefold(), glob) for glob in SECRET_NAMES):
            return f"{word!r} has the name of a place for secrets"
    if real == folder:
        return ""
    refusal = _find_places(folder, Path.home()).find_refusal(real, writing=True)
    return f"{word!r} {refusal}" if refusal else ""


def is_for_families(folder: str, suffix: str) -> bool:
    """Whether a rule may be about all files of a kind in a folder: not where settings are kept."""
    hidden = any(part.startswith(".") for part in folder.split("/") if part != ".")
    secret = any(fnmatchcase(f"x{suffix}".casefold(), glob) for glob in SECRET_NAMES)
    return not hidden and not secret and bool(suffix)


def except_paths(suffix: str) -> list[str]:
    """Globs of what a rule about all files of a kind is not to be about."""
    named = [
        name for name in protected_place_table.PROJECT if "/" not in name and name.endswith(suffix)
    ]
    return [*(f"*{word}*" for word in _TELLING_WORDS), ".*", *named]


def except_words() -> str:
    """The same for commands, as an expression for their text."""
    return f"(?i){'|'.join(_TELLING_WORDS)}"


def list_warnings(question: Question) -> list[str]:
    """What a person should know before the same call runs without a question."""
    command = get_command(question)
    if command is None:
        about_file = question.tool in EDITING_TOOLS
        return ["it allows any content of the file, not only what people saw"] * about_file
    names = {part.name for part in unwrap_command(command, OWNER).commands}
    runners = sorted(name for name in names if name in _RUNNERS)
    return [
        f"{name} runs what files of the project say, and an agent can change those"
        for name in runners
    ]


Conditions = dict[str, Any]
Key = tuple[str, ...]

FREE_KEYS = frozenset({"description", "timeout"})
"""Keys beside a command that change nothing about what runs."""
_FILE_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]*")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:@%+=,~-]+")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule would be about: the key of all questions that it is for, and its conditions."""

    key: Key
    conditions: Conditions
    title: str
    """Two or three words, for the name of the rule."""
    is_family: bool = False
    """Whether it is also about calls that nobody was asked about."""


def draft_exact(question: Question) -> Draft | None:
    """A rule for exactly this call; of an edit, for exactly this file."""
    own = _pin(question)
    if (command := get_command(question)) is not None:
        patterns = _write_patterns(command)
        if not patterns:
            return None
        when = f"tool_input.command == {quote(command)}"
        title = " ".join(patterns[0].split()[:3])
        return _make(
            question, ("command", command), own, {"command": patterns, "when": when}, title
        )
    if question.tool in EDITING_TOOLS and (path := _find_real_path(question)):
        pattern = escape_glob(str(path))
        title = f"{question.tool} {path.name}"
        return _make(question, ("path", str(path)), "", {"path": pattern}, title)
    if not _is_simple(question.input):
        return None
    written = json.dumps(question.input, ensure_ascii=False, sort_keys=True)
    when = f"tool_input == {written}"
    return _make(question, ("input", written), "", {"when": when}, question.tool)


def draft_family(question: Question) -> Draft | None:
    """A rule for calls that differ in the name of one file, in the same folder and of one kind."""
    if (command := get_command(question)) is not None:
        return _draft_command_family(question, command)
    if question.tool not in EDITING_TOOLS or not (path := _find_real_path(question)):
        return None
    if not is_for_families(os.path.relpath(path.parent, question.folder), path.suffix):
        return None
    pattern = f"{escape_glob(str(path.parent))}/*{escape_glob(path.suffix)}"
    title = f"{question.tool} {path.parent.name} {path.suffix}"
    conditions = {"path": pattern, "unless": {"path": except_paths(path.suffix)}}
    return _make(question, ("paths", pattern), "", conditions, title, is_family=True)


def _draft_command_family(question: Question, command: str) -> Draft | None:
    parts = unwrap_command(command, OWNER).commands
    words = command.split(" ")
    folder = Path(question.folder or "/")
    slots = [at for at, word in enumerate(words) if at and _names_file(word, folder)]
    if len(parts) != 1 or len(slots) != 1 or not all(map(_is_plain, words)):
        return None
    before = words[: slots[0]]
    name = words[slots[0]]
    behind = words[slots[0] + 1 :]
    expression = _write_expression(before, name, behind)
    if expression is None or not re.search(expression, command):
        return None
    conditions: Conditions = {
        "command": [_write_pattern(parts[0], before)],
        "when": f"tool_input.command.matches({quote(expression)})",
        "unless": {"regex": except_words()},
    }
    about = ("commands", expression)
    title = " ".join(before[:3])
    return _make(question, about, _pin(question), conditions, title, is_family=True)


def _write_expression(before: list[str], name: str, behind: list[str]) -> str | None:
    """An expression for the commands with another file of the kind in that place."""
    file = PurePosixPath(name)
    folder = name.removesuffix(file.name)
    if not is_for_families(folder, file.suffix):
        return None
    start = f"{' '.join(before)} {folder}"
    end = " ".join([file.suffix, *behind])
    return f"^{_escape(start)}{_FILE_NAME}{_escape(end)}$"


def _escape(text: str) -> str:
    """The text as an expression that people can still read."""
    return re.sub(r"[.+*?^$(){}|\[\]\\]", r"\\\g<0>", text)


def _names_file(word: str, folder: Path) -> bool:
    """Whether a word surely names a file of the project: `example.com` and `1.2.3` do not."""
    path = PurePosixPath(word)
    if not _SUFFIX.fullmatch(path.suffix) or path.is_absolute() or {"~", ".."} & set(path.parts):
        return False
    return (folder / path.parent).is_dir() and ("/" in word or (folder / path).is_file())


def _make(
    question: Question,
    about: Key,
    own: str,
    conditions: Conditions,
    title: str,
    *,
    is_family: bool = False,
) -> Draft:
    if own:
        conditions = {**conditions, "when": f"{conditions['when']} && {own}"}
    if isinstance(patterns := conditions.get("command"), list) and len(patterns) == 1:
        conditions = {**conditions, "command": patterns[0]}
    asked = {"hook": question.hook, "tool": question.tool}
    key = (question.hook, question.tool, question.folder, *about, own)
    return Draft(key, {**asked, **conditions}, title, is_family)


def _pin(question: Question) -> str:
    """What holds of the rest of the input: no key that nobody has seen, the same values."""
    if get_command(question) is None:
        return ""
    rest = {key: value for key, value in question.input.items() if key != "command"}
    pinned = {key: value for key, value in rest.items() if key not in FREE_KEYS}
    keys = json.dumps(sorted({"command", *FREE_KEYS, *pinned}), ensure_ascii=False)
    held = [f"tool_input[{quote(key)}] == {_quote_value(pinned[key])}" for key in sorted(pinned)]
    return " && ".join([f"tool_input.all(key, key in {keys})", *held])


def _write_patterns(command: str) -> list[str]:
    """A pattern for each command that does more than look; none where one cannot be written."""
    every = unwrap_command(command, OWNER).commands
    parts = [one for one in every if not is_harmless(one)] or list(every[:1])
    if not parts or not all(_is_plain(part.program or "") and part.certain for part in parts):
        return []
    return list(dict.fromkeys(_write_pattern(part) for part in parts))


def _write_pattern(command: Command, only: Collection[str] | None = None) -> str:
    """The program, its options, and its arguments from the first on as far as they are plain."""
    given = [word.value or "" for word in command.arguments]
    arguments = takewhile(lambda one: _is_plain(one) and (only is None or one in only), given)
    flags = [word.value or "" for word in command.words if word.is_flag]
    return " ".join([command.program or "", *arguments, *filter(_is_plain, flags)])


def _is_plain(word: str) -> bool:
    return _PLAIN_WORD.fullmatch(word) is not None


def _find_real_path(question: Question) -> Path | None:
    given = find_path(question.input)
    try:
        path = resolve(given, Path(question.folder)) if given and question.folder else None
    except ValueError:
        return None
    # A brace cannot be escaped: the pattern would fit other names as well.
    return None if path is None or set("{}") & set(str(path)) else path


def _is_simple(given: Mapping[str, Any]) -> bool:
    """Whether a condition can be written that holds for exactly this input."""
    return bool(given) and all(isinstance(value, str | bool | int) for value in given.values())


def _quote_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def quote(text: str) -> str:
    """A text as CEL reads it."""
    return json.dumps(text, ensure_ascii=False)


def name_rule(draft: Draft, taken: Sequence[str]) -> str:
    """A name for a rule that no other one has."""
    plain = re.sub(r"[^a-z0-9]+", "-", draft.title.casefold()).strip("-")[:40].strip("-")
    name = base = plain or "rule"
    number = 2
    while name in taken:
        name = f"{base}-{number}"
        number = number + 1
    return name
