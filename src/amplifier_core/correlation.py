"""The id that a request to a model shares with its answer and its failures."""

from __future__ import annotations

from amplifier_core.utils.request_ids import current_request_id

__all__ = ["current_request_id"]
