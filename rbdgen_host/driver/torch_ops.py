"""A robot's compiled functions as operators of PyTorch: no copies, with autograd, on a CPU.

Tensors lie where the compiled functions read and write them, by DLPack. Derivatives are the
compiled functions did and dfd, as those of `rbdgen_host.parallel`'s method "native".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from rbdgen.api.folder import InputError
from rbdgen.api.native_programs import NativeProgram, compiled
from rbdgen.design.design import of_functions
from rbdgen.design.functions import TOGETHER
from rbdgen.design.loading import load
from rbdgen.design.options import DesignChoices
from rbdgen.system.cache import named

KINDS = {"float64": "cpp", "float32": "cpp32"}


class Operators(NamedTuple):
    """Operators of tensors (…, n): ``inverse_dynamics(q, qd, qdd)`` τ, ``mass_matrix(q)`` M,
    ``forward_dynamics(q, qd, tau)`` q̈. The first and the last have gradients."""

    inverse_dynamics: Any
    mass_matrix: Any
    forward_dynamics: Any


def operators(
    robot: str | Path, dtype: str = "float64", threads: int = 1, **choices: Unpack[DesignChoices]
) -> Operators:
    """The operators of a robot's file, registered with ``torch.library`` for ``torch.compile``.

    ``dtype``: "float64" or "float32", that of all tensors. ``threads``: those that share a batch.
    InputError without PyTorch, of a robot whose q are more than its velocities, and for an unknown
    dtype; Singular where a mass matrix is. A gradient of a gradient is refused by PyTorch.
    """
    try:
        import torch
    except ModuleNotFoundError:
        raise InputError("rbdgen_host.driver.torch_ops needs PyTorch: pip install torch") from None
    if dtype not in KINDS:
        raise InputError(f"dtype: {dtype!r} is unknown; one of {', '.join(KINDS)}")
    design, loaded = load(robot, **choices)
    if loaded.nq != loaded.nv:
        raise InputError(f"{loaded.name}: q has {loaded.nq} entries for {loaded.nv} velocities; "
                         "operators of PyTorch are of joints that turn or slide")  # fmt: skip

    def program(*functions: str) -> NativeProgram:
        return compiled(of_functions(design, functions), loaded, KINDS[dtype], lambda _: None)

    def operator(own: NativeProgram, results: tuple[str, ...], backward: Any = None) -> Any:
        """The operator of a program's ``results``, registered once in a process."""
        name = named("rbdgen::of", str(own.file), results, threads).replace("-", "_")
        if name in _REGISTERED:
            return _REGISTERED[name]
        shapes = {array.name: array.shape for array in own.interface.gives}
        chosen = [(own.library.names.index(k), shapes[k]) for k in results]

        def run(*tensors: Any) -> Any:
            found = _run(own, tensors, threads)
            given = tuple(torch.from_numpy(found[k]) for k, _ in chosen)
            return given if len(given) > 1 else given[0]

        def like(*tensors: Any) -> Any:
            leading = tensors[0].shape[:-1]
            given = tuple(tensors[0].new_empty((*leading, *shape)) for _, shape in chosen)
            return given if len(given) > 1 else given[0]

        def keep(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        takes = ", ".join(f"Tensor {array.name}" for array in own.interface.takes)
        gives = ", ".join(["Tensor"] * len(results))
        torch.library.define(name, f"({takes}) -> {f'({gives})' if len(results) > 1 else gives}")
        torch.library.impl(name, "CPU")(run)
        torch.library.register_fake(name)(like)
        if backward:
            torch.library.register_autograd(name, backward, setup_context=keep)
        space, word = name.split("::")
        return _REGISTERED.setdefault(name, getattr(getattr(torch.ops, space), word))

    def differentiable(function: str, slopes: tuple[str, ...], matrices: tuple[str, ...]) -> Any:
        by = operator(program(*slopes), matrices)

        def backward(ctx: Any, change: Any) -> tuple[Any, ...]:
            rows = change.unsqueeze(-2)
            return tuple((rows @ matrix).squeeze(-2) for matrix in by(*ctx.saved_tensors))

        own = program(function)
        return operator(own, own.library.names, backward)

    return Operators(
        differentiable("id", ("did", "m"), ("dtau_dq", "dtau_dqd", "M")),
        operator(program("m"), ("M",)),
        differentiable("fd", ("dfd", TOGETHER["dfd"]), ("dqdd_dq", "dqdd_dqd", "Minv")),
    )


def _run(program: NativeProgram, tensors: Any, threads: int) -> list[Any]:
    """The arrays that come out, of tensors as they lie in memory; InputError for others."""
    arrays = [np.from_dlpack(tensor.detach().contiguous()) for tensor in tensors]
    leading = program.library.fits(arrays)
    if leading is None:
        said = ", ".join(f"{own.dtype} {own.shape}" for own in arrays)
        shapes = ", ".join(f"(…, {own.size})" for own in program.interface.takes)
        raise InputError(f"{program.name}: tensors are {said}; expected {program.library.dtype} "
                         f"{shapes}, of the same states")  # fmt: skip
    return program.library.run(leading, arrays, threads)


_REGISTERED: dict[str, Any] = {}  # with PyTorch, once in a process
