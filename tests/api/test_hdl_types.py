"""Packages of types in SystemVerilog and VHDL, and registers as SVD: what stands in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rbdgen.api.hdl_types import hdl_types, identifier, vhdl_name
from tests.support import hdl_designs
from tests.support.hdl_designs import entry_of, filled
from tests.support.lint import check_head, said, slang_says, verible_says


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    return hdl_designs.folders()


SCOPED = """
module scoped (input @NAME@_pkg::task_t one, output @NAME@_pkg::@RESULT@ two,
    output logic parity, output int clocks);
    assign two = '0;
    assign parity = ^one;
    assign clocks = @NAME@_pkg::@LATENCY@;
endmodule
"""


def test_lint_of_what_a_user_writes(
    folders: dict[str, Path], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, result, latency in (
        ("torque", "result_t", "LATENCY"),
        ("after", "result_t", "LATENCY"),
        ("many", "m_result_t", "m_LATENCY"),
    ):
        user = tmp_path / name / "scoped.sv"
        user.parent.mkdir()
        user.write_text(filled(SCOPED, NAME=name, RESULT=result, LATENCY=latency))
        package = folders[name] / f"{name}_pkg.sv"
        check_head(package.read_text())
        with subtests.test("verilator", name=name):
            assert said([package, user], "scoped", "-Wall") == []
        with subtests.test("slang", name=name):
            assert slang_says([package, user], "scoped") == []
        with subtests.test("verible", name=name):
            assert verible_says([package]) == []


# A record through bits and back, and the same bits through a record.
VHDL = r"""
library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; use work.@NAME@_pkg.all;
entity bench is end entity;
architecture run of bench is
    signal clk, rst, task_valid, task_ready, result_valid : std_logic := '0';
    signal sticky : std_logic_vector(1 downto 0);
    signal i_payload : task_t_payload := EXAMPLE_TASK;
    signal o_payload : result_t_payload;
begin
    dynamics : \@NAME@\
        port map (
            clk => clk, rst => rst, overflow => sticky, clear => '0',
            \i__payload\ => i_payload, \i__valid\ => task_valid, \i__ready\ => task_ready,
            \o__payload\ => o_payload, \o__valid\ => result_valid, \o__ready\ => '1');
    process
        variable bits : task_t_payload;
    begin
        for k in bits'range loop
            bits := (others => '0');
            bits(k) := '1';
            assert to_payload(to_task(bits)) = bits severity failure;
        end loop;
        bits := (others => '1');
        assert to_payload(to_result(EXAMPLE_RESULT)) = EXAMPLE_RESULT severity failure;
        assert to_task(EXAMPLE_TASK).@FIELD@ = @WORD@ severity failure;
        assert to_task(bits).@FIELD@ = -1 and task_@FIELD@_FRACTION = @FRACTION@ severity failure;
        wait;
    end process;
end architecture;
"""


@pytest.mark.parametrize("standard", ["93", "08"])
def test_vhdl(folders: dict[str, Path], standard: str, tmp_path: Path) -> None:
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        pytest.skip("no GHDL: apt-get install ghdl")
    entry = entry_of(folders["torque"])
    first = entry.ports.input.fields[0]
    bench = tmp_path / "bench.vhd"
    values = {"FIELD": identifier(first.name), "FRACTION": str(first.fraction)}
    values["WORD"] = str(entry.examples[0].task[first.name])
    bench.write_text(filled(VHDL, NAME="torque", **values))
    packages = [own / f"{name}_pkg.vhd" for name, own in folders.items()]
    for command in (["-a", *packages, bench], ["--elab-run", "bench"]):
        words = [ghdl, command[0], f"--std={standard}", *command[1:]]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_registers_as_svd(folders: dict[str, Path]) -> None:
    """Those of the manifest, of which the header has the offsets; a core has none."""
    assert not list(folders["torque"].glob("*.svd"))
    device = ElementTree.parse(folders["many"] / "many.svd")
    header = (folders["many"] / "many.h").read_text()
    found = {}
    for register in device.iter("register"):
        name, offset, access = (
            register.findtext(key) for key in ("name", "addressOffset", "access")
        )
        assert name and offset and register.findtext("description")
        assert f"MANY_REG_{name.upper()} = {offset}" in header
        fields = {own.findtext("name"): own.findtext("bitRange") for own in register.iter("field")}
        found[name] = (access, fields)
    registers = entry_of(folders["many"]).axi["words"].registers
    assert registers and [own.name for own in registers] == list(found)
    assert found["control"] == ("read-write", {"enable": "[0:0]", "clear": "[1:1]"})
    assert {name for name, (access, _) in found.items() if access != "read-only"} == {
        "control",
        "status",
    }
    readme = (folders["many"] / "README.md").read_text()
    assert "| 0x18 | `status` | read, write |" in readme


def test_names_of_packages_in_vhdl() -> None:
    assert [vhdl_name(name) for name in ("hyq_id", "my__arm", "arm_", "a1")] == [
        "hyq_id_pkg",
        "\\my__arm_pkg\\",
        "\\arm__pkg\\",
        "a1_pkg",
    ]


def test_fields_are_bits_of_the_payload(folders: dict[str, Path]) -> None:
    """Each bit is of one field, and names differ in languages that know no capitals."""
    for folder in folders.values():
        for own in hdl_types(entry_of(folder)):
            bits = [bit for f in own.fields for bit in range(f.low, f.high + 1)]
            assert bits == list(range(own.width))
            names = [f.name.lower() for f in own.fields]
            assert len(set(names)) == len(names)
            assert all(re.fullmatch(r"[a-z]\w*[a-z0-9]|[a-z]", name) for name in names)
