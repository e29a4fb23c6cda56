"""Injecting text into the conversation: limits, framing, placing."""
