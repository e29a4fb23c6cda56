"""The store's database for many machines: PostgreSQL."""
