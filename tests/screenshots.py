"""Pages as a browser shows them: what is too wide, cut, or too small to read.

``python -m tests.screenshots`` looks at all pages of build/docs, on a desk's screen and on a
telephone's; ``make screenshots`` makes them first. With ``--write FOLDER`` it takes a picture of
each page at both widths, light and dark, for people to look at.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "docs"
SCRIPT = ROOT / "tests" / "support" / "measure_pages.js"
WIDTHS = (1400, 400)  # px: a desk's screen, a telephone's
SCHEMES = {"dark": 0, "light": 1}  # Chromium's numbers
TALLEST = 12000  # px of a picture of a page
SECONDS = 300.0  # that the browser may take for all pages
PATIENCE = 10.0  # seconds until a browser that was asked to end is ended
BROWSER = "chromium"
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run")


class BrowserError(RuntimeError):
    """Raised where no browser is there, or it did not answer."""


@dataclass(frozen=True)
class Seen:
    """A page at a width in pixels: its height there, and what is wrong, one line each."""

    page: str
    width: int
    height: int
    faults: tuple[str, ...]


def browser_there() -> bool:
    """Whether Chromium is installed."""
    return shutil.which(BROWSER) is not None


class _Server(ThreadingHTTPServer):
    """Of a folder on this machine, and of ``harness``, the page that measures the others."""

    def __init__(self, folder: Path, harness: str) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Pages, directory=str(folder)))
        self.harness, self.answered = harness, threading.Event()
        self.found: Any = None


class _Pages(SimpleHTTPRequestHandler):
    """Sends pages, and takes what the one that measures them found."""

    server: _Server

    def do_GET(self) -> None:
        if self.path != "/measure":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self.server.harness.encode())

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.found = json.loads(self.rfile.read(length))
        self.send_response(204)
        self.end_headers()
        self.server.answered.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are no news."""


def measured(folder: Path, pages: Sequence[str], widths: Sequence[int] = WIDTHS) -> list[Seen]:
    """Pages of a folder in a browser, at each width; a `BrowserError` where that fails.

    No element may end beyond the screen unless it scrolls, none may be cut, and no letter, of a
    text or of a picture, may have less than 10 pixels. A text's contrast with its ground is 4.5 at
    least, on light pages and on dark ones.
    """
    if not browser_there():
        raise BrowserError(f"{BROWSER} is not installed; on Debian: apt install {BROWSER}")
    own = f"const PAGES = {json.dumps(list(pages))}, WIDTHS = {json.dumps(list(widths))};"
    harness = f"<!doctype html><body><script>{own}\n{SCRIPT.read_text()}</script></body>"
    with (
        _Server(folder, harness) as server,
        tempfile.TemporaryDirectory() as profile,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/measure"
        size = f"--window-size={max(widths)},900"
        words = [BROWSER, *OPTIONS, size, f"--user-data-dir={profile}", "--remote-debugging-port=0"]
        with subprocess.Popen([*words, address], stderr=subprocess.DEVNULL) as running:
            answered = server.answered.wait(SECONDS)
            running.terminate()
            try:
                running.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                running.kill()
        server.shutdown()
    if not answered:
        raise BrowserError(f"{BROWSER} did not answer in {SECONDS:g} s")
    found = server.found
    if "error" in found:
        raise BrowserError(found["error"])
    return [Seen(x["page"], x["width"], x["height"], tuple(x["faults"])) for x in found]


def write(place: Path, seen: Sequence[Seen], site: Path) -> None:
    """A picture of each page in FOLDER, light and dark, as ``PAGE-WIDTH-dark.png``."""
    place.mkdir(parents=True, exist_ok=True)
    for own in seen:
        for scheme, code in SCHEMES.items():
            picture = place / f"{Path(own.page).stem}-{own.width}-{scheme}.png"
            words = [
                BROWSER,
                *OPTIONS,
                f"--blink-settings=preferredColorScheme={code}",
                f"--window-size={own.width},{min(own.height, TALLEST)}",
                f"--screenshot={picture}",
                (site / own.page).as_uri(),
            ]
            subprocess.run(words, check=True, capture_output=True)


def main() -> int:
    """Print each page's faults; 1 if there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", help="names of pages such as index.html; none: all")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write pictures there")
    own = parser.parse_args()
    pages = own.pages or sorted(path.name for path in SITE.glob("*.html"))
    seen = measured(SITE, pages)
    for page in seen:
        for fault in page.faults:
            print(f"{page.page} at {page.width} px: {fault}")
    if own.write:
        write(own.write, seen, SITE)
    faults = sum(len(page.faults) for page in seen)
    print(f"{len(pages)} pages at {' and '.join(map(str, WIDTHS))} px: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
