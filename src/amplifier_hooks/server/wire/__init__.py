"""What goes over the wire: bodies, answers, and how values become JSON."""
