"""Cells of a plan, estimated: each feature times what one of it takes, measured with Yosys.

The coefficients stand in ``area.json`` beside this module, family by family, with the designs
that they were fitted to and how far off they are there; ``rbdgen bench area-model`` writes such a
table. None is negative, so that more of anything never takes fewer cells.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..design.least_squares import coefficients, rms
from ..system.records import Record
from .features import NAMES, Features

TABLE = Path(__file__).with_name("area.json")
Table = Mapping[str, Any]
Cells = Mapping[str, float]

# What is estimated, and the features that it can come from. ``logic`` and ``memory`` are LUTs; the
# shift registers that delay anything on an UltraScale+ are, too.
_DELAYS = ("waiting_bits", "shift_register_bits")
_UNITS = ("sine_bits", "sine_order_bits", "reciprocal_bits", "reciprocal_steps")
_PRODUCTS = ("products", "chained_products", "wide_product_bits", "logic_product_bits")
QUANTITIES: dict[str, tuple[str, ...]] = {
    "logic": (
        *("sums", "sum_bits", "select_bits", "shift_bits", "checks", "multiplexed_bits"),
        *("port_bits", "counter_bits", "bank_bits", "result_words", *_DELAYS, *_UNITS, *_PRODUCTS),
    ),
    "memory": ("memory_cells",),
    "flip_flops": (
        *("result_bits", "ring_bits", "checks", "one_hot_bits", "port_bits", "counter_bits"),
        *("result_words", *_DELAYS, *_UNITS, *_PRODUCTS),
    ),
    "block_rams": ("tables",),
}
# Family → what its memories are made of, where that is not of 16 words by 4 bits.
_OTHER = {"xcup": {"memory_cells": "slice_memories", "bank_bits": "slice_bank_bits"}}


def quantities(family: str) -> dict[str, list[str]]:
    """The estimated quantities of a family, each with the features that it depends on."""
    other = _OTHER.get(family, {})
    return {q: [other.get(name, name) for name in names] for q, names in QUANTITIES.items()}


class NoModel(ValueError):
    """No coefficients for a family, in one line."""


def estimated(family: str, features: Features, table: Table | None = None) -> dict[str, int]:
    """The same of a plan's features, but for the multipliers, which the plan knows exactly.

    Raises NoModel for a family that has no coefficients.
    """
    families = (table or fitted())["families"]
    if family not in families:
        raise NoModel(f"no area model of {family}: there is one of {', '.join(families)}")
    coefficients = families[family]["coefficients"]
    sites = {
        quantity: round(sum(each * features[name] for name, each in own.items()))
        for quantity, own in coefficients.items()
    }
    return {"luts": sites["logic"] + sites["memory"], **sites}


@cache
def fitted() -> dict[str, Any]:
    """The table that comes with rbdgen."""
    return dict(json.loads(TABLE.read_text("utf-8")))


@dataclass(frozen=True)
class ModelError(Record):
    """``rms`` and ``worst`` relative error over the designs of the fit, and ``left_out``: the RMS
    of designs each estimated by a fit to all others."""

    rms: float
    worst: float
    left_out: float


def model_error(family: str, quantity: str = "luts") -> ModelError:
    """The error of a quantity's estimates."""
    return ModelError.from_json(fitted()["families"][family]["error"][quantity])


Sample = tuple[str, Features, Mapping[str, int]]  # a design's name, features, sites as counted


def fit(family: str, samples: Sequence[Sample]) -> dict[str, Any]:
    """Coefficients by non-negative least squares of the relative errors, and what they miss by."""
    coefficients = _coefficients(family, samples)
    table = {"families": {family: {"coefficients": coefficients}}}
    designs, missed, left_out = [], [], []
    for k, (name, own, sites) in enumerate(samples):
        others = _coefficients(family, [*samples[:k], *samples[k + 1 :]])
        blind = {"families": {family: {"coefficients": others}}}
        found, without = (estimated(family, own, t) for t in (table, blind))
        missed.append({q: miss(found[q], sites[q]) for q in found})
        left_out.append({q: miss(without[q], sites[q]) for q in found})
        designs.append(
            {"name": name, **{q: {"estimated": found[q], "mapped": sites[q]} for q in found}}
        )
    error = {
        q: {
            "rms": rms(m[q] for m in missed),
            "worst": round(max(abs(m[q]) for m in missed), 4),
            "left_out": rms(m[q] for m in left_out),
        }
        for q in missed[0]
    }
    return {"coefficients": coefficients, "error": error, "designs": designs}


def miss(found: float, there: int) -> float:
    """The relative error of an estimate; of what there is none of, the estimate itself."""
    return (found - there) / max(there, 1)


def _coefficients(family: str, samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    found: dict[str, Any] = {}
    for quantity, names in quantities(family).items():
        rows = [(f, float(s[quantity])) for _, f, s in samples if s[quantity]]
        found[quantity] = coefficients(rows, names) if rows else {}
    return found


assert all(name in NAMES for names in QUANTITIES.values() for name in names)
assert all(name in NAMES for own in _OTHER.values() for name in own.values())
