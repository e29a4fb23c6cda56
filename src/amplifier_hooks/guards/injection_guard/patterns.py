"""The wordings by which an order to a model is known in what should be data: RE2 expressions.

They are matched against folded text: small letters without accents. Each was kept because it is
common in copied attacks; more of them find little more, see docs/modules/hooks-injection-guard.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from amplifier_hooks.guards.policy.patterns import Pattern, compile_pattern, share_patterns

KINDS: Mapping[str, str] = {
    "override": "tells the model to drop its instructions",
    "new-role": "gives the model another role, task or rank of orders",
    "secrecy": "tells the model to keep something from the user",
    "markup": "imitates the markup of a conversation or of a tool call",
    "data-demand": "asks for files, secrets or the conversation to be handed over",
    "other-tools": "says how tools of somebody else are to be used",
    "hidden-text": "has characters that people do not see",
    "hidden-order": "speaks to the model in a place that people do not see",
    "outlet": "has a link or picture that would carry data away",
}
"""What is looked for, by the names that `off` takes, and what is said of it."""

LANGUAGES = ("en", "de", "fr", "es", "zh")
"""English is known in all kinds, the others in `override` only."""

_GAP = r"[^a-z0-9]{1,8}"
"""Between two words: spaces, line ends, signs, the mark of a comment."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A place in a text that reads like an order to the model, or hides something; its kind."""

    start: int
    end: int
    kind: str


def join_findings(found: Iterable[Finding]) -> list[Finding]:
    """In the order of the text; those that overlap are one, under the kind of the first."""
    joined: list[Finding] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if joined and one.start < joined[-1].end:
            last = joined.pop()
            one = Finding(last.start, max(last.end, one.end), last.kind)
        joined.append(one)
    return joined


def join_words(*alternatives: str) -> str:
    """One expression for several, in which a space stands for any gap between words."""
    return r"\b(?:" + "|".join(one.replace(" ", _GAP) for one in alternatives) + r")\b"


# Orders by themselves

_ANY = (
    r"(?:(?:all|any|each|every|everything|the|your|my|our|its|these|those|of|that|were|other|"
    r"and|or|completely|entirely|whatever|user|given) ){0,5}"
)
_EARLIER = (
    r"(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|former|past|initial|original|"
    r"existing|current|system|developer|safety|security|hidden|last)"
)
_INSTRUCTIONS = (
    r"(?:instructions?|prompts?|directives?|directions|guidelines?|guardrails?|programming|"
    r"orders|safeguards?)"
)
_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|neglect|pay no attention to|(?:do not|don t|"
    r"dont|stop|never) (?:follow(?:ing)?|obey(?:ing)?|heed(?:ing)?|comply(?:ing)? with|"
    r"listen(?:ing)? to))"
)
_NOT = r"(?:do not|don t|dont|never|must not|should not|shall not|cannot|avoid)"
_USER = (
    r"(?:the|your|any|this) (?:human |end )?(?:users?|human|person|operator|owner|people|"
    r"developer|customer)"
)
_MODEL = (
    r"(?:ai|llms?|language models?|ai (?:assistants?|agents?|models?|systems?)|assistants?|"
    r"chat ?bots?|coding agents?|chatgpt|claude|gemini|copilot|codex|cursor)"
)

