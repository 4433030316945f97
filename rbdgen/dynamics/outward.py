"""The outward pass: every body's motion, its force and moment, with the least arithmetic.

With a body's acceleration matrix U and its origin's acceleration a (``motion``), first moment h
and second moment Σ = ½ tr(J) 1 - J (Σ_xx = ∫x²dm),

    F = m a + U h              N = h × a + 2 vee(skew part of U Σ)

six products ωᵢωⱼ serve force and moment alike (Khalil and Dombre, *Modeling, Identification and
Control of Robots*, §9.5). Constant entries (zeros of h, Σ) disappear while this is traced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..graph.node import Region
from ..robot.model import Joint, JointKind, Robot
from .bodies import Mass, loaded
from .motion import LinkMotion, Motion, RobotState, Told, rotation_of, told
from .repeated import loading, on_link, step_of, weighing
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    ConstantRotation,
    Placement,
    Rotation,
    Turn,
    Twist,
    Wrench,
    add,
    cross,
    is_nothing,
    scale,
    wrench_difference,
)
from .steps import Runner, in_units
from .units import ALIKE, Balance, Units, scaled


def move(
    run: Runner,
    robot: Robot,
    state: RobotState,
    unit: Units,
    multiplications: int = 4,
    balance: Balance = ALIKE,
) -> dict[int, LinkMotion]:
    """Every joint's motion and its body's force; joint i's are in region ("forward", i).

    A body is weighed in its unit of the ``balance``.
    """
    A = unit.acceleration
    base = Motion(ZERO, ZERO, scaled(robot.gravity, -A))
    tells = [told(robot, i, state) for i in range(len(robot.joints))]
    arriving: dict[int, Motion] = {}  # the motion of the parent's point under a joint
    for i in robot.children[-1]:
        joint = robot.joints[i]
        placed = _placed(base, ConstantRotation(joint.placement.rotation), _place(robot, i, A))
        arriving[i] = run(
            step_of("out", robot, i),
            ("forward", i),
            _with_rates,
            joint.kind,
            placed,
            tells[i],
            unit,
        )
    moved: dict[int, LinkMotion] = {}
    for i, joint in enumerate(robot.joints):
        visit, here = step_of("out", robot, i), ("forward", i)
        rotation = rotation_of(run, visit, here, robot, i, state, multiplications)
        w = run(visit, here, _turning, rotation, arriving[i].w)
        own = run(visit, here, _moved, joint.kind, tells[i], rotation, arriving[i], w, unit)
        mass = Mass.of(joint.inertia).times(balance.body(i))
        if i in state.payload:
            words, pose = in_units(state.payload[i].words, balance.body(i)), state.payload[i].pose
            R, r = run.rotation(pose.rotation), pose.translation.tolist()
            mass = run(loading(i), here, loaded, mass, words, R, r)
            body = run(weighing(i), here, body_of, mass, unit)
        else:
            body = body_of(mass, unit)
        force, Uz = run(visit, here, _asked, body, own.motion)
        if state.f_ext:  # nothing on the others, whose visits are alike
            external = external_force(run, here, joint, i, state, unit.force, balance.body(i))
            force = run(visit, here, wrench_difference, force, external)
        moved[i] = replace(own, force=force, Uz=Uz, mass=mass)
        for c in robot.children[i]:
            arriving[c] = run(
                step_of("out", robot, c),
                here,
                _arriving,
                robot.joints[c].kind,
                own.motion,
                run.rotation(robot.joints[c].placement.rotation),
                _place(robot, c, A),
                tells[c],
                unit,
            )
    return moved


def _place(robot: Robot, i: int, A: float) -> Vector:
    return scaled(robot.joints[i].placement.translation, A)


def _arriving(
    kind: JointKind, parent: Motion, R: Placement, r: Vector, joint: Told, unit: Units
) -> Motion:
    """The parent's motion at a joint's origin, along its axes before it moves.

    A revolute or prismatic joint's own rates along its axis, which it leaves as they are, are
    in it already: a FIFO stands in for the register of an adder that writes it, so the sums
    belong to the parent's region. So does a + U r: three words leave instead of a and a
    column of U.
    """
    return _with_rates(kind, _placed(parent, R, r), joint, unit)


def _placed(parent: Motion, R: Placement, r: Vector) -> Motion:
    return Motion(R.back(parent.w), R.back(parent.alpha), R.back(parent.of_point(r)))


def _with_rates(kind: JointKind, placed: Motion, joint: Told, unit: Units) -> Motion:
    w, alpha, a = list(placed.w), list(placed.alpha), list(placed.a)
    if kind is JointKind.REVOLUTE:
        # ω' + q̇ z,  α' + q̈ z
        (qd,), (qdd,) = joint.rates()
        w[2], alpha[2] = w[2] + qd, alpha[2] + qdd
    elif kind is JointKind.PRISMATIC:
        # a' + q̈ z
        a[2] = a[2] + unit.acceleration * joint.rates()[1][0]
    return Motion(w, alpha, a)


def _asked(body: BodyInertia, motion: Motion) -> tuple[Wrench, Vector]:
    """The wrench that gives a body its motion, and the last column of its U."""
    force = moving_force(body, motion)
    return force, [row[2] for row in motion.U()]


def _turning(rotation: Turn | Rotation | None, w: Vector) -> Vector:
    """The parent's ω along the body's axes, which no acceleration changes."""
    return list(w) if rotation is None else rotation.back(w)


def _moved(
    kind: JointKind,
    joint: Told,
    rotation: Turn | Rotation | None,
    arriving: Motion,
    w: Vector,
    unit: Units,
) -> LinkMotion:
    """A joint and its body, along whose axes the parent has ``w``."""
    A = unit.acceleration
    match kind:
        case JointKind.REVOLUTE:
            assert isinstance(rotation, Turn)
            (rate,), (qdd,) = joint.rates()
            return revolved(arriving, rotation, w, rate, qdd)
        case JointKind.PRISMATIC:
            return _slid(arriving, joint, A)
        case JointKind.PLANAR:
            assert rotation is not None
            x, y, _, _ = joint.q
            v, a = (([0.0, 0.0, r[2]], [r[0], r[1], 0.0]) for r in joint.rates())
            return _free(rotation, [x, y, 0.0], arriving, w, (v, a), A)
        case JointKind.FLOATING:
            # One joint of six coordinates, which are those of the body's own frame. On the ground
            # that takes twelve products: six for the vertical in the body's frame, of the
            # quaternion, and six for ω × v. Split in two, a translation along the ground's axes
            # and a ball, it would take 27: the whole rotation, its acceleration turned, and the
            # force on the way back; and more for each column of M and of the gradients.
            assert rotation is not None
            v, a = ((list(r[3:]), list(r[:3])) for r in joint.rates())
            return _free(rotation, joint.q[:3], arriving, w, (v, a), A)
        case JointKind.FIXED:
            return LinkMotion(arriving, arriving, None, ZERO, ZERO, (ZERO, ZERO), (ZERO, ZERO))


def _slid(arriving: Motion, joint: Told, A: float) -> LinkMotion:
    """A prismatic joint."""
    ((rate,), (qdd,)), w, slide = joint.rates(), arriving.w, joint.position()
    # a = a' + q̈ z + U q z + 2 ω × q̇ z
    x, y, z = arriving.of_point([0.0, 0.0, A * slide])
    coriolis = 2.0 * A * rate
    motion = Motion(w, arriving.alpha, [x + w[1] * coriolis, y - w[0] * coriolis, z])
    change = A * qdd
    above = Motion(w, arriving.alpha, [x, y, z - change])
    rates, changes = (ZERO, [0.0, 0.0, A * rate]), (ZERO, [0.0, 0.0, change])
    shift, slip = [0.0, 0.0, slide], [0.0, 0.0, rate]
    return LinkMotion(motion, above, None, shift, slip, rates, changes)


def _free(
    rotation: Rotation | Turn,
    shift: Vector,
    arriving: Motion,
    w: Vector,
    rates: tuple[Twist, Twist],
    A: float,
) -> LinkMotion:
    """A joint that turns and slides at once; ``rates``: its velocity and acceleration as twists
    (angular; linear) in the moving body's frame, in SI units."""
    (w_J, slip), (alpha_J, a_J) = rates
    alpha = rotation.back(arriving.alpha)
    a = rotation.back(arriving.of_point(scale(A, shift)))
    v_J, change = scale(A, slip), scale(A, a_J)
    # α = α' + α_J + ω' × ω_J,   a = a' + U' p + a_J + ω_J × v_J + 2 ω' × v_J
    coriolis = add(cross(w_J, v_J), scale(2.0, cross(w, v_J)))
    motion = Motion(
        add(w, w_J),
        add(add(alpha, alpha_J), cross(w, w_J)),
        add(a, add(change, coriolis)),
    )
    above = Motion(w, alpha, a)
    changes = alpha_J, change
    return LinkMotion(motion, above, rotation, shift, rotation.forward(slip), (w_J, v_J), changes)


