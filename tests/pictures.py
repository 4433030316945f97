"""The pictures of docs/pictures.md, made by the commands that stand beside them, and its charts.

``python -m tests.pictures`` writes them again; ``make pictures`` does.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rbdgen.cli.main import main
from tests.charts import charts

DOCS = Path(__file__).parent.parent / "docs"
ROW = re.compile(r"^\| \[.*\]\((\S+\.svg)\) \| `rbdgen (.+)` \| `D/(\S+)` \|$", re.MULTILINE)


@dataclass(frozen=True)
class Picture:
    """``command`` writes ``file`` into the folder that it calls D; kept as docs/``name``."""

    name: str
    command: str
    file: str

    @property
    def quick(self) -> bool:
        """Whether it takes few seconds, as whatever is small enough to be a pendulum's does."""
        return not re.search("iiwa14|hyq", self.command)

    def made(self, folder: Path) -> bytes:
        """As the command draws it, within an empty folder."""
        place = folder / "D"
        words = [str(place) if word == "D" else word for word in shlex.split(self.command)]
        assert main(words) == 0, self.command
        return (place / self.file).read_bytes()


PICTURES = [Picture(*found) for found in ROW.findall((DOCS / "pictures.md").read_text())]

if __name__ == "__main__":
    for chart in charts():
        (DOCS / chart.name).write_text(chart.drawn())
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            (DOCS / picture.name).write_bytes(picture.made(Path(folder)))