_OVERRIDE: Mapping[str, str] = {
    "en": join_words(
        rf"{_DROP} {_ANY}(?:{_EARLIER} ){{1,3}}(?:user |chat )?{_INSTRUCTIONS}",
        rf"{_DROP} (?:all |any |every |of )*your {_ANY}(?:{_EARLIER} )?(?:{_INSTRUCTIONS}|rules|"
        r"restrictions|constraints|polic(?:y|ies)|training|limitations|safety measures)",
        rf"{_DROP} (?:all |any |the |your |of |those |these )*{_INSTRUCTIONS} (?:you (?:were|"
        r"have|had|are|got|received)|above|before|so far|given (?:to you|before|above|earlier))",
        rf"{_DROP} (?:everything|anything|all|whatever)(?: of)?(?: that)?(?: (?:is|was|you))? "
        r"(?:above|before (?:this (?:line|message|point|text)|now)|previously (?:said|written)|"
        r"(?:were|have been|had been) told|written above)",
        rf"{_DROP} (?:what|whatever|everything|anything)(?: that)? (?:the |your )?(?:user|human|"
        r"owner)(?: has| had)? (?:asked|said|says|wants?|wanted|told|requested|wrote)",
        rf"{_DROP} (?:the |your |any )?(?:system|developer) (?:message|prompt|note)s?",
        rf"(?:overrides?|bypass(?:es)?|discard|abandon|cancel|revoke|supersedes?|invalidates?|"
        rf"replaces|takes? (?:precedence|priority) over) {_ANY}(?:previous|prior|earlier|above|"
        r"your|system|safety|developer|user)(?: (?:and |or )?(?:system|safety|user|developer))*"
        rf" (?:{_INSTRUCTIONS}|messages|training)",
        rf"(?:previous|prior|earlier|above|preceding) {_INSTRUCTIONS} (?:are|is|were|have been|"
        r"has been) (?:now |hereby |all )?(?:void|null|cancell?ed|revoked|obsolete|superseded|"
        r"replaced|invalid|overridden)",
        r"(?:everything|anything|all|whatever) (?:that )?you (?:were|have been|had been|ve been) "
        r"(?:told|given|instructed|asked|taught)",
    ),
    "de": join_words(
        r"(?:ignorier(?:e|en)?|missachte|vergiss|vergessen|verwirf)(?: sie)? (?:(?:alle[nrs]?|die|"
        r"deine[nr]?|ihre[nr]?|diese[nr]?|was|es) ){0,4}(?:(?:vorherigen?|fruheren?|bisherigen?|"
        r"obigen?|ursprunglichen?) )?(?:anweisungen|instruktionen|befehle|vorgaben|regeln|"
        r"prompts?)",
    ),
    "fr": join_words(
        r"(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)) (?:(?:toutes?|tous|les|tes|vos|ces|des) ){0,4}"
        r"(?:instructions?|consignes?|directives?|ordres|regles) (?:precedentes?|anterieure?s?|"
        r"ci dessus|initiales?|du systeme|systeme)",
    ),
    "es": join_words(
        r"(?:ignor[ae](?:r|n)?|olvid[ae](?:te)?(?: de)?|omit[ae]|descart[ae]) (?:(?:todas?|todos|"
        r"las|los|tus|sus|estas) ){0,4}(?:instruccion(?:es)?|indicaciones|ordenes|reglas|normas) "
        r"(?:anterior(?:es)?|previas?|previos|iniciales|originales|del sistema)",
    ),
    "zh": (
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不要遵守|绕过|繞過)(?:掉|你|您|的|了|这些|這些|"
        r"\s){0,4}(?:(?:之前|先前|以前|前面|上面|以上|上述|原有|系统|系統|所有|全部|一切)(?:你|您|的|给出|"
        r"給出|内容|內容|\s){0,6}){1,4}(?:指令|指示|提示词|提示詞|提示|命令|规则|規則|要求)"
    ),
}
_NEW_ROLE = join_words(
    r"you are (?:now|no longer|hereby) (?:in |a |an |the |acting |operating |going |bound |being "
    r")*(?:(?:developer|debug|admin|maintenance|god|jailbreak|unrestricted|dan) mode|dan|"
    r"jailbroken|unrestricted|uncensored|free (?:of|from)|restricted|subject to)",
    r"from (?:now on|this (?:point|moment)(?: on| onwards?| forward)?) you (?:must|will|shall|are|"
    r"should|only|respond|act|obey|always|never|have to|work for)",
    r"(?:your|the assistant s|the agent s|the model s) (?:new|real|actual|true|hidden|secret|only) "
    r"(?:task|goal|purpose|objective|instructions?|directives?|mission|role|job|orders) (?:is|are)",
    r"(?:new|updated|revised|additional|hidden|secret) (?:system |admin |"
    r"developer )(?:instructions?|"
    r"prompt|directives?|message|override)[^a-z0-9]{0,3}:[^a-z0-9]{0,3}[a-z0-9]+",
    r"this (?:message|instruction|directive|notice) (?:overrides|supersedes|outranks|takes "
    r"(?:precedence|priority) over|comes from (?:the )?(?:system|developers?|administrators?))",
    r"dan mode|you (?:must not|may not|cannot|can t) refuse",
    r"(?:the )?user (?:has |have )?already (?:approved|authori[sz]ed|confirmed|agreed to|allowed)",
    r"prefix (?:all|every|each|any) (?:shell |bash |terminal )?commands? (?:you run )?with",
    r"(?:always|only) (?:use|call|prefer|choose|select) this (?:tool|function|server) (?:instead "
    r"of|over|rather than|before) (?:any|all|every|the) (?:other|others|alternative|available|"
    r"built)",
    r"(?:never|do not|don t) (?:use|call|choose|consider|trust) (?:any )?(?:of the )?other "
    r"(?:available )?(?:tools|servers)",
)
_SECRECY = join_words(
    rf"{_NOT} (?:ever )?(?:tell|inform|notify|alert)(?:ing)? {_USER}",
    rf"{_NOT} (?:ever )?(?:mention|reveal|disclose|report|explain|show|repeat|"
    rf"admit)(?:ing)? (?:this|"
    r"these|it|that|your instructions|the (?:instructions?|file|step|call|transfer|upload))"
    rf"(?: [a-z0-9]+){{0,4}} (?:to|with) (?:{_USER}|anyone|anybody|users)",
    rf"{_NOT} let {_USER} (?:know|see|notice|find out|realize|suspect)",
    rf"{_USER} (?:must|should|shall)(?: not| never) (?:know|see|find out|learn|notice|be told)",
    rf"{_NOT} (?:ever )?(?:mention|reveal|disclose|repeat|acknowledge) (?:this|these|the) "
    r"(?:instructions?|message|directive|note|requirement|prompt)",
    r"keep (?:this|it|that|these|all of this) (?:a )?(?:secret|hidden|confidential|quiet|private) "
    rf"from {_USER}",
    r"(?:silently|secretly|quietly|covertly) (?:[a-z]+ ){0,2}(?:send|post|upload|forward|e ?mail|"
    r"transmit|exfiltrate|leak|share)",
)
_DEMAND = join_words(
    r"(?:print|output|reveal|show|display|repeat|disclose|leak|recite|share|provide|give|send|copy)"
    r"(?: out| me| us| the| all| whole| full| entire| contents?| text| of){0,5} your (?:full |"
    r"entire "
    r"|hidden |system |initial |original |secret ){0,3}(?:prompts?|instructions|system message)",
    r"(?:each|every|all|always)(?: [a-z]+){0,5} bcc|bcc(?: [a-z]+){0,5} (?:each|every)",
)
_FORGED = (
    r"</(?:system|assistant|human)>\s{0,4}<(?:user|human|assistant|system)>|"
    r"\[system (?:note|message|prompt|instruction|override)s?\s{0,2}:|"
    r"\[\[(?:system|admin|assistant)\]\]|\[(?:system|admin)\]\s{0,2}:|"
    r"```\s{0,2}(?:tool|function)_(?:call|code|use)s?\s|"
    r"<\|(?:im_(?:start|end|sep)|system|user|assistant|eot_id|start_header_id|end_header_id|"
    r"begin_of_text|end_of_text|python_tag|tool_calls?|start|message|channel|call|return)\|>|"
    r"\[inst\][ ]+\S|\[/inst\]|<</?sys>>|</?start_of_turn>|<end_of_turn>|"
    r"</?(?:antml:)?(?:function_calls|function_results?|tool_calls|tool_results?|tool_use|"
    r"tool_outputs?|tool_responses?|function_responses?)\s{0,3}>|"
    r"<(?:antml:)?invoke\s{1,3}name\s{0,2}=|<(?:tool_call|function_call)>\s{0,3}\{|"
    r"(?:^|\n)\s{0,3}#{1,4}\s{0,2}(?:new |updated )?system (?:prompt|message|instructions?)\s{0,2}:"
)
"""Markup by which conversations are told apart: no data has a reason to imitate it."""

