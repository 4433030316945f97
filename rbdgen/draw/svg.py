"""SVG: shapes and text, as few as a diagram needs, and the colours of functions and stages.

A colour means the same in every picture. The bytes of a document are the same every time.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from ..system.quoting import lines
from ..tasks.routes import CODES
from ..tasks.stages import Accelerator

SERIES = ("#2f6db3", "#a7611a", "#278152", "#b23a6b", "#5a4fcf", "#697918", "#0c7b9b", "#8a52b5")
REGIONS = ("#2f6db3", "#278152", "#5a4fcf", "#a7611a", "#0c7b9b", "#b23a6b", "#697918", "#8a52b5")
GREY, GRID = "#6b7280", "#e3e7eb"  # of axes, and lines behind what is drawn
IDLE = "#eef1f4"  # of what is free

_FUNCTIONS = (
    "#2464b4",
    "#b15b0a",
    "#1d8247",
    "#8a5a2b",
    "#7b3fb5",
    "#c42b3a",
    "#097d8f",
    "#c13d91",
    "#6b7911",
    "#4b5563",
)
_STAGES = (  # pale: dark text stands on them
    "#fde3a7",
    "#b9d6f2",
    "#c9e7c3",
    "#e3d0ee",
    "#f6c6b4",
    "#b5e3e0",
    "#e6dcc8",
    "#d5dae1",
    "#f3c9dd",
    "#dbe7a5",
)


def of_function(function: str) -> str:
    """The colour of a function, by its code."""
    return _FUNCTIONS[CODES[function] % len(_FUNCTIONS)]


def of_stage(accelerator: Accelerator, stage: str) -> str:
    """The colour of a stage, by its place among the stages."""
    return _STAGES[list(accelerator.stages).index(stage) % len(_STAGES)]


FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
INK, PAPER = "#1f2933", "#ffffff"
NIGHT = "#171717"  # PAPER on dark pages
SHADE = 0.62  # the largest opacity of a colour under which ink has a contrast of 4.5
LETTER, DIGIT = 0.57, 0.65  # mean width of a letter, and of a digit or sign, in font sizes

Point = tuple[float, float]


def document(width: float, height: float, title: str) -> ET.Element:
    """An empty page; sizes are in pixels, y runs downwards."""
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {number(width)} {number(height)}",
        "width": number(width),
        "height": number(height),
        "font-family": FONT,
        "fill": INK,
    }
    page = ET.Element("svg", attributes)
    ET.SubElement(page, "title").text = title
    rectangle(page, 0, 0, width, height, PAPER)
    return page


def to_text(page: ET.Element) -> str:
    """The document; what cannot be seen, which XML has no place for, is not in its texts.

    Where the reader's pages are dark, every colour is the one of `night`.
    """
    for element in page.iter():
        element.text = element.text and lines(element.text)
    used = dict.fromkeys(
        (kind, colour)
        for element in page.iter()
        for kind in ("fill", "stroke")
        if (colour := element.get(kind, "")).startswith("#")
    )
    rules = "".join(f'[{kind}="{colour}"]{{{kind}:{night(colour)}}}' for kind, colour in used)
    style = ET.Element("style")
    style.text = f"@media (prefers-color-scheme: dark) {{{rules}}}"
    page.insert(1, style)  # behind the title
    ET.indent(page)
    return ET.tostring(page, encoding="unicode") + "\n"


def group(parent: ET.Element, hint: str = "", **attributes: str) -> ET.Element:
    """A group; ``hint`` is what a viewer shows under the pointer. ``class_`` stands for class."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    element = ET.SubElement(parent, "g", named)
    if hint:
        ET.SubElement(element, "title").text = hint
    return element


def line(
    parent: ET.Element, points: Sequence[Point], colour: str, width: float, arrow: bool = False
) -> None:
    """Straight from point to point; the arrow's tip points to the right."""
    d = " ".join(f"{'L' if k else 'M'}{number(x)} {number(y)}" for k, (x, y) in enumerate(points))
    path(parent, d, colour, width)
    if arrow:
        tip(parent, points[-1], colour)


def path(parent: ET.Element, d: str, colour: str, width: float, dashes: str = "") -> None:
    """A line that need not be straight; ``dashes`` as in SVG, none: a full line."""
    attributes = {"d": d, "fill": "none", "stroke": colour, "stroke-width": number(width)}
    if dashes:
        attributes["stroke-dasharray"] = dashes
    ET.SubElement(parent, "path", attributes)


def tip(parent: ET.Element, at: Point, colour: str) -> None:
    """An arrow's, to the right."""
    x, y = map(number, at)
    ET.SubElement(parent, "path", {"d": f"M{x} {y} l-5.5 -2.8 v5.6 z", "fill": colour})


