"""Trace functions of a robot to one graph: names for the interface, then the algorithms.

Several functions share all that they have in common, since equal operations are one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..design.choices import STEP
from ..design.gains import Gains
from ..graph.graph import Graph
from ..graph.node import Builder
from ..robot.frames import ALIGNED
from ..robot.model import Robot, Transform
from .functions import Functions
from .interface import GraphPorts
from .inversion import cost, ways
from .kinematics import Frames
from .laws import turning
from .steps import Inline

if TYPE_CHECKING:
    from .winograd import Largest

InNodes = Callable[[Builder], tuple[Robot, Frames, tuple[int, Transform] | None]]


def trace(
    robot: Robot,
    functions: Sequence[str],
    *,
    external_forces: Sequence[int] = (),
    multiplications: int = 4,
    sincos_inputs: bool = False,
    formulation: str = "composite",
    network: str = "sklansky",
    frame: int | None = None,
    factorisation: str = "auto",
    inverse: str = "computed",
    root: str = "free",
    largest: Largest | None = None,
    frames: Frames = (),
    payload: tuple[int, Transform] | None = None,
    step: float = STEP,
    integrator: str = "euler",
    held: tuple[int, float] = (3, 0.0),
    reference: str = ALIGNED,
    law: Gains | None = None,
    in_nodes: InNodes | None = None,
) -> Graph:
    """Functions of a canonical robot as one graph.

    ``functions``: id (τ), fd (q̈), m (M), minv (M⁻¹), did (τ and its gradients), dfd (q̈ and its
    gradients), difd (the gradients of q̈ from M⁻¹ given), ddid (the gradients of did's and of M:
    ``second``), step (``step`` seconds of motion by ``integrator``, euler or rk4, and what it
    depends on: ``stepping``), g and nle (τ without acceleration, at rest and in motion, without
    external forces); of ``frames``, (joint, pose in its body's frame), pose, twist, jac, drift
    (these three in a ``reference`` of `REFERENCES`) and
    cfd (q̈ while they are held, and by what forces: ``held`` as `contacts` has it) and osim (the
    inertia Λ of what would be held);
    of a robot whose inertias are those of bodies com, subcom (of what carries ``frames``), jcom,
    energy, ag and hg (``observed``);
    computed_torque, impedance and gravity (``laws``: controllers, of the gains and limits of
    ``law``); effort (q̈ from ``tau[k]`` and a given ``bias[k]``, the τ that holds the motion without
    acceleration; not with fd or dfd).
    ``external_forces``: joints whose bodies take an input force. ``payload``: the joint whose body
    carries one, and the pose of its link's frame in the body's. ``root``: "given" leaves a
    floating base's rows and columns out; "each" takes an input ``root[0]``, below 0 where M⁻¹ is to
    be that of the joints, as if the base were held, beside that of the base alone. ``network`` and
    ``frame``: of the formulation "logarithmic", as for ``common_frame``; so is ``inverse`` "near",
    for which minv, fd and dfd take M⁻¹ of a state nearby, ``Minv[i,j]``, and give ``far``, 1 where
    it was not near, else 0; and ``largest``, with which gradients' entries are Winograd's inner
    products (``winograd``).

    Inputs ``q[k]``, ``qd[k]``, ``qdd[k]``, ``tau[k]``, ``f_ext[b].fx`` … ``.nz`` for the b-th
    moving body, ``payload[k]`` in the order of `rbdgen.robot.variations`, ``Minv[i,j]``, j ≤ i; of
    a floating or planar joint on the base only the coordinates that turn. With ``sincos_inputs``
    angles come as ``sin[i]``, ``cos[i]`` for each revolute joint i. Outputs ``tau[k]``, ``qdd[k]``,
    ``g[k]``, ``nle[k]``, for j ≤ i ``M[i,j]`` and ``Minv[i,j]``, ``dtau_dq[i,j]`` and so on;
    entries that are zero by structure are left out. ``in_nodes``: the robot, ``frames`` and
    ``payload`` once more, with nodes of a builder in place of the numbers that are not constant.
    """

    def traced(way: str) -> Graph:
        ports = GraphPorts(Builder(), turning=turning(law))
        own = in_nodes(ports.builder) if in_nodes else (robot, frames, payload)
        found = Functions(
            Inline(ports.builder),
            own[0],
            frozenset(functions),
            multiplications,
            formulation,
            network,
            frame,
            sizes=robot,
            base=robot.joints[0].kind.nv if root == "given" else 0,
            external_forces=tuple(external_forces),
            sincos_inputs=sincos_inputs,
            factorisation=way if inverse == "computed" else inverse,
            largest=largest,
            each=root == "each",
            frames=own[1],
            payload=own[2],
            step=step,
            integrator=integrator,
            held=held,
            reference=reference,
            law=law,
        )
        given = found.give(ports, found.state(ports))
        if given is None or "ddid" not in functions:
            return ports.graph()
        from .second import with_second_derivatives

        return with_second_derivatives(
            found.robot, ports.graph(), given.whole, found.order, found.state
        )

    found = ways(robot, functions, factorisation, root, formulation)
    return min(map(traced, found), key=cost)
