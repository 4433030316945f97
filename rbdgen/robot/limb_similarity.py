"""Limbs that have the same parameters up to signs, by the geometry at position zero.

There are eight sign matrices D = diag(±1, ±1, ±1) of the root link's frame: the identity, mirror
images along x, y and z, half turns about them, and the inversion. On a base that stands still, up
to eight further orthogonal matrices D take the frame that one limb's axes make to another's, up to
signs, as of limbs round a table. A limb's anchor is the point of its first revolute joint's
axis that is nearest the next axis across it. With directions in the root link's frame, all
joints at zero and positions from the limb's own anchor, limb b is limb a seen through D where their
k-th joints have

    the same kind
    axes      d_b = ± D d_a      of either sign: one may count the other way
    lines     p_b = D p_a        p: a revolute joint's axis's point nearest the anchor; a prismatic
                                 joint's link's centre of mass, its axis may lie anywhere

and their k-th links, after what does the same work in the parent has been moved there (Khalil's
base parameters: see ``handed_on``),

    masses    m_b = m_a
    firsts    h_b = D h_a        first moments about p
    moments   J_b = D J_a D      about p

and their joints the same rotors, damping and friction.

Two limbs are alike where that holds for one D, and their anchors are equal through some D: any of
them where they stand on the same link, else through D as seen from the anchors of the two
limbs that they stand on, which must be alike through D. A leg may be the other's mirror image and
stand where half a turn takes it.

What frames the file has chosen does not matter: in frames that mirror each other, such limbs have
equal parameters up to signs, hence the same operations and the same zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import product

import numpy as np

from .frames import ONE_AXIS
from .model import Array, Inertia, Joint, JointKind, Robot, Transform, frozen, skew

SIGNS = tuple(frozen(signs) for signs in product((1.0, -1.0), repeat=3))
MIRRORS = frozen([np.diag(signs) for signs in SIGNS])
STANDS = "where it stands"
NOISE = 1e-9  # moments that are as small a part of the limb's are rounding
PARALLEL = 1e-6  # axes whose sine squared is less
NEARLY = 1e-4  # the same of axes that are measured: their common perpendicular is anywhere
ACROSS = 0.3  # of the largest squared sine, so that one of 45 degrees is never just at it
TINY = 1e-300  # in place of zero where something is divided by it


@dataclass(frozen=True, eq=False)
class LimbShape:
    """A limb of n joints in the root link's frame at position zero.

    ``kinds`` must be equal exactly; None where a joint has several axes: like no other limb.
    ``anchor`` (3,); ``axes``, ``points``, ``firsts`` (n, 3); ``masses`` (n,); ``moments``
    (n, 3, 3); ``whole`` (n, 2), mass and largest moment about p of each link before it hands
    anything on, to measure by; ``drives`` (n, 4), rotor, damping and friction of each joint.
    """

    kinds: tuple[object, ...] | None
    anchor: Array
    axes: Array
    points: Array
    masses: Array
    firsts: Array
    moments: Array
    whole: Array
    drives: Array


def poses_at_zero(robot: Robot, root: int) -> list[Transform]:
    """Body → its pose in the frame of the body of joint ``root`` (-1: of the base), joints at 0."""
    poses: list[Transform] = []
    for i, joint in enumerate(robot.joints):
        if i == root:
            poses.append(Transform())
            continue
        above = poses[joint.parent] if joint.parent >= 0 else Transform()
        poses.append(above @ joint.placement @ moved_at_zero(joint))
    return poses


def moved_at_zero(joint: Joint) -> Transform:
    """Pose of a body in its joint's frame; a joint of several axes is in its neutral position."""
    kind, axis = joint.kind, joint.axis
    q = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
    if kind is JointKind.REVOLUTE:
        u = skew(axis)
        # R = 1 + sin q û + (1 − cos q) û²                                      (Rodrigues)
        return Transform(np.eye(3) + np.sin(q) * u + (1 - np.cos(q)) * u @ u)
    return Transform(translation=q * axis if kind is JointKind.PRISMATIC else np.zeros(3))


def handed_on(robot: Robot, poses: Sequence[Transform]) -> tuple[list[Inertia], list[Inertia]]:
    """Every body's inertia, about the root's origin in the root's axes, before and after it has
    handed to its parent what does the same work there, from the leaves inwards:

    over a revolute joint the mass, the first moment along the axis, and as much of the moments
    across it as leaves them equal and opposite in any two directions at right angles;
    over a prismatic joint the moments about the centre of mass.

    The remainder is the same where ``regroup_inertia`` has already moved some of it.
    """
    whole = [j.inertia.seen_from(pose) for j, pose in zip(robot.joints, poses, strict=True)]
    kept = list(whole)
    for i, joint in reversed(list(enumerate(robot.joints))):
        handed = handed_by(joint, poses[i], whole[i])
        kept[i] = whole[i] + -handed
        if joint.parent >= 0:
            whole[joint.parent] += handed
    return whole, kept


