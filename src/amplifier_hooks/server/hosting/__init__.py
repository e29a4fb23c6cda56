"""Sessions that the server runs for clients of its API."""
