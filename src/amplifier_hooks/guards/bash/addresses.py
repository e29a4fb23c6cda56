"""What programs print, put into an address: whoever answers there gets to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplifier_hooks.guards.bash.consequences import is_local
from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.situations import DOWNLOADERS, Situation
from amplifier_hooks.guards.bash.words import Word, split_names

LOOKUPS = split_names(
    "dig nslookup host drill kdig delv ping ping6 fping traceroute tracepath mtr getent resolvectl"
)
"""What they ask for is read by whoever answers for the domain."""
_HARMLESS_OUTPUT = split_names(
    "date uuidgen echo printf whoami hostname uname id pwd basename dirname git jq wc seq nproc "
    "openssl "
    "tr cut head tail sed awk grep gcloud date sort node python3 python which command"
)
_HARMLESS_NAMES = frozenset({"hostname", "echo", "printf", "seq", "date"})
_ENCODERS = split_names(
    "base64 base32 basenc xxd od hexdump gzip bzip2 xz zstd tar zip uuencode gpg"
)
_DOMAIN = re.compile(r"[\w-]\.[a-zA-Z]{2,}")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_GIVEN = re.compile(
    r"(?:for\s+\w+\s+in\s+(?P<list>.*?)\s*(?:;|\n)\s*do\b|\w+=(?P<value>.*))", re.DOTALL
)


def carries_output(situation: Situation) -> bool:
    """Whether an address on another machine holds what a command prints."""
    command = situation.command
    if command.operands and all(map(is_local, command.operands)):
        return False
    if command.name in LOOKUPS:
        made = (set(_list_makers(situation, word)) for word in command.operands)
        return any(one - _HARMLESS_NAMES for one in made)
    runs = {run for word in command.words for run in word.runs}
    # A version, or an index of what is fetched, is put into addresses all day; a code is not.
    coded = any(_ENCODERS & set(_list_makers(situation, word)) for word in command.words)
    return coded or (command.name in DOWNLOADERS and not runs <= _HARMLESS_OUTPUT)


def _list_makers(situation: Situation, word: Word) -> Iterator[str]:
    """The programs whose output stands in a name that is literal otherwise: `$x.example.com`."""
    if word.value is not None or not _DOMAIN.search(word.raw):
        return
    yield from filter(None, word.runs)
    for name in _VARIABLE.findall(word.raw):
        yield from _list_makers_of(situation, name)
    if "xargs" in situation.command.via and "{}" in word.raw:
        yield from filter(None, situation.command.piped_from or ("xargs",))


def _list_makers_of(situation: Situation, name: str) -> Iterator[str]:
    for one in situation.script.commands:
        if one.program == ":" and name in one.assigns:
            given = _GIVEN.match(one.text)
            text = (given["list"] or given["value"] or "") if given else ""
            yield from (inner.name for inner in parse_script(f"echo {text}").commands if inner.name)
        elif one.name == "read" and any(word.value == name for word in one.words):
            yield from filter(None, one.piped_from or ("read",))
