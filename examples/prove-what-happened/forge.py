"""Make two forgeries of the newest trail: one with another invoice in it, one without its end."""

import shutil
from pathlib import Path

OUT = Path(__file__).parent / "out"


def copy_trail(name: str) -> Path:
    """A copy of the newest trail; returns the file with its records."""
    newest = max((OUT / "trail").iterdir(), key=lambda folder: folder.stat().st_mtime)
    shutil.rmtree(OUT / name, ignore_errors=True)
    return next(Path(shutil.copytree(newest, OUT / name)).glob("*.jsonl"))


edited = copy_trail("edited")
edited.write_text(edited.read_text().replace("invoice 17", "invoice 18"))
cut = copy_trail("cut")
cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:60]))
(cut.parent / "state").unlink()  # it says how many records there were
print("out/edited says that invoice 18 was paid; out/cut has only the first 60 records.")
