"""Log lines of this package have their secrets replaced."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from amplifier_hooks.guards.redaction.log_filter import SecretFilter, watch_logs


def redact(text: str) -> str:
    return text.replace("hunter2", "***") if "hunter2" in text else text


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a handler of the root logger writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)


def test_messages_arguments_and_tracebacks_are_cleaned(written: io.StringIO) -> None:
    """Whatever part of a line has the secret; the rest of the line stays."""
    end = watch_logs(redact)
    log = logging.getLogger("amplifier_core.anything")
    log.error("it is %s", "hunter2")
    try:
        int("hunter2")
    except ValueError:
        log.exception("failed %d times", 3)
    end()
    text = written.getvalue()
    assert "hunter2" not in text
    assert "it is ***" in text
    assert "failed 3 times" in text
    assert "ValueError: invalid literal for int() with base 10: '***'" in text
    log.error("it is %s", "hunter2")
    assert "it is hunter2" in written.getvalue()


def test_the_lines_of_the_application_stay_as_they_are(written: io.StringIO) -> None:
    """Only loggers of this package are ours to rewrite."""
    end = watch_logs(redact)
    logging.getLogger("somebody.else").error("it is hunter2")
    end()
    assert "it is hunter2" in written.getvalue()


def test_a_line_that_cannot_be_looked_through_is_withheld() -> None:
    """Fails closed, and never raises into what it tells of."""
    record = logging.LogRecord("amplifier_x", logging.ERROR, "f", 1, "%d hunter2", ("a",), None)
    assert SecretFilter(redact).filter(record)
    assert record.getMessage() == "[withheld: TypeError]"
