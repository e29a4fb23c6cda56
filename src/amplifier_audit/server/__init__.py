"""A writer of its own, under another user; sessions reach it by a socket and only append."""
