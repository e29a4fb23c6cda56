"""A local model server: plays a script over HTTP, as Anthropic, OpenAI and Gemini would."""

from amplifier_hooks.agent.model_server.server import ModelServer
from amplifier_hooks.agent.providers.scripted import Failure, Reply, ScriptedCall

__all__ = ["Failure", "ModelServer", "Reply", "ScriptedCall"]
