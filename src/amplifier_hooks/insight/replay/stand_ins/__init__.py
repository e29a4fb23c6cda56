"""What stands for the model, the tools, the people and some of the hooks of a recorded session."""
