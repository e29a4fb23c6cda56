"""Sessions of programs elsewhere, which have their events judged over HTTP."""
