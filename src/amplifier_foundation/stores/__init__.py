"""Where sessions and audit trails are kept."""
