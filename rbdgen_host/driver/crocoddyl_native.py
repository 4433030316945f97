"""Crocoddyl's action models over compiled functions, in C++: its solvers call no Python."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import crocoddyl
import numpy as np
import pinocchio

from rbdgen.codegen.solvers import FORWARD, GRADIENTS
from rbdgen.system.cache import cached, named
from rbdgen.system.compiler import NoCompiler, about, compile_with, find_compiler
from rbdgen.system.quoting import Progress, Refusal
from rbdgen.system.templates import render

if TYPE_CHECKING:
    from rbdgen.api.native_programs import NativeProgram

    from .dynamics import Dynamics

MODULE = "rbdgen_crocoddyl"
FILES = ("CMakeLists.txt", "python.cc", "crocoddyl_rbdgen.hpp")
PREFIX = Path(crocoddyl.__file__).parents[4]  # …/lib/python3.11/site-packages/crocoddyl


class NotNative(Refusal, TypeError):
    """A design whose functions the action models in C++ cannot call, in one line."""


def forward(
    state: Any, actuation: Any, costs: Any, constraints: Any, dynamics: Dynamics, say: Progress
) -> Any:
    """A ``DifferentialActionModelFreeFwdDynamics`` over ``dynamics``, of the back end cpp.

    Compiled the first time on a machine, for all robots. NotNative, NoCompiler, CompilerError.
    """
    program = _program(dynamics, "dfd", FORWARD, GRADIENTS)
    _refuse_other_pinocchio()
    robot = program.name, list(dynamics.joint_names), dynamics.nq, dynamics.nv
    made = _module(say).ForwardDynamics
    return made(*robot, _address(program), 0, state, actuation, costs, constraints)


def _program(
    dynamics: Dynamics, function: str, takes: Sequence[str], gives: Sequence[str]
) -> NativeProgram:
    """The compiled function of these arrays, in this order; NotNative."""
    program = dynamics._backend.programs[function]
    interface = program.interface
    found = tuple(array.name for array in interface.takes), program.library.names
    if dynamics.base_link is not None:
        raise NotNative("the design's base is another link than the file's")
    if program.facts["parameters"]:
        raise NotNative("the robot's parameters are in registers")
    if found != (tuple(takes), tuple(gives)):
        raise NotNative(f"{function} of this design takes {', '.join(found[0])}")
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
        say(f"compiling crocoddyl's action model with {compiler[0]}")
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