# Words that count only near others

_SUGGESTIVE = (
    r"(?:^|[^a-z0-9])(?P<tag></?(?:system|assistant|important|instructions?|secret|admin|developer|"
    r"critical|priority|hidden|internal|directive|urgent|model|ai|llm)\s{0,3}>)|"
    r"(?P<other></?system[-_ ](?:prompt|message|reminder|instructions?|override|note)\s{0,3}>|"
    r"(?:^|\n)\s{0,3}(?:\*{2})?(?:human|assistant|system)(?:\*{2})?\s{0,2}:\s{0,3}\S|"
    r"\bsystem (?:message|note|notice|instructions?|override|alert)\s{0,2}:)"
)
"""Counts in a server's list; elsewhere only around words that order something."""

_SENSITIVE = (
    r"(?:~|\$home|%userprofile%|/home/[\w.\-]{1,32}|/root|/users/[\w.\-]{1,32})?/\.(?:ssh|aws|kube|"
    r"gnupg|docker|config/gh|cursor|claude|codex|gemini|netrc|npmrc|pypirc|git-credentials|"
    r"bash_history|zsh_history|env)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:passwd|shadow)\b|"
    r"\bmcp\.json\b|\bcredentials\.json\b|(?:^|[\s\"'`(/])\.(?:env|npmrc|netrc|pgpass)\b|"
    + join_words(
        r"(?:conversation|chat|message|prompt) (?:history|log|transcript)",
        r"(?:entire|whole|full|complete|all)(?: of)?(?: the| this| our)? (?:conversation|chat)",
        r"(?:all|any|every)(?: of)?(?: the| your| user s?| his| her| their)* (?:environment "
        r"variables|env vars|credentials|secrets|passwords|private keys?|private repos|access "
        r"tokens|api keys|emails|contacts|cookies)",
        r"(?:user|person|owner|customer) s (?:api keys?|passwords?|tokens?|secrets?|credentials)",
    )
)
_ADDRESS = join_words(
    rf"if you are (?:an? |the )?{_MODEL}",
    r"(?:note|notice|message|instructions?|reminder|attention|important|warning)[^a-z0-9]{1,4}"
    rf"(?:to|for) (?:the |any |all |every |an? )?{_MODEL}",
    rf"(?:attention|dear|hey) (?:the |all |any )?{_MODEL}",
    rf"(?:any|all|every) {_MODEL} (?:that |which )?(?:reading|reads?|processing|must|should)",
    rf"{_MODEL} (?:must|should|shall|has to|have to|needs? to)",
)
_CALLED = rf"(?:^|[^a-z0-9])(?:{_MODEL}|agents?)".replace(" ", _GAP) + r"\s{0,2}[:,]\s"
"""A model is called by its name; that counts where nobody else reads it."""

