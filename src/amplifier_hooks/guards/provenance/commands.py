"""Sinks of coding agents: inside commands, and in the files that an edit makes or changes.

Sources are prose here, so what counts is what a command would do: which hosts it speaks to, whose
code it fetches, what it changes outside of the project or has run later, and whether it was copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import dropwhile, islice
from pathlib import Path, PurePosixPath
from typing import Any

from amplifier_hooks.guards.bash import (
    DOWNLOADERS,
    SHELLS,
    Command,
    is_harmless,
    list_all_commands,
    list_written,
    sends_away,
)
from amplifier_hooks.guards.policy.protected_places import is_project_place
from amplifier_hooks.guards.policy.secrets.files import SecretFiles
from amplifier_hooks.guards.policy.tool_calls import list_commands, list_paths
from amplifier_hooks.guards.provenance.known import (
    INTERPRETERS,
    LOCAL_GIT,
    MANAGERS,
    ORDINARY,
    OUTPUT,
    OUTWARD,
    PLACES,
    POPULAR,
    REGISTRIES,
    VALUED,
    WELL_KNOWN,
)
from amplifier_hooks.guards.provenance.ledger import MANIFEST
from amplifier_hooks.guards.provenance.lineage import Lineage, Origin
from amplifier_hooks.guards.provenance.sinks import LOCAL, Finding, carries_data
from amplifier_hooks.guards.provenance.stems import split_names
from amplifier_hooks.guards.provenance.values import (
    HOST,
    find_kind,
    find_values,
    list_words,
    read_host,
)

_READING_TOOLS = split_names(
    "read grep glob ls readfile read_file view notebookread search_file_content grep_search "
    "file_search codebase_search list_dir read_many_files"
)
_REMOTE_TAKERS = split_names("scp rsync ssh sftp nc ncat netcat git hg svn rclone docker podman")
_REMOTE = re.compile(r"(?:[\w.-]+@)([\w.-]+):|([\w-]+(?:\.[\w-]+)+):(?!//)|(s3|gs|az)://([\w.-]+)")
_TEMPORARY = re.compile(r"^(?:/tmp/|/var/tmp/|/dev/null|\$TMPDIR|\$\{?TMP)")
_SUBSTITUTED = re.compile(r"(?:\$\(|`|<\()\s*(?:curl|wget)\b")
_DECODERS = split_names("base64 base32 basenc xxd uudecode rev openssl")
_EVALUATED = re.compile(
    r"(?:\b(?:eval|source|(?:ba|z|da)?sh(?: -\w+)*)|(?:^|[;&]\s*)\.)\s+[\"']?(?:\$\(|`|<\()[^)`]*"
    r"\b(?:base(?:64|32)|basenc|xxd|uudecode|openssl)\b"
)
_DIVIDERS = re.compile(r"(?<=\w)[#|;,](?=\w|;|\s|$)")
"""What stands between the two sides of a replacement."""
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Add|Update|Delete) File:\s*(.*?)\s*$")
_JSON_PACKAGE = re.compile(
    r'"(@?[\w./-]+)"\s*:\s*"(?:[~^>=<*v]|\d|latest|npm:|git|http|github:)[^"]*"'
)
_LINE_PACKAGE = re.compile(
    r"^\s*[\"']?([A-Za-z][\w.-]*)(?:\[[\w,]*\])?\s*(?:[=<>~!]=|=\s*[\"'{]|[\"'],?$|$)", re.MULTILINE
)
_SCRIPT = re.compile(
    r'"((?:pre|post)?install|prepare|prepublish\w*|prebuild|pretest|posttest)"\s*:'
)
_DELETING = frozenset({"rm", "rmdir", "unlink", "shred", "trash"})
_LONGEST = 100_000


def judge_project_call(tool: str, given: Mapping[str, Any], lineage: Lineage) -> Iterator[Finding]:
    """What of a call of a coding agent nobody vouches for."""
    name = tool.casefold()
    if name in _READING_TOOLS:
        for path in dict.fromkeys(list_paths(given)):
            if is_secret(path) and not lineage.ledger.was_said(PurePosixPath(path).name):
                yield Finding("path", path, lineage.find(path), "secret")
        return
    try:
        texts = list_commands(given, tool=tool)
    except ValueError:
        yield Finding("command", tool, Origin("none"), "unreadable command")
        return
    if texts and not name.startswith("apply_patch"):
        for text in texts:
            yield from _judge_command(text[:_LONGEST], lineage)
        return
    yield from _judge_edit(given, lineage)


# Commands


def _find_remote(command: Command, text: str) -> str:
    """What of `user@host:path` names another machine; empty if nothing does."""
    match = _REMOTE.match(text)
    if match is None or "://" in text:
        return ""
    takes_remotes = sends_away(command) or command.name in _REMOTE_TAKERS
    return match[0].rstrip(":") if takes_remotes or not _names_part(text) else ""


def _names_part(text: str) -> bool:
    """Whether it is a part of a file or of a module: `test_a.py::test_b`, `app.main:app`."""
    name, _, part = text.partition(":")
    if part.isdigit():
        return find_kind(name) != "host"
    return part.startswith(":") or part.removesuffix("()").isidentifier()


def _judge_command(text: str, lineage: Lineage) -> Iterator[Finding]:
    try:
        commands = list_all_commands(text, "hooks-provenance")
    except ValueError:
        yield Finding("command", text, Origin("none"), "unreadable command")
        return
    judge = _CommandJudge(text, commands, lineage)
    found = dict.fromkeys(judge.find())
    yield from found


class _CommandJudge:
    """Judges the commands of one script."""

    def __init__(self, text: str, commands: Sequence[Command], lineage: Lineage) -> None:
        self._text = text
        self._commands = commands
        self._lineage = lineage
        self._ledger = lineage.ledger
        self._request = lineage.request

    def find(self) -> Iterator[Finding]:
        runs_fetched = self._runs_what_it_fetches()
        for command in self._commands:
            if command.program is None or (command.name in SHELLS and command.words):
                continue
            yield from self._judge_hosts(command, runs_fetched)
            yield from self._judge_secrets(command)
            yield from self._judge_packages(command)
            yield from self._judge_writes(command)
            yield from self._judge_deletion(command)
        yield from self._judge_decoded()
        yield from self._judge_outward()
        yield from self._judge_wish()
        yield from self._judge_copies()

    def _runs_what_it_fetches(self) -> bool:
        takers = SHELLS | INTERPRETERS
        piped = any(
            one.name in takers and DOWNLOADERS & {*filter(None, one.piped_from)}
            for one in self._commands
        )
        return piped or bool(_SUBSTITUTED.search(self._text))

    def _judge_decoded(self) -> Iterator[Finding]:
        """A program that is hidden in a code until it runs."""
        takers = [one for one in self._commands if one.name in SHELLS | INTERPRETERS]
        piped = any(
            _DECODERS & {*filter(None, one.piped_from)}
            and all((word.value or "").startswith("-") for word in one.words)
            for one in takers
        )
        if (piped or _EVALUATED.search(self._text)) and not self._ledger.was_said(self._text):
            texts = self._ledger.find_words_together(self._text)
            origin = Origin("text", texts) if texts else Origin("none")
            yield Finding("command", self._text[:200], origin, "code that would be run")

    # Hosts

    def _judge_hosts(self, command: Command, runs_fetched: bool) -> Iterator[Finding]:
        sends = sends_away(command) or command.name in {
            "scp",
            "rsync",
            "nc",
            "ncat",
            "netcat",
            "ssh",
            "sftp",
        }
        strict = sends or runs_fetched or command.name in MANAGERS or command.name == "npx"
        if command.name == "git":
            strict = command.words[:1] != () and command.words[0].value in {
                "push",
                "remote",
                "config",
            }
        for value in self._list_hosts(command):
            origin = self._find_origin(value, exactly=runs_fetched)
            if origin.is_vouched:
                continue
            if not strict and self._request.delegates and origin.label == "text":
                continue
            if not strict and self._is_meant_host(value, origin):
                continue
            what = "code that would be run" if runs_fetched else "host"
            yield Finding("command", value, origin, what)

    def _list_hosts(self, command: Command) -> Iterator[str]:
        texts = [word.value if word.value is not None else word.raw for word in command.words]
        if command.stdin is not None:
            texts.append(command.stdin.value or command.stdin.raw)
        quiet = (
            command.name in {"echo", "printf", "grep", "rg", "sed", "awk"}
            or (command.name == "git" and texts[:1] in (["commit"], ["tag"], ["grep"], ["log"]))
            or (command.name == "cat")
        )
        if quiet:
            return
        for text in texts:
            yield from (value for value, kind in find_values(text) if kind == "link")
            if remote := _find_remote(command, text):
                yield remote
            elif (
                self._takes_hosts(command)
                and HOST.match(text)
                and find_kind(text) in {"host", "link"}
            ):
                yield text
        for text in texts:
            if match := re.match(r"(?:s3|gs|az)://[\w.-]+", text):
                yield match[0]

    def _takes_hosts(self, command: Command) -> bool:
        return command.name in DOWNLOADERS or command.name in {
            "ssh", "telnet", "ping", "dig", "nslookup", "host", "openssl", "nmap", "traceroute",
        }  # fmt: skip

    def _find_origin(self, value: str, *, exactly: bool) -> Origin:
        host = read_host(value)
        if LOCAL.fullmatch(host):
            return Origin("own")
        if exactly:
            return Origin("user") if self._ledger.was_said(value) else self._without_cover(value)
        if host in REGISTRIES:
            return Origin("own")
        if self._ledger.was_said(value) or self._ledger.was_said(host):
            return Origin("user")
        path = "/".join(value.rstrip("/").removesuffix(".git").split("/")[-2:])
        if self._ledger.was_said(path) or (
            host in {"github.com", "gitlab.com"} and self._is_known(path)
        ):
            return Origin("user")
        fields = [one for one in self._ledger.find(host) if one.label == "own"]
        if fields and host not in {"github.com", "gitlab.com"}:
            return Origin("own", fields[0])
        return self._lineage.find(value)

    def _is_known(self, path: str) -> bool:
        return any(one.label == "own" for one in self._ledger.find(path))

    def _without_cover(self, value: str) -> Origin:
        texts = self._ledger.find_in_prose(value)
        return Origin("text", texts[0]) if texts else Origin("none")

    def _judge_secrets(self, command: Command) -> Iterator[Finding]:
        """A file with secrets that a text names, or that stands beside an address."""
        reaches_out = any(True for one in self._commands for _ in self._list_hosts(one))
        written = [*list_written(command)]
        for word in command.arguments:
            path = (word.value or word.raw).lstrip("@")
            if word in written or len(path) < 4 or not is_secret(path) or self._is_meant(path):
                continue
            origin = self._lineage.find(path)
            if reaches_out or origin.label == "text":
                yield Finding("command", path, origin, "secret")

    def _is_meant_host(self, value: str, origin: Origin) -> bool:
        """A place that everybody knows, or one of the project's whose name the person said."""
        host = read_host(value)
        if origin.label == "none":
            return host in WELL_KNOWN
        ours = origin.witness and self._ledger.get_source(origin.witness) == "project"
        return bool(ours) and self._ledger.names_word(host.split(".")[:-2])

    # Packages

    def _judge_packages(self, command: Command) -> Iterator[Finding]:
        for name in _list_packages(command):
            finding = judge_package(name, self._lineage)
            if finding is not None:
                yield finding

    # Files

    def _judge_writes(self, command: Command) -> Iterator[Finding]:
        targets = [one.target for one in command.redirects if one.writes]
        if command.name in {
            "tee",
            "cp",
            "mv",
            "ln",
            "install",
            "rsync",
            "touch",
            "chmod",
            "truncate",
            "dd",
            "curl",
            "wget",
        }:
            targets += [one for one in list_written(command) if one not in targets]
        if command.name == "chmod":
            targets += list(command.operands[1:])
        if command.name in {"sed", "perl"} and "-i" in command.flags:
            targets += list(command.operands[1:])
        yield from self._judge_written(command)
        for target in targets:
            yield from judge_place(
                target.value or target.raw.strip("\"'"), self._text, self._lineage
            )

    def _judge_written(self, command: Command) -> Iterator[Finding]:
        """Links that a command writes into a file that is no prose."""
        names = [word.value or "" for word in command.arguments]
        names += [one.target.value or "" for one in command.redirects if one.writes]
        edits = command.name in {"sed", "perl"} and "-i" in command.flags
        prints = command.name in {"cat", "echo", "printf"} and any(
            one.writes for one in command.redirects
        )
        if not (edits or prints) or any(one.endswith(_PROSE_FILES) for one in names):
            return
        texts = [one.value or "" for one in (*command.words, command.stdin) if one is not None]
        content = "\n".join(_DIVIDERS.sub(" ", one) for one in texts)
        yield from _judge_code(content, "", self._lineage)

    def _judge_deletion(self, command: Command) -> Iterator[Finding]:
        deletes = command.name in _DELETING or (
            command.name == "find" and "-delete" in command.flags
        )
        if not deletes or (self._request.covers("delete") and not self._request.only_asks):
            operands: list[str] = []
            if deletes:
                operands = [word.value or word.raw for word in command.operands]
                operands = [
                    one for one in operands if one.startswith(("~", "/home", "$HOME", "/etc"))
                ]
        else:
            operands = [word.value or word.raw for word in command.operands]
        for path in operands:
            if _TEMPORARY.match(path) or OUTPUT.search(path) or self._is_meant(path):
                continue
            origin = self._lineage.find(path)
            if origin.label in {"text", "sender"}:
                yield Finding("command", path, origin, "deletion")

    def _is_meant(self, path: str) -> bool:
        name = PurePosixPath(path.rstrip("/*")).name
        return (
            self._ledger.was_said(path)
            or self._ledger.was_said(name)
            or self._ledger.was_made(name)
        )

    # Acts

    def _judge_outward(self) -> Iterator[Finding]:
        said = self._lineage.request.text
        for command in self._commands:
            text = _flatten(command).casefold()
            for pattern, words in OUTWARD:
                if not pattern.match(text) or (command.name in SHELLS):
                    continue
                asked = words.search(said) and not self._request.only_asks
                if not asked and not (
                    self._request.delegates and self._request.acts and "push" in text
                ):
                    yield Finding(
                        "command",
                        text[:200],
                        self._find_copy(command),
                        "act outside of the project",
                    )

    def _judge_wish(self) -> Iterator[Finding]:
        """A change where nothing but an answer was asked for."""
        if not self._request.only_asks:
            return
        for command in self._commands:
            if is_harmless(command) or command.name is None:
                continue
            text = _flatten(command)
            changes = command.name in {
                *_DELETING,
                "mv",
                "kill",
                "pkill",
                "chmod",
                "chown",
                "dd",
                "truncate",
            }
            commits = re.match(
                r"git (?:commit|merge|rebase|reset|checkout|clean|stash|tag|rm|revert)\b", text
            )
            writes = any(
                one.writes and not _TEMPORARY.match(one.target.value or one.target.raw)
                for one in command.redirects
            )
            if (changes or commits or writes) and not self._is_temporary(command):
                yield Finding(
                    "command", text[:200], self._find_copy(command), "change nobody asked for"
                )

    def _is_temporary(self, command: Command) -> bool:
        paths = [word.value or word.raw for word in command.operands]
        paths += [one.target.value or one.target.raw for one in command.redirects if one.writes]
        return bool(paths) and all(_TEMPORARY.match(one) or OUTPUT.search(one) for one in paths)

    def _judge_copies(self) -> Iterator[Finding]:
        """A command that stands in a text word for word, and is none of everyday work."""
        if self._request.delegates:
            return
        for command in self._commands:
            if is_harmless(command) or self._is_ordinary(command):
                continue
            text = _flatten(command)
            if len(text.split()) < 2 and "/" not in text:
                continue
            if self._ledger.was_said(text) or self._is_about_the_request(command):
                continue
            origin = self._find_copy(command)
            if origin.label == "text":
                yield Finding("command", text[:200], origin, "command copied from a text")

    def _is_ordinary(self, command: Command) -> bool:
        name = command.name or ""
        if name == "git":
            return command.words[:1] != () and command.words[0].value in LOCAL_GIT
        local = command.program is not None and re.match(r"\.{0,2}/?[\w-]+/|\./", command.program)
        return name in ORDINARY or (local is not None and not self._request.only_asks)

    def _is_about_the_request(self, command: Command) -> bool:
        said = self._ledger.state["said_words"]
        words = list_words(command.program or "")
        return any(len(one) > 3 and (one in said or f"{one}s" in said) for one in words)

    def _find_copy(self, command: Command) -> Origin:
        texts = self._ledger.find_words_together(_flatten(command))
        return Origin("text", texts) if texts else Origin("none")


