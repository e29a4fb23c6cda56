"""Trust: what a bundle would run, whether a person has seen it, and what has changed since."""

PUBLIC_MODULES = (
    "comparison",
    "difference",
    "material",
    "store",
)