def handed_by(joint: Joint, pose: Transform, whole: Inertia) -> Inertia:
    """The part of a body's inertia that does the same work in its parent."""
    d, p = pose.rotation @ joint.axis, pose.translation
    if joint.kind is JointKind.PRISMATIC:
        return Inertia(J=about(whole, whole.h / whole.mass if whole.mass else np.zeros(3)).J)
    if joint.kind is JointKind.REVOLUTE:
        local, across = about(whole, p), np.eye(3) - np.outer(d, d)
        rod = Inertia(local.mass, d * (d @ local.h), across * np.sum(across * local.J) / 2)
        return about(rod, -p)
    return Inertia()


def about(inertia: Inertia, point: Array) -> Inertia:
    """The inertia about ``point``; about the origin again with -``point``."""
    return inertia.seen_from(Transform(translation=-point))


def shape_of(
    robot: Robot,
    poses: Sequence[Transform],
    inertias: tuple[Sequence[Inertia], Sequence[Inertia]],
    limb: Sequence[int],
    on: LimbShape | None,
) -> LimbShape:
    """The shape of the limb that consists of the joints ``limb``, from the root outwards.

    ``inertias``: of all bodies, from ``handed_on``; ``on``: the shape of the limb that it stands
    on, None on the root.
    """
    joints, n = [robot.joints[i] for i in limb], len(limb)
    axes, points, masses = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    firsts, moments, sizes = np.zeros((n, 3)), np.zeros((n, 3, 3)), np.zeros((n, 2))
    anchor = _anchor(robot, poses, limb, on.anchor if on else np.zeros(3))
    for k, i in enumerate(limb):
        d, (whole, kept) = poses[i].rotation @ joints[k].axis, (x[i] for x in inertias)
        if joints[k].kind is JointKind.PRISMATIC:
            p = kept.h / kept.mass if kept.mass else anchor
        else:
            p = _nearest(poses[i].translation, d, anchor)
        own = about(kept, p)
        axes[k], points[k] = d, p - anchor
        masses[k], firsts[k], moments[k] = own.mass, own.h, own.J
        sizes[k] = abs(whole.mass), np.abs(about(whole, p).J).max()
    kinds = tuple((robot.joints[i].kind, _mimicry(robot, limb, i)) for i in limb)
    known = all(joint.kind in ONE_AXIS for joint in joints)
    drives = np.array([astuple(joint.drivetrain) for joint in joints])
    return LimbShape(
        kinds if known else None, anchor, axes, points, masses, firsts, moments, sizes, drives
    )


def _anchor(
    robot: Robot, poses: Sequence[Transform], limb: Sequence[int], otherwise: Array
) -> Array:
    """The foot on the first axis of its common perpendicular with the next one across it, which
    is as much so as others are: nearly parallel ones meet anywhere.

    Where there is none, the point of the first axis nearest ``otherwise``; with no revolute joint
    ``otherwise`` itself.
    """
    turning = [i for i in limb if robot.joints[i].kind is JointKind.REVOLUTE]
    if not turning:
        return otherwise
    first, *others = [
        (poses[i].translation, poses[i].rotation @ robot.joints[i].axis) for i in turning
    ]
    p, d = first
    normals = [np.cross(d, e) for _, e in others]
    squares = [float(normal @ normal) for normal in normals]
    least = max(ACROSS * max(squares, default=0.0), NEARLY)
    for (o, e), normal, square in zip(others, normals, squares, strict=True):
        if square > least:
            return p + d * (np.cross(o - p, e) @ normal / square)
    return _nearest(p, d, otherwise)


def _nearest(p: Array, d: Array, point: Array) -> Array:
    """The point nearest ``point`` on the line through p along d."""
    return p + d * (d @ (point - p))


def _mimicry(robot: Robot, limb: Sequence[int], i: int) -> object:
    """Whom joint ``i`` follows, as seen from its limb, and by how much; None if it is free."""
    mimic = robot.joints[i].mimic
    if mimic is None:
        return None
    inside = mimic.joint in limb
    master = limb.index(mimic.joint) if inside else mimic.joint
    return inside, master, round(abs(mimic.multiplier), 9)