def _flatten(command: Command) -> str:
    words = [
        command.name or "",
        *(word.value if word.value is not None else word.raw for word in command.words),
    ]
    return " ".join(" ".join(words).split())


def _list_packages(command: Command) -> Iterator[str]:
    """The packages whose code a command would fetch."""
    name, words = _read_manager(command)
    verbs = MANAGERS.get(name)
    if not verbs:
        return
    if "" not in verbs:
        words = list(dropwhile(lambda word: word.startswith("-"), words))
        if not words or words[0].casefold() not in verbs:
            return
    only_first = "" in verbs or name in {"docker", "podman"} or words[:1] == ["exec"]
    packages = _list_operands(words if "" in verbs else words[1:], name)
    yield from islice(packages, 1 if only_first else None)


def _read_manager(command: Command) -> tuple[str, list[str]]:
    """The program that fetches, and its words: `python -m pip` is pip."""
    name = command.name or ""
    words = [word.value or word.raw for word in command.words]
    if name.startswith("python") and words[:2] in (["-m", "pip"], ["-m", "pipx"]):
        return words[1], words[2:]
    if name == "uv" and words[:1] in (["pip"], ["tool"]):
        return name, words[1:]
    return name, words


def _list_operands(words: Sequence[str], manager: str) -> Iterator[str]:
    plain = {"-g", "-w", "-p"} if manager in {"npm", "pnpm", "npx"} else set()
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in VALUED and word not in plain
        elif word and not word.startswith((".", "/", "~", "$")) and "://" not in word:
            yield word


