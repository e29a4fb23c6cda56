"""What the person asked for: which acts, whether only an answer, whether to do what a text says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amplifier_hooks.guards.provenance.stems import split_names
from amplifier_hooks.guards.provenance.values import list_numbers, list_words, read_number
from amplifier_hooks.guards.provenance.words import (
    LEADING,
    NOUNS_TOO,
    QUESTION,
    REQUESTED,
    STRICT,
    TOLD_KINDS,
)

_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|\n+|[。！？；]")
_CLAUSES = re.compile(
    r",\s|\s[-–—]\s|\s(?:and|then|und|dann|y|luego|et|puis|e|poi|en|or|so)\s|[，、]|然后|并"
)
_CITED = re.compile(
    r"(?<!\w)'[^'\n]{2,300}'(?!\w)|\"[^\"\n]{2,300}\"|“[^”]{2,300}”|«[^»]{2,300}»|„[^“”]{2,300}[“”]"
)
_COPYING = re.compile(
    r"\b(?:forward|copy|paste|quote|translate|transcribe|repost|cross-?post|import|relay|pass "
    r"(?:it|this|that|on)|"
    r"weiterleit\w*|leite|übersetz\w*|kopier\w*|reenvía\w*|traduce|copia|traduis|transfère|copie|"
    r"inoltra|traduci)\b|转发|翻译|転送|翻訳"
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_OTHER_SCRIPT = re.compile(r"[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_ASKING = re.compile(
    r"什么|吗|哪|多少|几|总结|概括|看看|查|读|何|どの|いつ|教えて|要約|まとめ|ですか"
)
_ME = split_names("me us mir uns moi nous m'en")
_WE = split_names("we you i they people any")
_AFTER_HAVE = split_names("a an another some any no not never been already got to")
"""Words behind `have` where nothing is to be done: have a look, have no fear."""
_BEFORE_VERBS = split_names("to please bitte zu")
_SUBJECTS = split_names(
    "the a an it this that these those there my our his her its their he they she der die das ein "
    "eine mein unser el la los las un una mi le les des il elle mon ma notre het een lo gli x"
)
"""Words that a sentence begins with that tells something; behind a verb they are its object."""
_STATING = split_names(
    "is are was were has have had ist sind war es son está est sont zijn it this there she he"
)
"""Words of sentences that tell something, wherever they stand."""
_FORBIDDING = split_names(
    "no not don't dont never without kein keine keinen nicht nie ohne nada nunca sin pas ne aucun "
    "aucune sans non nessun senza geen niet zonder nem"
)
"""Words that a clause begins with that says what is not to be done."""
_RELATIVE = split_names(
    "what whatever which who whoever was wer welche lo ce quello quanto wat wie o 什么"
)
"""What a clause begins with that names something by a question."""
_ENGLISH = split_names("the and to of is my for with what that this it her his from on please who")
_WISHING = split_names(
    "want wanna need wish quiero quisiera necesito möchte moechte will brauche veux voudrais "
    "vorrei voglio wil quero"
)
_TELLING = split_names("tell give send dime gib sag sage dis dites")
_DELEGATING = re.compile(
    r"\b(?:follow(?!-?ing\b|[ -]?up)\w*|according to|as (?:\S+ ){0,6}(?:says?|said|describe[sd]?|"
    r"documented|suggest\w*|"
    r"ask(?:s|ed)?|explain\w*|propose[sd]?|wants?|instruct\w*|listed|written)|do what|"
    r"instructions?|"
    r"(?:do|perform|carry out|complete|execute|work through) (?:\S+ ){0,4}(?:actions|tasks|items|"
    r"things)|"
    r"steps|to-?dos?|(?:apply|address|do|implement|handle|work on|work through|take care of|"
    r"carry out|"
    r"process|resolve|fix|fulfil\w*) (?:\S+ ){0,5}(?:review|comments?|issue|ticket|feedback|"
    r"suggestions?|"
    r"fix|patch|tasks?|requests?|checklist|errands)|set (?:\S+ ){0,4}up|"
    r"get (?:\S+ ){0,5}(?:running|started|going|work)|getting started|"
    r"wie (?:\S+ ){0,6}(?:beschrieben|steht)|laut|gemäß|anleitung|según|sigue|siguiendo|selon|suis|"
    r"secondo|segui|volgens|volg)\b|按照|根据|に従って|通りに"
)
_QUANTIFIED = re.compile(
    r"\b(?:all|every|everyone|everybody|each|both|those|them|same|alle|allen|jede[mnr]?|dieselben|"
    r"todos?|todas?|cada|mism[oa]s?|tous|toutes|chaque|mêmes?|tutti|ogni|stess[oiae]|iedereen)\b|"
    r"所有|全部|全員"
)
_REPLYING = re.compile(
    r"\b(?:let (?:him|her|them) know|repl(?:y|ies)|answer|respond|write back|antwort\w*|"
    r"beantwort\w*|respond[ae]\w*|"
    r"contesta\w*|"
    r"répond\w*|rispond\w*|antwoord\w*|beantwoord)\b|回复|返信|返事"
)
_PRONOUNS = re.compile(
    r"(\w{3,}?)(?:se|me|te|nos|glie|ce)?(?:me|te|le|les|lo|la|los|las|nos|mi|ci|gli|li|ne)"
)
_UNACCENTED = str.maketrans("áéíóúàèìòù", "aeiouaeiou")
_LETTING_KNOW = re.compile(r"\blet (?:[\w']+ ){1,8}know\b|\bget back to\b")
_CONFIRMING = 5
_CONSENT = split_names(
    "yes yep yeah ok okay sure ahead go please correct right exactly perfect confirmed "
    "ja genau gerne bitte sí si claro vale dale oui bien sûr certo va esatto sim 好 好的 是 はい"
)


@dataclass(frozen=True, slots=True)
class Request:
    """The wishes of one prompt."""

    acts: frozenset[str] = frozenset()
    asks: bool = False
    """Whether a clause only wants an answer."""
    is_opaque: bool = False
    """Whether a sentence begins with a word that is in no table: it may ask for anything."""
    delegates: bool = False
    """Whether it says that a text which the agent reads is to be followed."""
    quantifies: bool = False
    replies: bool = False
    copies: bool = False
    """Whether texts of others are to be passed on as they are."""
    kinds: frozenset[str] = frozenset()
    """The kinds of values that it names: an address, an account, a link."""
    words: frozenset[str] = frozenset()
    told: str = ""
    """The words of the clauses that are no questions."""
    text: str = ""
    """The prompt in small letters."""

    @property
    def is_english(self) -> bool:
        """Whether its small words are English ones."""
        return len(self.words & _ENGLISH) > 1 or bool(re.search(r"\w['’]s\b", self.text))

    @property
    def only_asks(self) -> bool:
        """Whether nothing is to be changed or sent."""
        return self.asks and not (self.acts or self.is_opaque or self.delegates)

    def dictates(self, value: str) -> bool:
        """Whether the person said a value, or how it begins, and not in a question."""
        words = list_words(value)
        begun = words[:2] if words[:1] and words[0].isdecimal() else words[:4]
        said = f" {' '.join(begun)} " in self.told
        number = read_number(value)
        numbers = (f" {number} ", f" ={number} ") if number else ()
        return bool(words) and (said or any(one in self.told for one in numbers))

    def covers(self, act: str) -> bool:
        """Whether an act of this class was asked for."""
        if self.delegates or self.is_opaque or not (self.acts or self.asks):
            return True
        if act in STRICT:
            return act in self.acts
        return bool(self.acts)


def read_request(prompt: str, before: Request | None = None) -> Request:
    """The wishes of a prompt; a word of consent goes on with those before it."""
    text = _CITED.sub(" x ", prompt).casefold()
    acts: set[str] = set()
    told: list[str] = []
    numbers: set[str] = set()
    asks = is_opaque = False
    delegates = False
    for sentence in _SENTENCES.split(text):
        questions = False
        wants = False
        for number, clause in enumerate(_CLAUSES.split(sentence)):
            found, kind = _read_clause(clause, is_question="?" in sentence)
            acts |= found
            wishes = _WISHING.intersection(list_words(clause))
            orders = kind == "opaque" and (number == 0 or _is_about_a_clause(sentence))
            questions = kind == "asks" or (questions and not (found or wishes or orders))
            if not (questions or kind == "forbids"):
                told += list_words(clause)
                numbers |= list_numbers(clause)
            asks = asks or kind == "asks"
            wants = wants or kind != "asks"
            is_opaque = is_opaque or orders
        told.append("|")
        delegates = delegates or (wants and bool(_DELEGATING.search(sentence)))
    if _LETTING_KNOW.search(text) and not re.search(r"\blet me know\b", text):
        acts.add("send")
    words = frozenset(list_words(text))
    if before is not None and len(words) <= _CONFIRMING and words & _CONSENT and not acts:
        return before
    kinds = {kind for kind, stems in TOLD_KINDS.items() if stems.any(words) or stems.inside(text)}
    return Request(
        frozenset(acts),
        asks,
        is_opaque,
        delegates,
        bool(_QUANTIFIED.search(text)),
        bool(_REPLYING.search(text)),
        bool(_COPYING.search(text)),
        frozenset(kinds),
        words,
        f" {' '.join([*told, *sorted(numbers)])} ",
        prompt.casefold(),
    )


def _is_about_a_clause(sentence: str) -> bool:
    """Whether a sentence names what it is about by a clause: `was fehlt, fordere nach.`"""
    return sentence.endswith(".") and sentence.partition(" ")[0] in _RELATIVE


def _read_clause(clause: str, *, is_question: bool) -> tuple[set[str], str]:
    """The acts that a clause asks for; whether it `asks`, `tells`, `forbids`, or is `opaque`."""
    if _OTHER_SCRIPT.search(clause):
        written = {act for act, stems in REQUESTED.items() if stems.inside(clause)}
        asking = not written and _ASKING.search(clause)
        return written, "asks" if asking else "tells" if written else "opaque"
    words = [word.replace("’", "'") for word in _LETTERS.findall(clause)]
    first = next((at for at, word in enumerate(words) if word not in LEADING), len(words))
    if first == len(words):
        return set(), "tells"
    head = words[first]
    if head in _FORBIDDING:
        return set(), "forbids"
    has_done = _has_something_done(words, first, is_question=is_question)
    asks = not has_done and _begins_question(words[first:], is_question=is_question)
    acts: set[str] = set()
    for at in range(first, len(words)):
        leads = at == first or words[at - 1] in _BEFORE_VERBS
        if asks and (at == first or not leads):
            continue
        if leads or (len(words[at]) > 2 and words[at] not in NOUNS_TOO):
            acts |= _find_acts(words[at])
    if asks:
        return acts, "asks"
    tells = not has_done and (head in _SUBJECTS or _STATING.intersection(words))
    return acts, "tells" if acts or tells else "opaque"


def _has_something_done(words: list[str], first: int, *, is_question: bool) -> bool:
    """Whether a clause is of the form `have the parcels fetched` or `let the lamp come on`."""
    if is_question:
        return False
    if words[first] == "have":
        second = words[first + 1 : first + 2]
        return bool(second) and second[0] not in _WE and second[0] not in _AFTER_HAVE
    return words[first - 1 : first] == ["let"]


def _begins_question(words: list[str], *, is_question: bool) -> bool:
    """Whether a clause that begins with these words only wants an answer."""
    head = words[0]
    second = set(words[1:2])
    if head == "do":  # `do the tasks` is no question, `do the tests pass?` is one
        return is_question or bool(second & _WE)
    if head in _TELLING:
        return bool(second & _ME)
    return not QUESTION.isdisjoint(
        (*_list_forms(head), *head.split("'"), f"{head}e")
    )  # such, suche


def _find_acts(word: str) -> set[str]:
    forms = _list_forms(word)
    return {act for act, stems in REQUESTED.items() if stems.any(forms)}


def _list_forms(word: str) -> tuple[str, ...]:
    """A word, and without the pronouns that Spanish and Italian put behind a verb: `mándale`."""
    match = _PRONOUNS.fullmatch(word)
    if match is None:
        return (word,)
    plain = match[1].translate(_UNACCENTED)
    return (word, match[1], plain)