_ORDER = join_words(
    r"you (?:must|need to|have to|are required to|are to|shall|should (?:first|always|also))",
    r"(?:must|need to|have to|should) (?:first|always|also|be (?:called|used|read|included|passed|"
    r"sent|set|executed|run)|call|read|get|include|pass|send|run|use)",
    r"(?:always|first|then|also|instead|please|now|immediately) (?:call|use|read|open|run|fetch|"
    r"include|send|add|append|pass|bcc|forward|execute|copy|upload|post|output|print|say|delete)",
    r"(?:before|when|whenever|after|each time|every time|once) (?:you )?(?:us(?:e|ing)|"
    r"call(?:ing)?|runn?(?:ing)?|answering|responding) (?:this|the|any|other|every|a|an)",
    r"(?:in order )?to (?:proceed|continue|complete|finish|resolve)",
)
_TAKE = join_words("(?:read|open|cat|load|fetch|get|collect|copy|encode|contents?|full|entire|all)")
_HAND_OVER = join_words(
    r"(?:pass|provide|include|put|insert|append|attach|add|send|post|upload|forward)(?:s|ing)?"
    r"(?: [a-z0-9]+){1,8} (?:parameters?|arguments?|fields?|sidenote|query string|https?|webhook|"
    r"pull request|issue|comment|reply|[a-z0-9._%+\-]{1,64}@[a-z0-9.\-]{1,64})",
)
_NEAR = 200
"""Letters before and behind a word in which others count."""


