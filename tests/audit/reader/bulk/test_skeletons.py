"""What has a known skeleton, the strict parser takes; and nothing else is promised."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from amplifier_audit.own_records import OWN_TYPES
from amplifier_audit.quick_lines import LONGEST, MOST_SKELETONS, OFTEN, Skeletons
from tests.audit.reader.bulk.odd_records import ODD_VALUES, is_taken, make_content, spoil_content

PLAIN = (
    b'"time":"2026-11-18T01:40:51.225228601Z","mono":697798484,"session":"s-1","turn":12,'
    b'"event":"e","hook":null,"registration":3,"type":"kind","body":{"a":%b}'
)
DIGIT = re.compile(rb"[0-9]")


def learn(*contents: bytes) -> Skeletons:
    """Those of contents that were met often."""
    skeletons = Skeletons()
    for content in contents:
        assert is_taken(content)
        meet_often(skeletons, content)
    return skeletons


def meet_often(skeletons: Skeletons, content: bytes) -> None:
    for _ in range(OFTEN):
        skeletons.learn(content)


def is_known(skeletons: Skeletons, content: bytes) -> bool:
    """Among others."""
    known = PLAIN % b"1"
    meet_often(skeletons, known)
    return 1 not in skeletons.find_unknown([known, content, known])


def change_digits(content: bytes, seed: int) -> bytes:
    """Some other digits, many of them a 0."""
    chance = random.Random(seed)
    for place in chance.choices([found.start() for found in DIGIT.finditer(content)], k=4):
        digit = chance.choice((b"0", b"%d" % chance.randrange(10)))
        content = content[:place] + digit + content[place + 1 :]
    return content


def spoil_all(seed: int) -> Iterator[bytes]:
    """One content with something that is odd, and one with other digits."""
    yield spoil_content(make_content(seed), seed)
    yield change_digits(make_content(seed), seed)


def test_other_digits_are_known() -> None:
    """As many as before, wherever they are."""
    skeletons = learn(PLAIN % b'{"b":[0.5,"x9"],"c":-12.50}')
    assert is_known(skeletons, PLAIN % b'{"b":[7.0,"x0"],"c":-99.01}')
    assert not is_known(skeletons, PLAIN % b'{"b":[7.0,"x0"],"c":-9.01}')


def test_what_is_met_seldom_is_not_known() -> None:
    """Most texts are never met again, and to look at them closely takes a while."""
    skeletons = Skeletons()
    for _ in range(OFTEN - 1):
        skeletons.learn(PLAIN % b"1")
    assert skeletons.find_unknown([PLAIN % b"1"]) == [0]
    skeletons.learn(PLAIN % b"2")
    assert skeletons.find_unknown([PLAIN % b"1", b"", PLAIN % b"3"]) == [1]


@pytest.mark.parametrize("value", [b"10", b"-10", b"10.5", b"[10]", b"[1,10]", b'{"b":100}'])
def test_no_number_begins_with_a_0(value: bytes) -> None:
    """One of several digits, wherever it stands."""
    skeletons = learn(PLAIN % value)
    assert is_known(skeletons, PLAIN % value.replace(b"10", b"98"))
    wrong = PLAIN % value.replace(b"10", b"01")
    assert not is_taken(wrong)
    assert not is_known(skeletons, wrong)


@pytest.mark.parametrize(("old", "new"), [(b":697", b":097"), (b'"turn":12', b'"turn":02')])
def test_no_number_of_a_member_begins_with_a_0(old: bytes, new: bytes) -> None:
    """Each of them is looked at, however many there are."""
    for value in (b"1", b"12", b"[12,34,56]", b'{"b":12,"c":34,"d":56,"e":78}'):
        skeletons = learn(PLAIN % value)
        assert is_known(skeletons, PLAIN % value)
        assert not is_known(skeletons, (PLAIN % value).replace(old, new))


def test_every_number_is_looked_at() -> None:
    """By its place, none is left out."""
    for count in range(8):
        numbers = [b"12"] * count
        skeletons = learn(PLAIN % (b"[%b]" % b",".join(numbers)))
        for place in range(count):
            wrong = [b"02" if place == one else b"12" for one in range(count)]
            assert not is_known(skeletons, PLAIN % (b"[%b]" % b",".join(wrong)))


def test_a_record_without_long_numbers_is_known() -> None:
    """There is nothing to look at in it."""
    small = re.sub(rb"\b(697798484|12)\b", b"7", PLAIN % b"1")
    assert learn(small).find_unknown([small, small.replace(b"7", b"0")]) == []


@pytest.mark.parametrize(
    ("taken", "wrong"),
    [
        (b'{"b1":1,"b2":2}', b'{"b1":1,"b1":2}'),
        (rb'{"\u0061":1,"\u0062":2}', rb'{"\u0061":1,"\u0061":2}'),
        (rb'"\ud83d\ude00"', rb'"\ud03d\ude00"'),
        (rb'"\ud700"', rb'"\ud800"'),
        (b"1e100", b"1e999"),
        (b"1E100", b"1E999"),
        (b"1000000000000000", b"9999999999999999"),
        (b"[-1000000000000000]", b"[-9999999999999999]"),
    ],
)
def test_what_other_digits_make_wrong_is_not_learned(taken: bytes, wrong: bytes) -> None:
    """The strict parser must see each of them."""
    skeletons = learn(PLAIN % taken)
    assert not is_taken(PLAIN % wrong)
    assert not is_known(skeletons, PLAIN % wrong)
    assert not is_known(skeletons, PLAIN % taken)


def test_digits_do_not_make_a_record_one_of_the_log_itself() -> None:
    """No such type has a digit, so none has the skeleton of another one."""
    assert not any(DIGIT.search(kind.encode()) for kind in OWN_TYPES)


def test_what_has_a_known_skeleton_the_strict_parser_takes() -> None:
    """Whatever is odd about it, and whatever was learned before."""
    skeletons, known = Skeletons(), 0
    for seed in range(10_000):
        for content in (make_content(seed), *spoil_all(seed)):
            if not skeletons.find_unknown([content]):
                assert is_taken(content), content
                known += 1
            elif is_taken(content):
                skeletons.learn(content)
    assert known > 8000


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
def test_no_odd_value_is_known(value: bytes) -> None:
    """Unless the strict parser takes it."""
    content = PLAIN % value
    skeletons = learn(*(PLAIN % one for one in ODD_VALUES if is_taken(PLAIN % one)))
    assert is_taken(content) or not is_known(skeletons, content)


def test_blanks_between_the_tokens_are_not_learned() -> None:
    """They are right, but no writer makes them."""
    content = (PLAIN % b"1").replace(b'"a":1', b'"a": 1')
    assert not is_known(learn(content), content)


def test_long_records_are_not_learned() -> None:
    """There may be many, and they are to be kept."""
    longest = PLAIN % (b'"%b"' % (b"x" * (LONGEST - len(PLAIN % b'""'))))
    assert is_known(learn(longest), longest)
    longer = longest.replace(b'x"', b'xx"')
    assert not is_known(learn(longer), longer)


def name_number(number: int) -> bytes:
    """A text of its own for each number, without a digit."""
    return bytes(ord("a") + int(digit) for digit in str(number))


def test_the_number_of_skeletons_is_bounded() -> None:
    """When there are too many, all are learned anew."""
    skeletons = Skeletons()
    contents = [PLAIN % (b'"%b"' % name_number(number)) for number in range(MOST_SKELETONS + 1)]
    for content in contents[:-1]:
        meet_often(skeletons, content)
    assert skeletons.find_unknown(contents) == [MOST_SKELETONS]
    meet_often(skeletons, contents[MOST_SKELETONS])
    assert skeletons.find_unknown(contents) == list(range(MOST_SKELETONS))


def test_those_that_are_met_once_do_not_drive_out_the_others() -> None:
    """However many they are."""
    skeletons = learn(PLAIN % b"1")
    for number in range(3 * MOST_SKELETONS):
        skeletons.learn(PLAIN % (b'"%b"' % name_number(number)))
    assert skeletons.find_unknown([PLAIN % b"2"]) == []
