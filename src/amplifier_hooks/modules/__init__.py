"""What our modules share: options, registrations, event patterns, extras, ids of calls."""
