"""Secrets: their shapes, their place in a text, and hiding them."""

from __future__ import annotations

from amplifier_hooks.guards.policy.secrets.redactor import SHAPES, Redactor, Span
from amplifier_hooks.guards.policy.secrets.shapes import TOKENS

__all__ = ["SHAPES", "TOKENS", "Redactor", "Span"]

PUBLIC_MODULES = ("stream",)
