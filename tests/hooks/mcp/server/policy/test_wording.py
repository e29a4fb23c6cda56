"""An answer to a call in one sentence."""

from __future__ import annotations

from typing import get_args

import pytest

from amplifier_hooks.mcp.server.policy.checking import Verdict
from amplifier_hooks.mcp.server.policy.wording import explain


@pytest.mark.parametrize("answer", get_args(Verdict))
def test_every_answer_has_its_sentence(answer: str) -> None:
    """The session is mentioned where it could still matter, shadow mode always."""
    plain = explain(answer, enforced=True, depends=False)
    assert plain.endswith(".")
    dependent = explain(answer, enforced=True, depends=True)
    assert ("may still stop it" in dependent) == (answer not in ("deny", "unknown"))
    assert "shadow mode" in explain(answer, enforced=False, depends=False)
