"""The picture of a design: a core's pipeline, an accelerator's stages."""

from __future__ import annotations

from ..compile.core import Core
from ..compile.product import Product
from ..draw import accelerator as stages
from ..draw.picture import picture


def picture_of(product: Product) -> str:
    """An SVG document."""
    robot, functions = product.front.robot.name, product.front.design.functions
    if isinstance(product, Core):
        return picture(product.plan, f"{robot}: {', '.join(functions)}", product.front.canonical)
    return stages.picture(product.accelerator, f"{robot}: accelerator")
