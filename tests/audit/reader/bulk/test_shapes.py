"""What fits a shape, the strict parser takes; and nothing else is promised."""

from __future__ import annotations

import pytest

from amplifier_audit.own_records import OWN_TYPES
from amplifier_audit.quick_lines import (
    ENOUGH,
    EVERY,
    MOST_BUILDS,
    MOST_SHAPES,
    MOST_TOKENS,
    Shape,
    Shapes,
)
from amplifier_audit.record import parse_inner
from tests.audit.reader.bulk.odd_records import ODD_VALUES, is_taken, make_content, spoil_content

# One of each kind.
ALL = (b'"x"', rb'"\n"', rb'"\u00e9"', b"1", b"null")
LEARNED = EVERY * ENOUGH
PLAIN = (
    b'"time":"t","mono":1,"session":%b,"turn":2,"event":"e","hook":null,"registration":3,'
    b'"type":"kind","body":{"a":%b}'
)


def learn(shapes: Shapes, *contents: bytes) -> None:
    """Until there is a shape."""
    for _ in range(LEARNED):
        for content in contents:
            shapes.learn(content, parse_inner(content)["type"])


def find(shapes: Shapes, content: bytes) -> Shape | None:
    """Within a line, so that the place counts."""
    return shapes.find(b"xx" + content + b"yyy", 2, 2 + len(content))


@pytest.fixture(scope="module")
def learned() -> Shapes:
    """The shapes of the records that writers make."""
    shapes = Shapes()
    for seed in range(6000):
        content = make_content(seed)
        shapes.learn(content, parse_inner(content)["type"])
    return shapes


def test_records_like_those_before_have_a_shape(learned: Shapes) -> None:
    """Else there would be no use in them, and the tests below would prove nothing."""
    assert all(find(learned, make_content(seed)) for seed in range(6000, 7000))


def test_what_fits_a_shape_the_strict_parser_takes(learned: Shapes) -> None:
    """Whatever is odd about it."""
    fitting = taken = 0
    for seed in range(20_000):
        content = spoil_content(make_content(seed), seed)
        if find(learned, content):
            assert is_taken(content), content
            fitting += 1
        else:
            taken += is_taken(content)
    # Of both there were many: those that differ in values only, and those for the strict parser.
    assert fitting > 500
    assert taken > 100


def test_no_odd_value_comes_through_a_hole() -> None:
    """In the body, and in a member of the line."""
    shapes = Shapes()
    learn(shapes, *(PLAIN % (value, other) for value in ALL for other in ALL))
    assert find(shapes, PLAIN % (b'"z"', b'"y"'))
    for value in ODD_VALUES:
        for content in (PLAIN % (b'"s"', value), PLAIN % (value, b'"x"')):
            assert is_taken(content) or not find(shapes, content), content
        timeless = (PLAIN % (b'"s"', b'"x"')).replace(b'"t"', value)
        assert is_taken(timeless) or not find(shapes, timeless), value


def test_the_time_is_always_a_text() -> None:
    """A number there is JSON, and no record."""
    shapes = Shapes()
    learn(shapes, PLAIN % (b'"s"', b"1"), PLAIN % (b'"s"', b"2"))
    assert not find(shapes, (PLAIN % (b'"s"', b"1")).replace(b'"t"', b"7"))


def test_a_hole_takes_values_like_those_before() -> None:
    """Whatever they are."""
    kinds = [
        (b'"a"', b'"~ b!"', b'""'),
        (rb'"\n"', rb'"\"\\\/\b\f\n\r\t"', b'"plain"', b'""'),
        (rb'"\u00e9"', rb'"\n\"\u007f\ud7ff\ue000\ud83d\ude00"', b'"plain"', rb'"\t"'),
        (b"1", b"-12.5", b"0", b"-0.25", b"123456789012345.12345678901234567"),
        (b"null", b"true", b"false"),
    ]
    for known, *others in kinds:
        shapes = Shapes()
        learn(shapes, PLAIN % (b'"s"', known), PLAIN % (b'"s"', others[0]))
        for value in others:
            assert find(shapes, PLAIN % (b'"other"', value))
    shapes = Shapes()
    learn(shapes, *(PLAIN % (b'"s"', known) for known, *_ in kinds))
    assert all(find(shapes, PLAIN % (b'"s"', value)) for kind in kinds for value in kind)


