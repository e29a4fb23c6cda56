"""How text is kept from the eyes of people, or from the patterns of a guard."""