def revolved(arriving: Motion, turn: Turn, w: Vector, rate: Scalar, change: Scalar) -> LinkMotion:
    """A revolute joint: ``arriving`` has its rate q̇ and its change q̈ about z in it already.

    ``w``: its ω, turned along.
    """
    alpha, a = turn.back(arriving.alpha), turn.back(arriving.a)
    # α = α' + q̈ z + ω' × q̇ z
    motion = Motion(w, [alpha[0] + w[1] * rate, alpha[1] - w[0] * rate, alpha[2]], a)
    above = Motion([w[0], w[1], w[2] - rate], [alpha[0], alpha[1], alpha[2] - change], a)
    rates, changes = ([0.0, 0.0, rate], ZERO), ([0.0, 0.0, change], ZERO)
    return LinkMotion(motion, above, turn, ZERO, ZERO, rates, changes)


@dataclass(frozen=True)
class BodyInertia:
    """A body's numbers: its mass, h for the force and for the moment; of Σ what
    ``diagonal_terms`` gives for x, y and z, and Σ_xy, Σ_xz, Σ_yz."""

    m: Scalar
    h: Vector
    h_moment: Vector
    diagonal: list[Vector]
    across: Vector


def body_of(mass: Mass, unit: Units) -> BodyInertia:
    A, B, S = unit.acceleration, unit.force, mass.second_moments()
    (m,) = scaled([mass.m], B / A)
    diagonal = [
        diagonal_terms(S[(k + 1) % 3][(k + 1) % 3], S[(k + 2) % 3][(k + 2) % 3]) for k in range(3)
    ]
    across = [S[0][1], S[0][2], S[1][2]]
    return BodyInertia(m, scaled(mass.h, B), scaled(mass.h, 1 / A), diagonal, across)