def mirrors_of(a: Array, b: Array) -> Array:
    """(n, 3, 3): sign matrices, and those that take one limb's frame to ± another's, each once.

    ``a``, ``b``: directions (m, 3) that belong together, axes of joints first. Frames are made of
    the first one and of the one most across it; there are none where all are parallel.
    """
    if a.shape != b.shape:
        return MIRRORS
    across = [own - np.outer(own @ own[0], own[0]) for own in (a, b)]
    lengths, sizes = (np.linalg.norm([x, y], axis=2) for x, y in ((a, b), across))
    sines = (sizes / np.maximum(lengths, TINY)).prod(axis=0)
    k = int(np.argmax(np.round(sines, 9)))
    if sines[k] <= PARALLEL:
        return MIRRORS
    ahead, aside = np.array([a[0], b[0]]), [x[k] / np.linalg.norm(x[k]) for x in across]
    here, there = np.stack([ahead, aside, np.cross(ahead, aside)], axis=2)
    further = [there @ D @ here.T for D in MIRRORS]
    new = [D for D in further if not np.isclose(D, MIRRORS, atol=PARALLEL).all((1, 2)).any()]
    return np.array([*MIRRORS, *new])


def differences(
    a: LimbShape,
    b: LimbShape,
    mirrors: Array,
    on: tuple[LimbShape, LimbShape] | None,
    placed: bool = True,
) -> Array:
    """The distance of b from a under each of ``mirrors``, (n, 3, 3); infinite where kinds differ.

    ``on``: the limbs that a and b stand on, None where they stand on the same link. ``placed``:
    whether it matters where.

    The largest difference of any number above: of directions as it is; of points and anchors over
    the limbs' reach L, their largest distance from root or anchor, or where all of it is in one
    point its radius of gyration; of a link's masses over its whole mass m, of its first moments
    over m L, of its moments over its largest whole moment.
    """
    found = figures(a, b, mirrors, on)
    if not found:
        return np.full(len(mirrors), np.inf)
    return np.max([x for name, x in found.items() if placed or name != STANDS], axis=0)


def figures(
    a: LimbShape, b: LimbShape, mirrors: Array, on: tuple[LimbShape, LimbShape] | None
) -> dict[str, Array]:
    """The same for each kind of number, by its name; empty where kinds of joints differ."""
    if a.kinds is None or a.kinds != b.kinds:
        return {}
    anchors = a.anchor, b.anchor
    if on is not None:
        anchors = a.anchor - on[0].anchor, b.anchor - on[1].anchor
    reach = max(np.abs(x).max() for x in (a.points, b.points, *anchors))
    reach = reach if reach > NOISE * (gyration := _gyration(a, b)) else gyration
    apart = np.array([np.abs(anchors[1] - D @ anchors[0]).max() / reach for D in mirrors])
    if on is None:
        apart[:] = apart.min()
    mass, first, moment = _sizes(a, b, reach)
    axes, points = (
        [np.abs(b.axes - sense(a, b, D)[:, None] * (a.axes @ D.T)).max() for D in mirrors],
        [np.abs(b.points - a.points @ D.T).max() / reach for D in mirrors],
    )
    firsts, moments = (
        [(np.abs(b.firsts - a.firsts @ D.T).max(axis=1) / first).max() for D in mirrors],
        [
            (np.abs(b.moments - D @ a.moments @ D.T).max(axis=(1, 2)) / moment).max()
            for D in mirrors
        ],
    )
    masses = np.full(len(mirrors), (np.abs(b.masses - a.masses) / mass).max())
    return {
        STANDS: apart,
        "axes": np.array(axes),
        "places": np.array(points),
        "masses": masses,
        "centres of mass": np.array(firsts),
        "moments of inertia": np.array(moments),
        "rotors and friction": np.full(len(mirrors), _relative(a.drives, b.drives)),
    }


def _relative(a: Array, b: Array) -> float:
    """The largest difference of two numbers over the larger of them."""
    return float((np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), TINY)).max())


def sense(a: LimbShape, b: LimbShape, D: Array) -> Array:
    """(n,) ±1: whether b's joints count as a's do, seen through D, or the other way."""
    return np.where(np.sum(b.axes * (a.axes @ D.T), axis=1) < 0, -1.0, 1.0)


def _gyration(a: LimbShape, b: LimbShape) -> float:
    """The largest radius of gyration of a link before it hands anything on, or 1 without mass."""
    mass, moment = np.maximum(a.whole, b.whole).max(axis=0)
    return float(np.sqrt(moment / mass)) if mass and moment else 1.0


def _sizes(a: LimbShape, b: LimbShape, reach: float) -> tuple[Array, Array, Array]:
    """The sizes that masses, first moments and moments of links are measured by, (n,) each.

    A link without mass has what its moments would be at the end of the limbs' reach; a link
    without moments has NOISE of the limb's.
    """
    mass, moment = np.maximum(a.whole, b.whole).T
    moment = np.maximum(moment, NOISE * (moment + mass * reach**2).max() + TINY)
    mass = np.maximum(mass, moment / reach**2)
    return mass, mass * reach, moment