def rectangle(
    parent: ET.Element,
    x: float,
    y: float,
    width: float,
    height: float,
    colour: str,
    opacity: float = 1.0,
) -> None:
    attributes = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    attributes["fill"] = colour
    if opacity != 1:
        attributes["fill-opacity"] = number(opacity)
    ET.SubElement(parent, "rect", attributes)


def box(
    parent: ET.Element,
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    stroke: str,
    dashes: str = "",
) -> None:
    """A rectangle with an outline and round corners; ``dashes`` as in SVG, none: a full line."""
    attributes = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    attributes |= {"rx": "3", "fill": fill, "stroke": stroke, "stroke-width": "1.2"}
    if dashes:
        attributes["stroke-dasharray"] = dashes
    ET.SubElement(parent, "rect", attributes)


def dot(parent: ET.Element, at: Point, colour: str, radius: float = 2.0) -> None:
    x, y = map(number, at)
    ET.SubElement(parent, "circle", {"cx": x, "cy": y, "r": number(radius), "fill": colour})


def text(
    parent: ET.Element,
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    size: float | None = None,
    weight: str = "",
    colour: str = "",
) -> ET.Element:
    """``y`` is the base line; ``anchor`` says which part of the text lies at ``x``."""
    attributes = {"x": number(x), "y": number(y)}
    if anchor != "start":
        attributes["text-anchor"] = anchor
    if size is not None:
        attributes["font-size"] = number(size)
    if weight:
        attributes["font-weight"] = weight
    if colour:
        attributes["fill"] = colour
    element = ET.SubElement(parent, "text", attributes)
    element.text = words
    return element


def label(
    parent: ET.Element,
    x: float,
    y: float,
    words: str,
    anchor: str,
    size: float,
    colour: str,
    ground: str,
) -> None:
    """Text on a ground of its own, so that lines pass behind it."""
    wide = extent(words, size)
    left = x - wide if anchor == "end" else x
    rectangle(parent, left - 1, y - 0.85 * size, wide + 2, 1.1 * size, ground)
    text(parent, x, y, words, anchor, size, colour=colour)


class Labels:
    """Texts beside dots of which none lies on another one or on a dot.

    ``size`` of the text, ``away``: from a dot's middle to the text's end [px].
    """

    def __init__(self, size: float, away: float) -> None:
        self.size, self.away = size, away
        self._taken: list[tuple[float, float, float, float]] = []  # left, top, right, bottom

    def keep_clear(self, at: Point) -> None:
        """No text may lie on this dot."""
        r = self.away - 4
        self._taken.append((at[0] - r, at[1] - r, at[0] + r, at[1] + r))

    def put(self, parent: ET.Element, at: Point, words: str, colour: str) -> None:
        """The text to the left of the dot, to its right, above or below: where there is room
        first; nowhere if there is none."""
        wide, (x, y), size = extent(words, self.size), at, self.size
        sides = (
            (x - self.away - wide, y - size / 2),
            (x + self.away, y - size / 2),
            (x - wide / 2, y - self.away - size),
            (x - wide / 2, y + self.away),
        )
        for left, top in sides:
            own = (left, top, left + wide, top + size)
            if not any(_meet(own, other) for other in self._taken):
                self._taken.append(own)
                text(parent, left, top + 0.85 * size, words, size=size, colour=colour)
                return


def _meet(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def extent(words: str, size: float) -> float:
    """The approximate width of the text: fonts differ."""
    letters = sum(c.isalpha() or c.isspace() for c in words)
    return size * (LETTER * letters + DIGIT * (len(words) - letters))


def luminance(colour: str) -> float:
    """The relative luminance of ``#rrggbb`` or ``#rgb``, from 0 to 1 (WCAG 2.2)."""
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in _parts(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2.2); text needs 4.5."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def night(colour: str) -> str:
    """The colour ``#rrggbb``, or ``#rgb``, for dark pages, of the same hue.

    Its contrast with `NIGHT` is the colour's own with `PAPER`. So any two colours of a picture
    have the same contrast on a dark page and on a white one, unless the lighter one is white there.
    """
    needed = contrast(colour, PAPER)
    hue, _, saturation = colorsys.rgb_to_hls(*_parts(colour))
    low, high = 0.0, 1.0  # between them is the lightness
    for _ in range(16):
        middle = (low + high) / 2
        found = _digits(colorsys.hls_to_rgb(hue, middle, saturation))
        if luminance(found) >= luminance(NIGHT) and contrast(found, NIGHT) >= needed:
            high = middle
        else:
            low = middle
    return _digits(colorsys.hls_to_rgb(hue, high, saturation))


def _parts(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, from 0 to 1."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    red, green, blue = (int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4))
    return red, green, blue


def _digits(parts: Sequence[float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def number(x: float) -> str:
    """A coordinate: a tenth of a pixel is enough."""
    return f"{x:.1f}".removesuffix(".0")
