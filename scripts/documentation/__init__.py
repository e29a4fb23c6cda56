"""The documentation as a site: what scripts/docs does, step by step."""
