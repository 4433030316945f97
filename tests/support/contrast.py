"""The contrast of a picture's texts with what lies behind them, on white pages and on dark ones."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from rbdgen.draw.svg import INK, PAPER, contrast, night

SVG = "{http://www.w3.org/2000/svg}"
LEAST = 4.5  # WCAG 2.2, of text


def faint(page: ET.Element) -> list[str]:
    """Texts whose contrast is below `LEAST`: the ratio and the text, in the page's order.

    What lies behind a text is what was drawn before it over its anchor, of rectangles and dots.
    """
    found, shapes = [], list[ET.Element]()
    for element, colour in _coloured(page, INK):
        if element.tag in (f"{SVG}rect", f"{SVG}circle"):
            shapes.append(element)
        elif element.tag == f"{SVG}text":
            grounds = [shape for shape in shapes if _covers(shape, element)]
            ratio = min(_ratio(colour, grounds, dark) for dark in (False, True))
            if ratio < LEAST:
                found.append(f"{ratio:.2f}: {element.text}")
    return found


def _coloured(element: ET.Element, colour: str) -> Iterator[tuple[ET.Element, str]]:
    """The elements in their order, each with the colour that it has or inherits."""
    colour = element.get("fill", colour)
    yield element, colour
    for child in element:
        yield from _coloured(child, colour)


def _covers(shape: ET.Element, text: ET.Element) -> bool:
    x, y = float(text.get("x", "0")), float(text.get("y", "0")) - 2  # of letters, above the line
    if shape.tag == f"{SVG}circle":
        cx, cy, r = (float(shape.get(key, "0")) for key in ("cx", "cy", "r"))
        return (x - cx) ** 2 + (y - cy) ** 2 <= r**2
    left, top, wide, high = (float(shape.get(k, "0")) for k in ("x", "y", "width", "height"))
    inward = {"start": 1, "end": -1}.get(text.get("text-anchor", "start"), 0)
    return left <= x + inward <= left + wide and top <= y <= top + high


def _ratio(colour: str, grounds: list[ET.Element], dark: bool) -> float:
    own = night if dark else str
    behind = own(PAPER)
    for shape in grounds:
        fill, opacity = shape.get("fill", INK), float(shape.get("fill-opacity", "1"))
        behind = behind if fill == "none" else _mixed(own(fill), behind, opacity)
    return contrast(own(colour), behind)


def _mixed(over: str, under: str, opacity: float) -> str:
    """What a browser shows of two colours."""
    pairs = zip(*(bytes.fromhex(colour[1:]) for colour in (over, under)), strict=True)
    return "#" + "".join(f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in pairs)
