"""An agent of our own: sessions from bundles, trust, tools, loops, contexts and providers."""

PUBLIC_MODULES = (
    "bundles",
    "loops",
    "session",
    "tools",
    "trust",
)
