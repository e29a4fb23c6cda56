"""Labels: who could have written what a tool returns, and what a tool does, by its name and input.

Names are split at `_`, `-`, `.` and capitals; the verb may stand anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from amplifier_hooks.guards.policy.tool_calls import list_commands
from amplifier_hooks.guards.provenance.stems import split_names
from amplifier_hooks.guards.provenance.words import (
    ACTS,
    CHAT,
    INTERNAL,
    MAIL,
    OPEN,
    READING,
)

Source = Literal["open", "mail", "chat", "own", "project"]
"""Anybody in the world, anybody who can write to the person, members of a closed space, the
person's own systems; and files and output of a project, which are prose wherever they come from."""

PROJECT_TOOLS = split_names(
    "bash shell local_shell exec_command run_terminal_cmd run_shell_command run_in_terminal "
    "execute_bash terminal read grep glob ls readfile read_file view edit multiedit write "
    "notebookedit notebookread apply_patch search_file_content grep_search file_search "
    "codebase_search list_dir read_many_files str_replace_editor write_file replace"
)
"""Tools of coding agents that read, search or change a project."""

_COMPLETE_VERBS = split_names(
    "get gets read list search find fetch show view describe check count query lookup retrieve "
    "inspect browse preview compare calculate summarize summarise analyze explain"
)
_SURE_VERBS = split_names(
    "get gets find finds fetch lookup retrieve inspect browse describe analyze"
)
"""Verbs that stand for nothing else at the end of a name: `archive_find`."""
_JOINING = split_names("and or then und y et")
_PEOPLE = split_names(
    "member members owner owners collaborator collaborators group contact contacts"
)
_MESSAGES = split_names("message mail email sms text dm post")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+", re.UNICODE)
_WRITING_QUERY = re.compile(
    r"^\s*(?:with\b.*\)\s*)?(update|insert|delete|drop|alter|truncate|grant|revoke|create|merge|"
    r"replace|mutation)\b",
    re.IGNORECASE | re.DOTALL,
)
_METHODS = frozenset({"post", "put", "patch", "delete"})
_VERBS_IN_THE_MIDDLE = split_names("mark set move copy link lock switch share invite post charge")
_STATES = split_names("status state summary report details info balance availability")
"""Nouns that stand for looking, unless they are given."""
_READABLE = split_names(
    "page file files doc document documents pdf mail email message messages folder note notes link "
    "book wiki image photo attachment record profile chat thread channel dataset spreadsheet sheet"
)
"""What is opened to be read."""
_MONEY = split_names(
    "money payment payments funds fund transfer wire refund payout geld dinero argent"
)
_BOOKS = split_names("ledger journal entry entries bookkeeping accounting gl asiento buchung")
"""Where something is posted without being sent."""
_NOUNS = split_names(
    "order book booking mail email message messages sms comment post posts text payment payments "
    "transaction transactions role roles permission permissions member members owner access "
    "record collaborators "
    "log file issue tag label request report contact answer reply charge collaborator "
    "changes change note print draft build release schedule mark plan project invite share "
    "transfer "
    "refund purchase lock control switch set move copy link card test buch"
)
"""Words that are as often no verb in the name of a tool: they count at its ends."""


@lru_cache(maxsize=2048)
def split_name(tool: str) -> tuple[str, ...]:
    """The words of a name in small letters: `mcp__github__createIssue` is github, create, issue."""
    name = tool[5:] if tool[:5].casefold() == "mcp__" else tool
    return tuple(word.casefold() for word in _WORD.findall(name))


@lru_cache(maxsize=2048)
def split_own(tool: str) -> tuple[str, ...]:
    """The words of a name without that of the server."""
    if tool[:5].casefold() == "mcp__":
        tool = tool[5:].partition("__")[2] or tool[5:]
    return split_name(tool)


def find_act(tool: str, given: Mapping[str, Any]) -> str:
    """What a call does: `read`, a class of ACTS, `internal`, or `unknown`."""
    act = _find_act_of_name(tool)
    if act == "read" and _sets_state(tool, given):
        return "change"
    if act not in {"read", "unknown"}:
        return act
    for key, value in given.items():
        if isinstance(value, str):
            if key.casefold() == "method" and value.casefold() in _METHODS:
                return "delete" if value.casefold() == "delete" else "send"
            if match := _WRITING_QUERY.match(value):
                return "delete" if match[1].casefold() in {"delete", "drop"} else "change"
    return act


@lru_cache(maxsize=2048)
def _find_act_of_name(tool: str) -> str:
    words = split_own(tool)
    if not words:
        return "unknown"
    if INTERNAL.fits("".join(words)) or (len(words) > 1 and words[0] in {"todo", "agent"}):
        return "internal"
    if act := _find_telling_act(tool, words):
        return act
    if not READING.any(words) and _MONEY.intersection(words):
        return "pay"
    if words[0] in _COMPLETE_VERBS and not _JOINING.intersection(words):
        return "read"
    sure = [word for word in words if word not in _NOUNS and not READING.fits(word)]
    if act := _find_first_act(sure):
        return act
    if READING.any(words):
        return "read"
    middle = [word for word in words[1:-1] if word in _VERBS_IN_THE_MIDDLE]
    return _find_first_act([words[0], words[-1], *middle]) or "unknown"


def _find_telling_act(tool: str, words: Sequence[str]) -> str:
    """Of names that say it by more than one word: `web.page`, `orders.setNote`, `gate_open`."""
    if all(map(OPEN.fits, words)):
        return "read"
    head = split_own(tool.rpartition(".")[2])[:1]
    if head == ("set",) and len(words) > 1:
        return "change"
    if "post" in words and _BOOKS.intersection(words):
        return "change"
    if words[-1] in _SURE_VERBS and not _JOINING.intersection(words):
        return "read"
    if len(words) > 1 and _PEOPLE.issuperset(words[:-1]) and words[-1] in _MESSAGES:
        return "send"
    if "open" in words and not _READABLE.intersection(words) and not OPEN.any(words):
        return "change"
    return ""


def _sets_state(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a name such as `mark_status` is of a tool that is given the status."""
    states = _STATES.intersection(split_own(tool))
    given_too = any(states.intersection(split_name(str(key))[-1:]) for key in given)
    return given_too and bool(_find_first_act(split_own(tool.rpartition(".")[2])[:1]))


def _find_first_act(words: Sequence[str]) -> str:
    found = (act for word in words for act, stems in ACTS.items() if stems.fits(word))
    return next(found, "")


_SHOWS_DISCUSSION = re.compile(
    r"\b(?:gh|glab|hub|tea|jira|linear)\s+(?:issue|pr|mr|api|search|discussion)\b"
)
"""What anybody may have written, although a program of the project shows it."""


def find_source(tool: str, given: Mapping[str, Any]) -> Source:
    """Who could have written what a call returns."""
    if any(map(_SHOWS_DISCUSSION.search, list_commands(given))):
        return "mail"
    if tool.casefold() in PROJECT_TOOLS or _find_act_of_name(tool) == "internal":
        return "project"
    words = split_name(tool)
    if OPEN.any(words) or any(str(key).casefold() in {"url", "uri", "urls"} for key in given):
        return "open"
    if CHAT.any(words):
        return "chat"
    if MAIL.any(words):
        return "mail"
    return "own"
