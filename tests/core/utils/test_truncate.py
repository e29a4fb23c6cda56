"""Long values and secrets, kept out of logs."""

from __future__ import annotations

from amplifier_core.utils import redact_secrets


def test_redacting_by_key():
    given_data = {
        "api_key": "k", "Authorization": "b", "total_tokens": 5, "empty_password": "",
        "in": [{"my-secret": "s", "path": "/x"}],
    }  # fmt: skip
    assert redact_secrets(given_data) == {
        "api_key": "[REDACTED]", "Authorization": "[REDACTED]", "total_tokens": 5,
        "empty_password": "", "in": [{"my-secret": "[REDACTED]", "path": "/x"}],
    }  # fmt: skip
