"""The golden model: rigid-body dynamics in textbook form, dense 6×6 matrices, float64, batched.

It shares no code with ``rbdgen.dynamics``, whose traced algorithms are tested against it, and is
itself tested against Pinocchio. It takes any robot, as read or rewritten. Conventions seen from
outside are Pinocchio's: linear part first, floating q = (x, y, z, quaternion x, y, z, w),
gradients along the tangent space of q. Arrays are batches: q (N, nq), qd, qdd, tau (N, nv).
"""

from typing import TYPE_CHECKING

from ..system import names_from
from .articulated import crba, rnea
from .states import State, difference, integrate, neutral, random_state
from .tree import by_payload, for_each_payload

if TYPE_CHECKING:
    from .articulated import aba, minv
    from .contacts import (
        Constrained,
        ConstrainedDerivatives,
        apart_minv,
        constraint_derivatives,
        constraint_dynamics,
        joint_aba,
        joint_minv,
        operational_inertia,
    )
    from .control import Saturation, computed_torque, gravity_damping, impedance
    from .derivatives import (
        ForwardDerivatives,
        InverseDerivatives,
        SecondDerivatives,
        aba_derivatives,
        joint_torque_regressor,
        rnea_derivatives,
        rnea_second_derivatives,
    )
    from .kinematics import (
        Energies,
        Poses,
        center_of_mass,
        center_of_mass_jacobian,
        centroidal_map,
        centroidal_momentum,
        energies,
        frame_drifts,
        frame_jacobians,
        frame_poses,
        frame_velocities,
        subtree_centers,
    )
    from .rerooting import Rerooted, Slopes, rerooted, rerooted_forces, rerooted_slopes
    from .step import Sensitivity, euler_sensitivity, rk4_sensitivity, rollout

__getattr__ = names_from(
    __name__,
    {
        ".rerooting": (
            "Rerooted",
            "Slopes",
            "rerooted",
            "rerooted_forces",
            "rerooted_slopes",
        ),
        ".articulated": (
            "aba",
            "minv",
        ),
        ".contacts": (
            "Constrained",
            "ConstrainedDerivatives",
            "apart_minv",
            "constraint_derivatives",
            "constraint_dynamics",
            "joint_aba",
            "joint_minv",
            "operational_inertia",
        ),
        ".control": ("Saturation", "computed_torque", "gravity_damping", "impedance"),
        ".derivatives": (
            "ForwardDerivatives",
            "InverseDerivatives",
            "SecondDerivatives",
            "aba_derivatives",
            "joint_torque_regressor",
            "rnea_derivatives",
            "rnea_second_derivatives",
        ),
        ".kinematics": (
            "Energies",
            "Poses",
            "center_of_mass",
            "center_of_mass_jacobian",
            "centroidal_map",
            "centroidal_momentum",
            "energies",
            "frame_drifts",
            "frame_jacobians",
            "frame_poses",
            "frame_velocities",
            "subtree_centers",
        ),
        ".step": (
            "Sensitivity",
            "euler_sensitivity",
            "rk4_sensitivity",
            "rollout",
        ),
    },
)

__all__ = [
    "Constrained",
    "ConstrainedDerivatives",
    "Energies",
    "ForwardDerivatives",
    "InverseDerivatives",
    "Poses",
    "Rerooted",
    "SecondDerivatives",
    "Sensitivity",
    "Slopes",
    "State",
    "aba",
    "aba_derivatives",
    "constraint_derivatives",
    "constraint_dynamics",
    "by_payload",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_map",
    "centroidal_momentum",
    "crba",
    "difference",
    "energies",
    "euler_sensitivity",
    "rk4_sensitivity",
    "for_each_payload",
    "frame_drifts",
    "frame_jacobians",
    "frame_poses",
    "frame_velocities",
    "integrate",
    "apart_minv",
    "joint_aba",
    "joint_minv",
    "joint_torque_regressor",
    "minv",
    "neutral",
    "operational_inertia",
    "random_state",
    "rerooted",
    "rerooted_forces",
    "rerooted_slopes",
    "rnea",
    "rnea_derivatives",
    "rnea_second_derivatives",
    "rollout",
    "subtree_centers",
    "Saturation",
    "computed_torque",
    "gravity_damping",
    "impedance",
]
