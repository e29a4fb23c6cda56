"""What a store holds, as values."""