class Wordings:
    """All that is looked for in a folded text, in some languages."""

    def __init__(self, languages: Sequence[str], owner: str) -> None:
        override = "|".join(f"(?:{_OVERRIDE[one]})" for one in languages)
        english = "en" in languages
        alone = {"override": override, "markup": _FORGED}
        if english:
            alone |= {"new-role": _NEW_ROLE, "secrecy": _SECRECY, "data-demand": _DEMAND}
        self._alone = tuple(alone)
        sources = (*alone.values(), _SUGGESTIVE, _SENSITIVE)
        self._patterns = share_patterns(sources, owner)
        self._override = compile_pattern(override, owner)
        self._address = compile_pattern(f"{_ADDRESS}|{_CALLED}", owner)
        self._order = compile_pattern(_ORDER, owner)
        self._take = compile_pattern(_TAKE, owner)
        self._hand_over = compile_pattern(_HAND_OVER, owner)

    def find(self, text: str, *, strict: bool) -> Iterator[Finding]:
        """Every find in a folded text; overlaps and repetitions are the caller's.

        `strict` for what a server says of its tools: there, suggestive markup counts by itself.
        """
        for number, pattern in self._patterns.find_candidates(text):
            if number < len(self._alone):
                for start, end in pattern.find_spans(text):
                    yield Finding(start, end, self._alone[number])
            elif number == len(self._alone):
                yield from self._find_markup(text, pattern, strict)
            else:
                yield from self._find_demands(text, pattern)

    def find_overrides(self, text: str) -> Iterator[tuple[int, int]]:
        """Only orders to drop instructions, for readings that would make too much of the rest."""
        return self._override.find_spans(text)

    def addresses_model(self, text: str) -> bool:
        """Whether a text that people do not see is meant for a model."""
        return self._address.occurs_in(text)

    def gives_order(self, text: str) -> bool:
        """Whether a text says what has to be done."""
        return self._order.occurs_in(text)

    def _find_markup(self, text: str, pattern: Pattern, strict: bool) -> Iterator[Finding]:
        for start, end in pattern.find_spans(text):
            near = text[max(0, start - _NEAR) : end + _NEAR]
            if strict or self._order.occurs_in(near):
                yield Finding(start, end, "markup")

    def _find_demands(self, text: str, pattern: Pattern) -> Iterator[Finding]:
        """A file with keys is no demand; reading it and handing it over is one."""
        for start, end in _group(pattern.find_spans(text)):
            near = text[max(0, start - _NEAR) : end + _NEAR]
            wanted = self._take.occurs_in(near) or self._address.occurs_in(near)
            if wanted and self._hand_over.occurs_in(near) and self._order.occurs_in(near):
                yield Finding(start, end, "data-demand")


def _group(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that stand close together as one: a long list of file names is looked at once."""
    first: tuple[int, int] | None = None
    for start, end in spans:
        if first is not None and end - first[0] <= _NEAR:
            first = first[0], end
            continue
        if first is not None:
            yield first
        first = start, end
    if first is not None:
        yield first


@lru_cache(maxsize=8)
def load_wordings(languages: tuple[str, ...], owner: str) -> Wordings:
    """Compiled once for all sessions of a process."""
    return Wordings(languages, owner)
