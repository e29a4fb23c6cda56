"""Foreign text on its way to a person, whichever way it is shown."""

PUBLIC_MODULES = (
    "escape",
    "short_ids",
    "times",
)
