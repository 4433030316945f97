"""Shapes and text of an SVG document, as few as a diagram needs, the same bytes every time."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from ..system.quoting import lines

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
INK, PAPER = "#1f2933", "#ffffff"
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
    """The document; what cannot be seen, which XML has no place for, is not in its texts."""
    for element in page.iter():
        element.text = element.text and lines(element.text)
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


def extent(words: str, size: float) -> float:
    """About how wide the text is: fonts differ."""
    letters = sum(c.isalpha() or c.isspace() for c in words)
    return size * (LETTER * letters + DIGIT * (len(words) - letters))


def number(x: float) -> str:
    """A coordinate: a tenth of a pixel is enough."""
    return f"{x:.1f}".removesuffix(".0")
