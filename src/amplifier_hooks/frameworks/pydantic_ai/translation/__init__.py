"""What Pydantic AI has and what hooks see, in both directions."""
