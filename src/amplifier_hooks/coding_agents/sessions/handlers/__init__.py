"""The moments of an agent's session: what each event of it means here."""
