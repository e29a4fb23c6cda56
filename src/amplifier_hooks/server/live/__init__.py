"""Live changes, sent to everybody who looks: one listener on the store, many sockets."""
