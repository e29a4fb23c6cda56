"""The script files that hooks name, and what is done so that they run as a person has seen them."""
