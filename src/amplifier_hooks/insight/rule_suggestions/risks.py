"""What no rule should answer in a person's place, and what a person should know of a rule."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from amplifier_core.events import TOOL_PRE
from amplifier_core.utils.nested import iterate_parts
from amplifier_hooks.approvals.rules import NAMED_ONLY
from amplifier_hooks.guards.bash import Command, Workspace, unwrap_command
from amplifier_hooks.guards.command_guard import Config, Judge
from amplifier_hooks.guards.policy import protected_place_table
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.protected_places import ProtectedPlaces, list_places
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, find_path
from amplifier_hooks.insight.rule_checks.globs import is_literal
from amplifier_hooks.insight.rule_suggestions.evidence import Question

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
    return Judge(Config(), Workspace(folder, home))


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
