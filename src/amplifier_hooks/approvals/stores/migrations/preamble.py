"""What a database needs before the first step: a lock against others who migrate, and the clock."""

from __future__ import annotations

SQLITE: tuple[str, ...] = ()
"""Nothing: whoever writes is alone, and the engine brings the clock."""

POSTGRES: tuple[str, ...] = (
    "SELECT pg_advisory_xact_lock(7158232184)",
    # STABLE, so that an index serves comparisons with it.
    """
    DO $do$ BEGIN
        IF to_regprocedure('unix_now()') IS NULL THEN
            CREATE FUNCTION unix_now() RETURNS DOUBLE PRECISION LANGUAGE sql STABLE
            AS 'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)';
        END IF;
    END $do$
    """,
)
