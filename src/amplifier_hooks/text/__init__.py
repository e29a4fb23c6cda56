"""Foreign text on its way to a person, whichever way it is shown."""
