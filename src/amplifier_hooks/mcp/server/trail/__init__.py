"""What happened: the trails of this scope, searched, counted and verified."""
