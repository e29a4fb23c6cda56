"""Tables of servers as text: read, and changed entry by entry; the rest stays as it is."""
