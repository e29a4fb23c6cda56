"""What seals are made of: copies of places, their journal, and how they are put back."""
