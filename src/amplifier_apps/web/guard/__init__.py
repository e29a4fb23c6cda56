"""What every request and handshake passes before anything else looks at it."""
