"""Words that are finds by themselves, and words that are only near one another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from amplifier_hooks.guards.injection_guard.finding import Finding
from amplifier_hooks.guards.injection_guard.languages.table import LANGUAGES
from amplifier_hooks.guards.injection_guard.markup import FORGED, SUGGESTIVE
from amplifier_hooks.guards.policy.patterns import Pattern, compile_pattern, share_patterns

NEAR = 200
"""Letters before and behind a rare word in which others count."""

_FILES = (
    r"(?:~|\$home|%userprofile%|/home/[\w.\-]{1,32}|/root|/users/[\w.\-]{1,32})?/\.(?:ssh|aws|kube|"
    r"gnupg|docker|config/gh|cursor|claude|codex|gemini|netrc|npmrc|pypirc|git-credentials|"
    r"bash_history|zsh_history|env)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:passwd|shadow)\b|"
    r"\bmcp\.json\b|\bwallet\.dat\b|\bcredentials\.json\b|\bsecrets?\.(?:ya?ml|json|env|txt)\b|"
    r"(?:^|[\s\"'`(/])\.(?:env|npmrc|netrc|pgpass)\b|\blogin data\b|_(?:ssh|id_rsa|private_key)_"
)
_ALONE = {
    "override": "override",
    "new_role": "new-role",
    "secrecy": "secrecy",
    "demand": "data-demand",
}
_RARE = ("address", "hush", "sensitive")
_COMMON = ("order", "take", "send", "what", "channel")


class Nearby:
    """A piece of text around a rare word, asked for the words that are in it."""

    def __init__(self, text: str, patterns: dict[str, Pattern]) -> None:
        self._text = text
        self._patterns = patterns

    def has(self, *cues: str) -> bool:
        """Whether all of these are there."""
        return all(self._patterns[cue].occurs_in(self._text) for cue in cues)


Rule = Callable[[Nearby], str | None]
"""The kind that a rare word makes of what is near it, or None."""


def _judge_sensitive(near: Nearby) -> str | None:
    return "data-demand" if near.has("grab", "hand_over", "order") else None


def _judge_address(near: Nearby) -> str | None:
    if near.has("hand_over", "order") or near.has("grab") or near.has("carry", "order"):
        return "data-demand"
    return "new-role" if near.has("vocative", "order") else None


def _judge_hush(near: Nearby) -> str | None:
    hides = near.has("grab") or near.has("address") or near.has("hand_over", "order", "party")
    hides = hides or near.has("danger")
    return "secrecy" if hides else None


def _judge_markup(near: Nearby) -> str | None:
    orders = near.has("order", "party") or near.has("address") or near.has("hush")
    return "markup" if orders or near.has("grab") else None


_RULES: dict[str, Rule] = {
    "sensitive": _judge_sensitive,
    "address": _judge_address,
    "hush": _judge_hush,
    "markup": _judge_markup,
}
_ADDRESS = r"https?://|\b[a-z0-9._%+\-]{1,64}@[a-z0-9.\-]{1,64}"
_SENDING = (
    r"\b(?:send|post|upload|forward|transmit|e-?mail|bcc|exfiltrate|submit|relay|deliver|sende|"
    r"schicke|envoie|envoyez|transmets|envia|envie)\b|发送|發送|上传|上傳"
)
_CALLED = (
    r"(?:^|[^a-z0-9])(?:(?:ai|coding) )?(?:agents?|assistants?|ai|llms?|claude|chatgpt|copilot|"
    r"gemini)\s{0,2}[:,]\s"
)
"""A model is called by its name; that counts where nobody else reads it."""

_VOCATIVE = (
    r"\b(?:dear|attention|hey|note to|message to|by the way|p\.?s\.? to|if you are)\W{1,3}"
    r"(?:the |all |any |an? )?(?:ai|llms?|language models?|chat ?bots?|coding agents?|agents?|"
    r"assistants?|chatgpt|claude|gemini|copilot)\b|"
    r"\b(?:ai agents?|ai assistants?|ai|llm|language model|chat ?bot|model|assistant)\s{0,1}[,:]\s"
    r"{0,2}(?:please|kindly|you must|you should|you need|you have to|read carefully|listen)\b"
)
_DANGER = (
    r"\b(?:curl|wget|sudo|crontab|chmod|backdoor|id_(?:rsa|ed25519)|authorized_keys|malware|"
    r"exfiltrate|rm -[rf]{1,2})\b"
)
_PARTY = (
    r"\b(?:users?|humans?|persons?|assistants?|tools?|functions?|models?|agents?|instructions?|"
    r"benutzer|nutzer|werkzeuge?|utilisateurs?|outils?|usuarios?|herramientas?)\b|"
    r"用户|用戶|使用者|工具|助手|指令"
)
"""Who or what orders to a model are about."""


class Cues:
    """All that is looked for in a folded text, in some languages."""

    def __init__(self, languages: Sequence[str], owner: str) -> None:
        spoken = [LANGUAGES[one] for one in languages]
        joined = {
            cue: "|".join(f"(?:{getattr(one, cue)})" for one in spoken)
            for cue in (*_ALONE, *_RARE, *_COMMON)
        }
        joined["sensitive"] += f"|{_FILES}"
        joined["party"] = _PARTY
        joined["grab"] = _put_near(joined["take"], joined["sensitive"])
        joined["hand_over"] = _hand_over(joined)
        joined["carry"] = rf"(?:{_SENDING})(?s:.{{0,60}})(?:{_ADDRESS})"
        joined |= {"called": _CALLED, "vocative": _VOCATIVE, "danger": _DANGER}
        self._near = {
            cue: compile_pattern(source, owner)
            for cue, source in joined.items()
            if cue not in _ALONE
        }
        self._overrides = compile_pattern(joined["override"], owner)
        self._names = [*_ALONE, "forged", *_RARE, "markup"]
        sources = [joined[one] for one in _ALONE] + [FORGED] + [joined[one] for one in _RARE]
        self._patterns = share_patterns((*sources, SUGGESTIVE), owner)

    def find(self, text: str, *, strict: bool) -> Iterator[Finding]:
        """Every find in a folded text; overlaps and repetitions are the caller's."""
        for number, pattern in self._patterns.find_candidates(text):
            name, spans = self._names[number], pattern.find_spans(text)
            counts = name in _ALONE or name == "forged" or (name == "markup" and strict)
            for start, end in spans if counts else _group(spans):
                kind = _ALONE.get(name, "markup") if counts else self._judge(name, text, start, end)
                if kind is not None:
                    yield Finding(start, end, kind)

    def find_overrides(self, text: str) -> Iterator[tuple[int, int]]:
        """Only orders to drop instructions, for readings that would make too much of the rest."""
        return self._overrides.find_spans(text)

    def speaks_to_a_model(self, text: str) -> bool:
        """Whether a text that people do not see is meant for a model, and wants something."""
        near = Nearby(text, self._near)
        if near.has("address") or near.has("called"):
            return True
        asks = near.has("grab", "hand_over", "order")
        return asks or near.has("hush", "order", "party")

    def orders(self, text: str) -> bool:
        """Whether a text says what has to be done."""
        return self._near["order"].occurs_in(text)

    def _judge(self, name: str, text: str, start: int, end: int) -> str | None:
        return _RULES[name](Nearby(text[max(0, start - NEAR) : end + NEAR], self._near))


def _group(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that stand close together as one: a long list of file names is looked at once."""
    first: tuple[int, int] | None = None
    for start, end in spans:
        if first is not None and end - first[0] <= NEAR:
            first = first[0], end
            continue
        if first is not None:
            yield first
        first = start, end
    if first is not None:
        yield first


def _put_near(one: str, other: str) -> str:
    """Both, in either order, with little between them."""
    return f"(?:{one})(?s:.{{0,80}})(?:{other})|(?:{other})(?s:.{{0,60}})(?:{one})"


def _hand_over(words: dict[str, str]) -> str:
    """Something is to go somewhere; in some languages the thing is named first."""
    send, channel = f"(?:{words['send']})", f"(?:{words['channel']})"
    what = f"(?:{words['what']}|{words['sensitive']})"
    return (
        f"{send}(?s:.{{0,40}}){what}(?s:.{{0,80}}){channel}|"
        f"{what}(?s:.{{0,30}}){send}(?s:.{{0,30}}){channel}"
    )


@lru_cache(maxsize=8)
def load_cues(languages: tuple[str, ...], owner: str) -> Cues:
    """Compiled once for all sessions of a process."""
    return Cues(languages, owner)
