"""What each adapter sees; can be read without importing any framework."""