def moving_force(body: BodyInertia, motion: Motion) -> Wrench:
    """Force F = m a + U h and moment N = h × a + (moment of U Σ) that move the body."""
    m, h, diagonal = body.m, body.h, body.diagonal
    U, P, alpha = motion.U(), motion.products(), motion.alpha
    force = [m * motion.a[i] + (U[i][0] * h[0] + U[i][1] * h[1] + U[i][2] * h[2]) for i in range(3)]
    S_xy, S_xz, S_yz = body.across
    # N_x = Σ_yy U_zy - Σ_zz U_yz + Σ_xy U_zx - Σ_xz U_yx + Σ_yz (U_zz - U_yy), and cyclic
    moment = [
        _diagonal(diagonal[0], U[2][1], U[1][2], alpha[0], P[1][2])
        + (S_xy * U[2][0] - S_xz * U[1][0])
        + S_yz * (P[2][2] - P[1][1]),
        _diagonal(diagonal[1], U[0][2], U[2][0], alpha[1], P[0][2])
        + (S_yz * U[0][1] - S_xy * U[2][1])
        + S_xz * (P[0][0] - P[2][2]),
        _diagonal(diagonal[2], U[1][0], U[0][1], alpha[2], P[0][1])
        + (S_xz * U[1][2] - S_yz * U[0][2])
        + S_xy * (P[1][1] - P[0][0]),
    ]
    return force, add(moment, cross(body.h_moment, motion.a))


def diagonal_terms(plus: Scalar, minus: Scalar) -> Vector:
    """[Σ_yy, Σ_zz, Σ_yy + Σ_zz, Σ_yy - Σ_zz] for x, and cyclic."""
    return [plus, minus, plus + minus, plus - minus]


def _diagonal(terms: Vector, u: Scalar, v: Scalar, alpha: Scalar, product: Scalar) -> Scalar:
    """plus · u - minus · v, where u = product + α and v = product - α.

    The same as (plus + minus) α + (plus - minus) · product: whichever has fewer constants.
    """
    plus, minus, total, difference = terms
    if is_nothing(plus) or is_nothing(minus):
        return plus * u - minus * v
    return total * alpha + difference * product


def external_wrench(frame: Placement, at: Vector, components: Vector, B: float) -> Wrench:
    """Force and moment about the body frame's origin, from ``components`` in the link's frame,
    which is turned by ``frame`` and ``at`` a place of the body's."""
    force, moment = frame.forward(components[:3]), frame.forward(components[3:])
    moment = add(moment, cross(at, force))
    return [B * x for x in force], moment


def external_force(
    run: Runner,
    region: Region,
    joint: Joint,
    i: int,
    state: RobotState,
    B: float = 1.0,
    by: float = 1.0,
) -> Wrench:
    """The external force on joint ``i``'s body, zero where there is none; ``B``: the unit of
    forces; ``by``: of forces and moments alike, a power of two."""
    if i not in state.f_ext:
        return ZERO, ZERO
    frame, at = run.rotation(joint.link_frame.rotation), joint.link_frame.translation.tolist()
    words = in_units(state.f_ext[i], by)
    return run(on_link(joint, i), region, external_wrench, frame, at, words, B)