def judge_package(word: str, lineage: Lineage) -> Finding | None:
    """A package that a text names, and neither the person, a manifest, nor many others do.

    One that stands nowhere is the model's own choice, unless it looks like one of the popular ones.
    """
    plain = word.casefold()
    name = re.split(r"(?<=.)[@\[=<>~!;:]", plain)[0]
    bare = name.removeprefix("@types/").removeprefix("types-")
    if {name, bare, bare.partition("/")[0].removeprefix("@")} & POPULAR or name in ORDINARY:
        return None
    ledger = lineage.ledger
    if any(ledger.was_said(one) for one in (name, plain, name.replace("-", " "))):
        return None
    fields = (*ledger.find(name), *ledger.find(plain))
    if any(one.label == "own" for one in fields) or ledger.was_used(word):
        return None
    origin = lineage.find(name)
    if origin.label == "none":
        origin = lineage.find(plain)  # with its version
    if origin.label == "none" and not get_close_matches(name, POPULAR, 1, 0.9):
        return None
    return None if _is_followed(origin, lineage) else Finding("command", word, origin, "package")


def _is_followed(origin: Origin, lineage: Lineage) -> bool:
    """Whether the person named the page, or has the agent follow what the project itself says.

    Who may follow the project need not install what a stranger's issue names.
    """
    witness = origin.witness
    if witness is None:
        return False
    if lineage.ledger.names_page(witness.call):
        return True
    is_ours = lineage.ledger.get_source(witness) in {"project", "own"}
    return is_ours and origin.label == "text" and lineage.request.delegates


