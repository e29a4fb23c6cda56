"""The words of each language by which instructions to a model are known."""
