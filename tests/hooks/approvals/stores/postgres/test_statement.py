"""How statements for both databases become PostgreSQL's."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.stores.postgres_connection import convert_statement


@pytest.mark.parametrize(
    ("statement", "converted"),
    [
        ("SELECT :id, :other_1", "SELECT %(id)s, %(other_1)s"),
        ("WHERE id=:id AND n<:n", "WHERE id=%(id)s AND n<%(n)s"),
        ("SELECT '1'::int, :n::text", "SELECT '1'::int, %(n)s::text"),
        ("WHERE a LIKE '50% :no' AND b = :b", "WHERE a LIKE '50%% :no' AND b = %(b)s"),
        ("SELECT 'it''s :no', :yes", "SELECT 'it''s :no', %(yes)s"),
        ('SELECT ":no%", 7 % 3', 'SELECT ":no%%", 7 %% 3'),
        ("SELECT 1 -- :no 5%\n, :yes", "SELECT 1 -- :no 5%%\n, %(yes)s"),
        ("SELECT /* :no\n'*/ :yes", "SELECT /* :no\n'*/ %(yes)s"),
        ("AS $f$ SELECT ':a' || $1 || :b $f$ :c", "AS $f$ SELECT ':a' || $1 || :b $f$ %(c)s"),
        ("AS $$ SELECT 5 % 3 $$", "AS $$ SELECT 5 %% 3 $$"),
        ("SELECT unix_now()", "SELECT unix_now()"),
    ],
)
def test_only_the_names_of_values_are_replaced(statement: str, converted: str) -> None:
    """What stands in quotes and comments stays, and so do casts; percent signs are doubled."""
    assert convert_statement(statement) == converted


def test_the_clock_becomes_a_value_where_a_test_brings_its_own() -> None:
    """But not within a text."""
    statement = "SELECT 'unix_now()' WHERE unix_now() < :deadline"
    converted = convert_statement(statement, own_clock=True)
    assert converted == ("SELECT 'unix_now()' WHERE %(store_now)s::double precision < %(deadline)s")
