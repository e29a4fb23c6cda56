"""What people were asked, read from a store that nothing here can write to."""
