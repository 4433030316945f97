"""Where the frame of a link lies, whatever rewrites have made of the link."""

from __future__ import annotations

from .model import Robot, RobotError, Transform
from .xml_lines import did_you_mean, quoted


def frame_of(robot: Robot, link: str, said: str = "frames") -> tuple[int, Transform]:
    """The joint whose body has the frame that the file gave ``link``, and its pose in the body's.

    Raises RobotError where no joint moves such a link; ``said``: the choice that names it.
    """
    poses = {joint.body: (i, joint.link_frame) for i, joint in enumerate(robot.joints)}
    for frame in robot.merged:
        if frame.body in poses:
            i, on = poses[frame.body]
            poses[frame.link] = i, on @ frame.pose
    moved = {name: at for name, at in poses.items() if moves(robot, at[0])}
    if link in moved:
        return moved[link]
    still = {robot.base_body, *(frame.link for frame in robot.merged), *poses}
    if link in still:
        raise RobotError(f"{said}: {quoted(link)} is on the base; no joint moves it")
    hint = did_you_mean(link, moved, f"; one of {', '.join(moved) or 'none'}")
    raise RobotError(f"{said}: no link {quoted(link)}{hint}")


def moves(robot: Robot, i: int) -> bool:
    """Whether any joint on the way from the base to body ``i`` moves."""
    while i >= 0:
        if robot.joints[i].kind.nv:
            return True
        i = robot.joints[i].parent
    return False