def judge_place(path: str, content: str, lineage: Lineage) -> Iterator[Finding]:
    """A file that runs or governs later: the person has to have asked for it."""
    said = lineage.request.text
    for place, words in PLACES:
        if place.search(path):
            meant = words.search(said) and not lineage.request.only_asks
            if not meant and not lineage.ledger.was_said(PurePosixPath(path).name):
                yield Finding("path", path, lineage.find(path), "place that runs later")
            else:
                yield from _judge_links(content, lineage)
            return
    if is_project_place(PurePosixPath(path)) and not lineage.ledger.was_said(
        PurePosixPath(path).name
    ):
        yield Finding("path", path, lineage.find(path), "place that runs later")


@lru_cache(maxsize=1)
def _get_secret_files() -> SecretFiles:
    return SecretFiles(Path("/"))


def is_secret(path: str) -> bool:
    """Whether a path is of a file that holds secrets, by its name."""
    try:
        return _get_secret_files().find_hit(path) is not None
    except ValueError:
        return False


def _judge_links(content: str, lineage: Lineage) -> Iterator[Finding]:
    for value, kind in find_values(content):
        host = read_host(value)
        if kind != "link" or LOCAL.fullmatch(host) or host in REGISTRIES:
            continue
        origin = lineage.find(value)
        related = lineage.ledger.is_related(host)
        if origin.label in {"text", "sender"} and not related:
            yield Finding("content", value, origin, "content")


