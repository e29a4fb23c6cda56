"""Text on its way to a terminal: escaped, styled, wrapped, laid out in tables."""