def test_what_never_differed_is_a_part_of_the_shape() -> None:
    """Until it differs often enough."""
    shapes = Shapes()
    learn(shapes, PLAIN % (b'"s"', b'"x"'))
    assert find(shapes, PLAIN % (b'"t"', b'"x"'))
    assert not find(shapes, PLAIN % (b'"s"', b'"y"'))
    learn(shapes, PLAIN % (b'"s"', b'"y"'))
    assert find(shapes, PLAIN % (b'"s"', b'"y"'))
    assert find(shapes, PLAIN % (b'"s"', b'"z"'))


@pytest.mark.parametrize("kind", sorted(OWN_TYPES))
def test_the_records_of_the_log_itself_have_no_shape(kind: str) -> None:
    """Not even if their type is spelled in an odd way: the verifier must look at them."""
    plain = PLAIN % (b'"s"', b"1")
    odd = f'"\\u{ord(kind[0]):04x}{kind[1:]}"'.encode()
    for spelled in (f'"{kind}"'.encode(), odd):
        shapes = Shapes()
        content = plain.replace(b'"kind"', spelled)
        learn(shapes, content, content, content)
        assert parse_inner(content)["type"] == kind
        assert not find(shapes, content)


def test_a_shape_of_another_type_does_not_fit() -> None:
    """The type is compared byte by byte."""
    shapes = Shapes()
    learn(shapes, PLAIN % (b'"s"', b"1"))
    assert not find(shapes, (PLAIN % (b'"s"', b"1")).replace(b'"kind"', b'"checkpoint"'))


def test_a_shape_knows_whether_it_names_a_session() -> None:
    """The first session of a log is a claim that must not be passed over."""
    shapes = Shapes()
    named, nameless = PLAIN % (b'"s"', b"1"), PLAIN % (b"null", b"1")
    learn(shapes, named, nameless)
    found = [find(shapes, named), find(shapes, nameless)]
    assert [shape and shape.names_session for shape in found] == [True, False]
    # A shape without a session has no place for one.
    only = Shapes()
    learn(only, nameless)
    assert not find(only, named)


def test_blanks_and_containers_in_the_members_make_no_shape() -> None:
    """They are right, but no writer makes them: the strict parser reads them."""
    for content in (
        (PLAIN % (b'"s"', b"1")).replace(b'"a":1', b'"a": 1'),
        (PLAIN % (b'"s"', b"1")).replace(b'"e"', b'{"e":1}'),
    ):
        shapes = Shapes()
        learn(shapes, content)
        assert not find(shapes, content)


def test_records_with_very_many_values_make_no_shape() -> None:
    """It would take longer to make than it saves."""
    shapes = Shapes()
    content = PLAIN % (b'"s"', b"[" + b"1," * MOST_TOKENS + b"1]")
    learn(shapes, content)
    assert not find(shapes, content)


def test_the_number_of_shapes_is_bounded() -> None:
    """The newest ones of a type are kept."""
    shapes = Shapes()
    builds = [PLAIN % (b'"s"', b'{"%d":1}' % number) for number in range(MOST_SHAPES + 3)]
    for content in builds:
        learn(shapes, content)
    assert sum(bool(find(shapes, content)) for content in builds) == MOST_SHAPES
    assert find(shapes, builds[-1])


def test_the_number_of_builds_is_bounded() -> None:
    """No two records are alike: nothing is learned, and nothing grows."""
    shapes = Shapes()
    for number in range(MOST_BUILDS + 2):
        for _ in range(EVERY):
            shapes.learn(PLAIN % (b'"s"', b'{"%d":1}' % number), "kind")
    assert len(shapes._builds) == 2


def test_the_number_of_types_is_bounded() -> None:
    """Each has a shape of its own; when there are too many, all are learned anew."""
    shapes = Shapes()
    plain = PLAIN % (b'"s"', b"1")
    contents = [plain.replace(b'"kind"', b'"kind-%d"' % number) for number in range(MOST_BUILDS)]
    for content in contents:
        learn(shapes, content)
    assert all(find(shapes, content) for content in contents)
    learn(shapes, plain)
    assert find(shapes, plain)
    assert not any(find(shapes, content) for content in contents)