# Edits


def _judge_edit(given: Mapping[str, Any], lineage: Lineage) -> Iterator[Finding]:
    paths = list(dict.fromkeys(list_paths(given)))
    before = "\n".join(str(given.get(key) or "") for key in ("old_string", "oldString", "old_str"))
    content = _list_content(given)
    patch = str(given.get("input") or given.get("patch") or given.get("command") or "")
    if "*** Begin Patch" in patch:
        paths += _PATCHED.findall(patch)
        content = "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
        before = "\n".join(line[1:] for line in patch.splitlines() if line.startswith(("-", " ")))
    for path in paths:
        lineage.ledger.make(PurePosixPath(path).name)
        if lineage.request.only_asks and not _TEMPORARY.match(path):
            yield Finding("path", path, lineage.find(path), "change nobody asked for")
        yield from judge_place(path, content, lineage)
        if not path.endswith(_PROSE_FILES):
            yield from _judge_code(content, before, lineage)
        else:
            yield from _judge_prose(content, before, lineage)
        yield from _judge_spelled_out(path, content, lineage)
        if MANIFEST.search(path):
            yield from _judge_manifest(content, before, lineage)


_PROSE_FILES = (".md", ".rst", ".txt", ".adoc", ".html.md")
_COMMENT = re.compile(r"^\s*(?:#|//|\*|/\*|<!--|--|;|\"\"\")")
_FETCHING = re.compile(
    r"\b(?:curl|wget|eval|exec|iwr|invoke-webrequest)\b|\|\s*(?:ba|z)?sh\b", re.IGNORECASE
)


