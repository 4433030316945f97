"""The formulations as graphs, which every back end of floating point takes."""

from __future__ import annotations

import numpy as np

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.verify import verify
from rbdgen.graph.word import spell
from rbdgen.robot.canonical import merge_fixed
from rbdgen.robot.frames import align_axes
from rbdgen.robot.model import Robot

from .formulations import forward_dynamics, inverse_dynamics, mass_matrix
from .links import links_of
from .network import Network, Nodes
from .refusals import refuse


def traced(
    robot: Robot,
    function: str,
    method: str,
    network: str = "sklansky",
    bias: str | None = "axes",
) -> Graph:
    """Trace a robot's ``function`` ("id", "m" or "fd") by a ``method`` of `INVERSE`, `MASS` or
    `FORWARD`.

    Inputs and outputs have the names of ``rbdgen.dynamics``: ``q[0]``, ``qd[0]``, ``tau[0]``.
    ``bias`` is the method of the inverse dynamics within "fd". If it is None, the inputs tau are τ
    − ID(q, q̇, 0). Each link's joint axis is turned to z first, which saves operations. Links stay
    as they are in the file, since some methods need the inertia of every link. Raises RobotError.
    """
    robot = align_axes(merge_fixed(robot))
    links, builder = links_of(robot), Builder()
    along = Network(links.parent, network, Nodes(builder))

    def inputs(kind: str, n: int) -> np.ndarray:
        return np.array([[builder.input(spell(kind, k))] for k in range(n)], object)

    q = inputs("q", robot.nq)
    none = np.zeros((links.n, 6, 1), object)
    names = [spell("q", k) for k in range(robot.nq)]
    if function == "m":
        M = mass_matrix(links, along, method, q)
        found = {spell("M", i, j): M[i, j, 0] for i in range(robot.nv) for j in range(i + 1)}
    elif function == "id":
        qd, qdd = inputs("qd", robot.nv), inputs("qdd", robot.nv)
        tau = inverse_dynamics(links, along, method, q, qd, qdd, none)
        found = {spell("tau", k): tau[k, 0] for k in range(robot.nv)}
        names += [spell(kind, k) for kind in ("qd", "qdd") for k in range(robot.nv)]
    else:
        refuse(links, method)
        tau = inputs("tau", robot.nv)
        names += [spell("tau", k) for k in range(robot.nv)]
        if bias is not None:
            qd = inputs("qd", robot.nv)
            names += [spell("qd", k) for k in range(robot.nv)]
            tau = tau - inverse_dynamics(links, along, bias, q, qd, np.array(0 * qd), none)
        qdd = forward_dynamics(links, along, method, q, tau)
        found = {spell("qdd", k): qdd[k, 0] for k in range(robot.nv)}
    return verify(Graph(tuple(names), {name: builder.lift(x) for name, x in found.items()}))
