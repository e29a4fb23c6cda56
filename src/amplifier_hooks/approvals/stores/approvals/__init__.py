"""The life of an approval: asked, decided once, claimed once, ended."""
