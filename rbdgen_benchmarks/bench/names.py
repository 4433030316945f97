"""The names of the measurements, and where each is found: known before any of them is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from rbdgen.robot.xml_lines import did_you_mean, quoted

from .measurement import DAYS, Measurement, UnknownMeasurement

ALL = "all"
PLACES = {
    "cpu": "cpu.cpu",
    "python": "python.python",
    "solvers": "solvers.solvers",
    "mpc": "mpc.mpc",
    "kinematics": "kinematics.kinematics",
    "ros2": "ros2.ros2",
    "jax": "in_jax.within",
    "parameters": "parameters.parameters",
    "payload": "payload.payload",
    "identities": "identities.saved",
    "second-derivatives": "second_derivatives.second",
    "rounding": "rounding.rounding",
    "codesign": "codesign.codesign",
    "compiling": "compiling.compiling",
    "programs": "programs.programs",
    "bit-exactness-c": "bit_exactness.exact_c",
    "bit-exactness-hls": "bit_exactness.exact_hls",
    "bit-exactness-accelerators": "bit_exactness.exact_accelerators",
    "board": "board.board",
    "gpu": "gpu.gpu",
    "gpu-script": "gpu_script.script",
    "loops": "loops.loops",
    "microcontroller": "microcontroller.microcontroller",
    "microcontroller-mpc": "microcontroller.predictive",
    "mppi": "mppi.mppi",
    "control": "control.control",
    "bits": "designs.bits",
    "ranges": "ranges.ranges",
    "proven": "proven.proven",
    "accuracy": "accuracy.accuracy",
    "scans": "scans.scans",
    "growth": "designs.growth",
    "tool-latency": "tool_latency.tool",
    "entry": "entry.entry",
    "robots": "designs.robots",
    "quadruped": "designs.quadruped",
    "humanoid": "designs.humanoid",
    "xilinx": "designs.xilinx",
    "iiwa": "designs.iiwa",
    "hyq": "designs.hyq",
    "folded": "folding.folded",
    "fold-overhead": "folding.fold_overhead",
    "accelerators": "accelerators.accelerators",
    "peers": "peers.beside_peers",
    "reliability": "reliability.reliability",
    "fuzz-urdf": "fuzz_urdf.mutated_robots",
    "fuzz-packets": "fuzz_packets.malformed",
    "vectors": "reliability.vectors",
    "rk4": "rk4.rk4",
    "delays": "delays.delays",
    "cell-adders": "cell_adders.adders",
    "cell-delays": "cell_delays.clocks",
    "area-model": "area.area_model",
    "clocks": "clocks.clocks",
    "wishes": "wishes.wishes",
    "energies": "energies.energies",
    "logarithmic": "logarithmic.logarithmic",
    "logarithmic-chains": "logarithmic.chains",
    "latency": "latency.latency",
    "functions-iiwa14_fast": "functions.iiwa14_fast",
    "functions-hyq": "functions.hyq",
    "functions-hyq-floating": "functions.hyq_floating",
    "functions-humanoid": "functions.humanoid",
}
FORMER = {
    "second": "second-derivatives",
    "exact-c": "bit-exactness-c",
    "exact-hls": "bit-exactness-hls",
    "exact-accelerators": "bit-exactness-accelerators",
    "tool": "tool-latency",
    "reliability-robots": "fuzz-urdf",
    "reliability-packets": "fuzz-packets",
}


class Measurements(Mapping[str, Measurement]):
    """Name → measurement, whose module is imported when it is asked for."""

    def __getitem__(self, name: str) -> Measurement:
        module, _, attribute = PLACES[name].partition(".")
        found = getattr(import_module(f"{__package__}.{module}"), attribute)
        assert isinstance(found, Measurement)
        assert found.name == name
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


MEASUREMENTS = Measurements()


def chosen(names: Sequence[str], only: Sequence[str] = ()) -> list[Measurement]:
    """The measurements called ``names``, once each; ``functions`` for all that begin so.

    "all" for all but those that take days.

    UnknownMeasurement for a name that is none, and where ``only`` says of which robots, for one
    that has no choice of them or not that robot.
    """
    own = {name: _called(name) for name in names}  # all are known before one is imported
    found = {each: MEASUREMENTS[each] for name in names for each in own[name]}
    if ALL in names:
        asked = {each for name in names if name != ALL for each in own[name]}
        found = {n: one for n, one in found.items() if n in asked or one.takes != DAYS}
    for one in found.values() if only else ():
        if one.robots is None:
            of = ", ".join(each.name for each in MEASUREMENTS.values() if each.robots)
            message = f"--only: {one.name} has no robots to choose; {of} have"
            raise UnknownMeasurement(message, one.name)
        one.refuse_unknown(only)
    return list(found.values())


def _called(name: str) -> list[str]:
    """The names for which ``name`` stands; UnknownMeasurement for none."""
    if name == ALL:
        return list(PLACES)
    begun = f"{name}-"
    found = [own for own in PLACES if own == name or own.startswith(begun)]
    found += [own for old, own in FORMER.items() if old == name or old.startswith(begun)]
    if not found:
        known = (*PLACES, ALL)
        hint = did_you_mean(name, known, f"; one of {', '.join(known)}")
        raise UnknownMeasurement(f"no measurement {quoted(name)}{hint}", name)
    return [own for own in PLACES if own in found]
