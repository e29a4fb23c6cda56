"""What a person touches: command line, web, adapters for other agents."""
