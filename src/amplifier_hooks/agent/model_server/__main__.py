"""python -m amplifier_hooks.agent.model_server script.yaml --port N"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from amplifier_audit.streams import announce, is_output_failure, print_error, run_program
from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.model_server.server import ModelServer
from amplifier_hooks.agent.providers.scripted import read_script


def _parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m amplifier_hooks.agent.model_server",
        description="Play a script in the protocols of Anthropic, OpenAI and Gemini.",
    )
    parser.add_argument("script", help="YAML file with the replies")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8765, help="0 chooses a free one")
    parser.add_argument("--api-key", help="refuse requests with any other key")
    parser.add_argument(
        "--when-done",
        choices=["close", "raise", "repeat"],
        default="repeat",
        help="what to do after the last reply",
    )
    parser.add_argument(
        "--per-conversation",
        action="store_true",
        help="choose the reply by the length of the conversation, so that several can run at once",
    )
    return parser.parse_args(argv)


async def _serve(options: argparse.Namespace) -> None:
    server = ModelServer(
        await asyncio.to_thread(read_script, options.script),
        host=options.host,
        port=options.port,
        api_key=options.api_key,
        when_done=options.when_done,
        per_conversation=options.per_conversation,
    )
    async with server:
        announce(f"Anthropic: {server.url}")
        announce(f"OpenAI:    {server.openai_url}")
        announce(f"Gemini:    {server.url}")
        await server.serve_forever()


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until interrupted; a bad script or port is reported in one sentence."""
    try:
        asyncio.run(_serve(_parse_arguments(argv)))
    except (ModuleLoadError, OSError) as failure:
        if not is_output_failure(failure):
            print_error(str(failure))
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    run_program(main)