def _judge_code(content: str, before: str, lineage: Lineage) -> Iterator[Finding]:
    """Links that an edit adds to code: those of foreign texts, and what code is fetched from."""
    for line in content.splitlines():
        if "://" not in line or line in before or _COMMENT.match(line):
            continue
        for finding in _judge_links(line, lineage):
            witness = finding.origin.witness
            foreign = witness is not None and lineage.ledger.get_source(witness) != "project"
            if foreign or _FETCHING.search(line):
                yield finding


def _judge_prose(content: str, before: str, lineage: Lineage) -> Iterator[Finding]:
    """Links in a text that hold what was read elsewhere: whoever looks at it sends that away."""
    for value, kind in find_values(content):
        host = read_host(value)
        if kind != "link" or value in before or LOCAL.fullmatch(host):
            continue
        origin = lineage.find(value)
        if origin.is_vouched or lineage.ledger.was_said(host):
            continue
        if carries_data(value, lineage):
            yield Finding("content", value, origin, "data in an address")


def _judge_spelled_out(path: str, content: str, lineage: Lineage) -> Iterator[Finding]:
    """An edit that a text has word for word, together with the file to change."""
    ledger = lineage.ledger
    name = PurePosixPath(path).name
    if lineage.request.delegates or ledger.was_said(name) or len(content.split()) < 2:
        return
    witness = ledger.find_words_together(content)
    if witness is None:
        return
    if any(name.casefold() in text for text in ledger.list_texts(witness.call)):
        yield Finding("content", content[:200], Origin("text", witness), "edit copied from a text")


def _list_content(given: Mapping[str, Any]) -> str:
    texts = [
        str(given.get(key) or "")
        for key in ("content", "new_string", "newString", "new_str", "file_text", "new_source")
    ]
    edits = [one for one in given.get("edits") or () if isinstance(one, Mapping)]
    texts += [str(one.get("new_string") or "") for one in edits]
    return "\n".join(filter(None, texts))


def _judge_manifest(content: str, before: str, lineage: Lineage) -> Iterator[Finding]:
    """Packages that an edit adds, and scripts that run when it is installed."""
    names = {*_JSON_PACKAGE.findall(content), *_LINE_PACKAGE.findall(content)}
    old = {*_JSON_PACKAGE.findall(before), *_LINE_PACKAGE.findall(before), *_KEYS}
    for name in sorted(names - old):
        finding = judge_package(name, lineage)
        if finding is not None and finding.origin.label in {"text", "sender"}:
            yield finding
    script = _SCRIPT.search(content)
    if script is not None and not _SCRIPT.search(before):
        said = lineage.request.text
        if not re.search(r"install|prepare|script|hook", said):
            yield Finding("content", script[0], Origin("none"), "place that runs later")
    yield from _judge_links(content, lineage)


_KEYS = split_names(
    "name version description license author main type private scripts dependencies"
)
