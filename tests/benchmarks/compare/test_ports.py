"""Instructions of a program, counted in its disassembly."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.api.native_programs import compiled
from rbdgen.design.loading import load
from rbdgen.system.compiler import processor
from rbdgen_benchmarks.compare.ports import Binding, Ports, binding, counted, ports
from rbdgen_benchmarks.compare.timing import said

DISASSEMBLY = """
0000000000001000 <(anonymous namespace)::part_0<(anonymous namespace)::InBlock<double> >(int)>:
    1000:	vmovupd (%rdi),%zmm0
    1006:	vfmadd213pd 0x40(%rsp),%zmm0,%zmm1
    100e:	vmulpd %zmm1,%zmm1,%zmm2
    1014:	vaddpd %zmm1,%zmm2,%zmm2
    101a:	vaddsd %xmm1,%xmm2,%xmm2
    101e:	ret

0000000000002000 <(anonymous namespace)::part_0<(anonymous namespace)::InRow<double> >(int)>:
    2000:	vmulsd %xmm1,%xmm1,%xmm2
    2004:	ret
"""


def test_counts() -> None:
    found = counted(DISASSEMBLY.splitlines())
    assert found == Binding(6, 2, 1, 1, 1, 0x1E, 4)
    # 8 states in 2 ns each at 4 cycles a ns: 64 cycles
    two_of_each = Ports(0.25, 2, 2, 4)
    assert found.cycles(two_of_each) == 1
    assert found.row(2.0, two_of_each)[-2:] == [0.094, 0.016]
    assert found.row(2.0, Ports(0.0, 0, 0, 0))[-2:] == ["-", "-"]
    assert counted([]) is None


def test_products_and_sums_may_share_ports() -> None:
    found = Binding(40, 20, 10, 0, 2, 0, 0)
    assert [found.cycles(Ports(0.25, 2, 2, both)) for both in (4, 3, 2)] == [20, 20, 30]
    assert Ports.measured((0.25, 0.13, 0.12, 0.088)) == Ports(0.25, 2, 2, 3)
    assert Ports.measured((0.25, 0, 0, 0)) == Ports(0.25, 0, 0, 0)


def test_the_ports_of_this_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are measured; on others than x86-64 with fused products none."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    times = list(map(float, said([str(word) for word in ports(lambda _: None)]).split()))
    assert len(times) == 4
    assert min(times) > 0 if "fma" in processor().split() else times == [0.0] * 4


def test_a_library_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    design, robot = load("pendulum", functions=("id",))
    found = binding(compiled(design, robot, "cpp", print).file)
    if found is None:
        pytest.skip("no objdump, or a processor that it is not written for")
    assert found.instructions > found.products + found.sums > 0
