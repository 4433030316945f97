"""Crocoddyl's action models over compiled functions, in C++: its solvers call no Python."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import sys
import tempfile
from functools import cache
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import crocoddyl
import numpy as np
import pinocchio

from rbdgen.codegen.solvers import FORCES, FORWARD, GRADIENTS, HEADERS
from rbdgen.system.cache import cached, named
from rbdgen.system.compiler import NoCompiler, about, compile_with, find_compiler
from rbdgen.system.quoting import Progress, Refusal
from rbdgen.system.templates import render

if TYPE_CHECKING:
    from rbdgen.api.native_programs import NativeProgram

    from .dynamics import Dynamics

MODULE = "rbdgen_crocoddyl"
FILES = ("CMakeLists.txt", "python.cc", *HEADERS)
PREFIX = Path(crocoddyl.__file__).parents[4]  # …/lib/python3.11/site-packages/crocoddyl


class NotNative(Refusal, TypeError):
    """A design whose functions the action models in C++ cannot call, in one line."""


def forward(
    state: Any, actuation: Any, costs: Any, constraints: Any, dynamics: Dynamics, say: Progress
) -> Any:
    """A ``DifferentialActionModelFreeFwdDynamics`` over ``dynamics``, of the back end cpp.

    Compiled the first time on a machine, for all robots. NotNative, NoCompiler, CompilerError.
    """
    module, robot = _prepared(dynamics, say)
    return module.ForwardDynamics(robot, state, actuation, costs, constraints)


def contact(
    state: Any,
    actuation: Any,
    contacts: Any,
    costs: Any,
    constraints: Any,
    damping: float,
    enable_force: bool,
    dynamics: Dynamics,
    say: Progress,
) -> Any:
    """A ``DifferentialActionModelContactFwdDynamics`` over ``dynamics``; the same as `forward`."""
    module, robot = _prepared(dynamics, say)
    of = state, actuation, contacts, costs, constraints, damping, enable_force
    return module.ContactDynamics(robot, *of)


def _prepared(dynamics: Dynamics, say: Progress) -> tuple[ModuleType, Any]:
    """The module and its robot: the functions that the models call, and on which links they take
    forces. Raises as `forward`, before anything is compiled."""
    program, robot = _program(dynamics), dynamics._backend.robot
    _refuse_other_pinocchio()
    module = _module(say)
    bodies = [robot.joints[k].body for k in robot.moving]
    forced = FORCES in [array.name for array in program.interface.takes]
    pushed = [body in program.design.external_forces for body in bodies if forced]
    joints = list(dynamics.joint_names)
    sizes = dynamics.nq, dynamics.nv
    return module, module.robot(program.name, joints, *sizes, _address(program), pushed)


def _program(dynamics: Dynamics) -> NativeProgram:
    """The compiled q̈ with its gradients and M⁻¹, of the arrays that the models give; NotNative."""
    program = dynamics._backend.programs["dfd"]
    takes = tuple(array.name for array in program.interface.takes)
    if dynamics.base_link is not None:
        raise NotNative("the design's base is another link than the file's")
    if program.facts["parameters"]:
        raise NotNative("the robot's parameters are in registers")
    if takes not in (FORWARD, (*FORWARD, FORCES)) or program.library.names != GRADIENTS:
        raise NotNative(f"dfd of this design takes {', '.join(takes)}")
    return program


@cache
def _refuse_other_pinocchio() -> None:
    """NotNative where crocoddyl was built with another Pinocchio, whose data lies otherwise."""
    model = pinocchio.buildSampleModelManipulator()
    state = crocoddyl.StateMultibody(model)
    motors, costs = crocoddyl.ActuationModelFull(state), crocoddyl.CostModelSum(state)
    own = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, motors, costs)
    data, x, u = own.createData(), np.full(state.nx, 0.3), np.ones(state.nv)
    own.calc(data, x, u)
    right = pinocchio.aba(model, model.createData(), x[: state.nq], x[state.nq :], u)
    if not np.allclose(data.xout, right):
        raise NotNative(
            f"crocoddyl {crocoddyl.__version__} was built with another Pinocchio than "
            f"{pinocchio.__version__}, and its own dynamics is wrong: pip install 'rbdgen[solvers]'"
        )


@cache
def _library(file: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(file))  # which stays loaded: models have addresses in it


def _address(program: NativeProgram) -> int:
    """Where the function of rows is in this process's memory."""
    function = getattr(_library(program.file), program.name)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _module(say: Progress) -> ModuleType:
    """The compiled module, from the cache or compiled into it; NoCompiler, CompilerError."""
    if MODULE in sys.modules:
        return sys.modules[MODULE]
    cmake, compiler = shutil.which("cmake"), find_compiler()
    if cmake is None:
        raise NoCompiler("no cmake, which crocoddyl's headers need: pip install cmake")
    texts = {name: render(f"crocoddyl/{name}.jinja") for name in FILES}
    versions = crocoddyl.__version__, pinocchio.__version__, np.__version__
    of = sys.implementation.cache_tag, str(PREFIX), about(compiler)

    def make(work: Path) -> None:
        say(f"compiling crocoddyl's action models with {compiler[0]}")
        with tempfile.TemporaryDirectory(prefix="rbdgen-") as place:
            for name, text in texts.items():
                (Path(place) / name).write_text(text, "utf-8")
            build = Path(place) / "build"
            where = f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DPython3_EXECUTABLE={sys.executable}"
            compile_with([cmake, "-S", place, "-B", str(build), *where])
            compile_with([cmake, "--build", str(build)])
            shutil.copy(build / f"{MODULE}.so", work)

    file = cached(named("crocoddyl", texts, versions, of), make, say) / f"{MODULE}.so"
    spec = importlib.util.spec_from_file_location(
        MODULE, file, loader=ExtensionFileLoader(MODULE, str(file))
    )
    assert spec is not None and spec.loader is not None
    module = sys.modules[MODULE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
