"""Functions of C++ as solvers of optimal control call them: crocoddyl's action model, CasADi's
external function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..system.templates import render
from .interface import ArrayInterface, rows

FORWARD = ("q", "qd", "tau")
FORCES = "f_ext"
GRADIENTS = ("qdd", "dqdd_dq", "dqdd_dqd", "Minv")
# Headers with crocoddyl's models, which are the same for all robots.
HEADERS = ("crocoddyl_rbdgen.hpp", "crocoddyl_costs_rbdgen.hpp", "crocoddyl_contacts_rbdgen.hpp")
# What the header has for each array.
PLACES = {
    **{name: name for name in FORWARD},
    FORCES: "forces",
    "qdd": "qdd",
    "dqdd_dq": "by_q",
    "dqdd_dqd": "by_qd",
    "Minv": "inverse",
}

# What the files are, by how their names end.
SAID = {
    "crocoddyl_rbdgen.hpp": "crocoddyl's action model of any robot's functions",
    "crocoddyl_contacts_rbdgen.hpp": "the same, of a robot in contact",
    "crocoddyl_costs_rbdgen.hpp": "what crocoddyl's costs read, and the sum of their gradients",
    "_crocoddyl.hpp": "its forward dynamics in crocoddyl, in C++",
    "crocoddyl_example.cpp": "a reach by crocoddyl, over its own dynamics and over these",
    "_casadi.c": "a function of CasADi, with its Jacobian",
}
# Of what functions give: the values, and by each input where in which matrix their gradient is, in
# blocks of nv rows and columns.
EXTERNALS = (
    (("qdd",), {"q": (("dqdd_dq", 0, 0),), "qd": (("dqdd_dqd", 0, 0),), "tau": (("Minv", 0, 0),)}),
    (("tau",), {"q": (("dtau_dq", 0, 0),), "qd": (("dtau_dqd", 0, 0),), "qdd": (("M", 0, 0),)}),
    (
        ("q_next", "qd_next"),
        {
            "q": (("A", 0, 0), ("A", 1, 0)),
            "qd": (("A", 0, 1), ("A", 1, 1)),
            "tau": (("B", 0, 0), ("B", 1, 0)),
        },
    ),
)


def said(file: str) -> str:
    """The README's text on a file."""
    return next(what for end, what in SAID.items() if file.endswith(end))


@dataclass(frozen=True)
class Block:
    """∂of/∂by (nv, nv), from the number ``at`` of a state's results on, in rows of ``columns``."""

    of: str
    by: str
    at: int
    columns: int


def casadi(interface: ArrayInterface, name: str, about: Mapping[str, str]) -> dict[str, str]:
    """The file of CasADi's external function over the functions ``name``: of what ``dfd,minv``,
    ``did,m`` or ``step`` give; none for others, and where q is no vector of nv."""
    takes = {array.name: array.size for array in interface.takes}
    gives = {array.name for array in interface.gives}
    for values, gradients in EXTERNALS:
        arrays = {array for places in gradients.values() for array, _, _ in places}
        if gives == {*values, *arrays} and list(takes) == list(gradients):
            break
    else:
        return {}
    if len(set(takes.values())) > 1:
        return {}
    nv, found = takes["q"], rows(interface)
    given = {own["name"]: own for own in found["rows_out"]}
    blocks = []
    for k, value in enumerate(values):
        for by, places in gradients.items():
            array, down, across = places[k]
            columns = given[array]["shape"][-1]
            at = given[array]["before"] + nv * (down * columns + across)
            blocks.append(Block(value, by, at, columns))
    places_in_w = [f"w + {own['before']}" for own in found["rows_out"]]
    return {
        f"{name}_casadi.c": render(
            "cpp/casadi.c.jinja",
            name=name,
            nv=nv,
            values=values,
            names=(*takes, *values, *(f"out_{own}" for own in values)),
            blocks=blocks,
            value_at=[(own, given[own]["before"]) for own in values],
            arguments_in_w=", ".join([*(f"in[{k}]" for k in range(len(takes))), *places_in_w]),
            **about,
            **found,
        )
    }


def crocoddyl(
    interface: ArrayInterface, name: str, joints: Sequence[str], about: Mapping[str, str]
) -> dict[str, str]:
    """The files of crocoddyl's action model over the functions ``name``; none for functions that
    are not those of ``dfd`` and ``minv``, of a state, efforts and forces alone.

    ``joints``: names, in the order of the robot's coordinates. With a base that floats there is no
    example: it would fall.
    """
    takes = {array.name: array.size for array in interface.takes}
    gives = [array.name for array in interface.gives]
    states = tuple(takes) in (FORWARD, (*FORWARD, FORCES))
    if not joints or not states or set(gives) != set(GRADIENTS):
        return {}
    forced = {own.at // 6 for own in interface.inputs.values() if own.array == FORCES}
    values: dict[str, Any] = {
        **about,
        "name": name,
        "guard": name.upper(),
        "joints": joints,
        "pushed": [str(k in forced).lower() for k in range(len(joints)) if forced],
        "nq": takes["q"],
        "nv": takes["qd"],
        "crocoddyl_arguments": ", ".join(PLACES[own] for own in (*takes, *gives)),
    }
    files = {
        f"{name}_crocoddyl.hpp": render("cpp/crocoddyl.hpp.jinja", **values),
        **{file: render(f"crocoddyl/{file}.jinja") for file in HEADERS},
    }
    if takes["q"] == takes["qd"]:
        files["crocoddyl_example.cpp"] = render("cpp/crocoddyl_example.cpp.jinja", **values)
    return files
