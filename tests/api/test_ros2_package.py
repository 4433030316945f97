"""Folders of C++ as packages of ROS 2: what is written, refused, compiled against declarations of
its interfaces, and what the plugins compute, without an allocation or a lock in `update`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import yaml

from rbdgen import api
from rbdgen.api.folder import OutputError
from tests.support.ros2 import (
    EFFORTS,
    EIGEN,
    FRICTION,
    HEADERS,
    JOINTS,
    LATER,
    NAME,
    READER,
    STATES,
    Package,
    compiled,
    golden,
    included,
    urdf,
)
from tests.system.test_quoting import Tags


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package, beside the folder that it was made from."""
    work = tmp_path_factory.mktemp("ros2")
    (work / "arm.urdf").write_text(urdf())
    made = api.generate(work / "arm.urdf", work / "made", to="cpp", functions=("id",), name="arm_1")
    place, notes = api.package_ros2(made.folder)
    assert place == made.folder / "ros2"
    assert any("licence and maintainer are yours" in note for note in notes)
    return place


@pytest.fixture(scope="module")
def package(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Package:
    probes = compiled(place, NAME, tmp_path_factory.mktemp("build"))
    return Package(place.parent.parent / "arm.urdf", probes)


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    """Rows of q, qd, qdd, among them slow ones, whose friction is not yet whole."""
    drawn = np.random.default_rng(5).uniform(-2, 2, (STATES, 3, 3))
    drawn[::4, 1] *= 0.03
    return drawn


def test_what_is_written(place: Path) -> None:
    """Names of the robot's file are data in XML, YAML, C++ and Markdown."""
    name = NAME
    root = ET.parse(place / "package.xml").getroot()
    assert (root.tag, root.get("format")) == ("package", "3")
    assert root.findtext("name") == name
    assert re.fullmatch(r"\d+\.\d+\.\d+", root.findtext("version") or "")
    assert root.findtext("description").startswith('Dynamics of arm <b> " -- */ {{7}}:')
    needs = [own.text for own in root.iter("depend")]
    cmake = (place / "CMakeLists.txt").read_text()
    assert f"set(needs {' '.join(own for own in needs if own != 'eigen')})" in cmake
    bases = {
        "solver": "inverse_dynamics_solver::InverseDynamicsSolver",
        "controller": "controller_interface::ControllerInterface",
    }
    for of, base in bases.items():
        library = ET.parse(place / f"{of}.xml").getroot()
        (plugin,) = library
        assert library.get("path") == name
        assert plugin.get("base_class_type") == base
        source = (place / "src" / f"{of}.cpp").read_text()
        assert f"PLUGINLIB_EXPORT_CLASS({plugin.get('type')}, {base})" in source
        exported = f"pluginlib_export_plugin_description_file({base.split('::')[0]} {of}.xml)"
        assert exported in cmake
    parameters = yaml.safe_load((place / "config" / "controllers.yaml").read_text())
    assert parameters[name]["ros__parameters"]["joints"] == [*JOINTS]
    types = parameters["controller_manager"]["ros__parameters"]
    assert types[name]["type"] == ET.parse(place / "controller.xml").getroot()[0].get("name")
    sources = set(re.findall(r"src/(\w+\.cpp)", cmake))
    assert sources == {file.name for file in (place / "src").glob("*.cpp")}
    markdown = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    page = Tags(markdown.render((place / "README.md").read_text()))
    assert 'arm <b> " -- */ {{7}}' in page.text
    assert not {tag for tag, _ in page.tags} & {"script", "b", "img"}


def test_valid_to_ros(place: Path) -> None:
    parser = pytest.importorskip(
        "catkin_pkg.package", reason="no catkin_pkg: pip install catkin-pkg"
    )
    warnings: list[str] = []
    found = parser.parse_package(str(place), warnings=warnings)
    assert (found.name, found.get_build_type()) == (NAME, "ament_cmake")
    assert not [line for line in warnings if "TODO" not in line]


def test_the_same_bytes(place: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}

    before = files()
    api.package_ros2(place.parent)
    assert files() == before


def test_solver(package: Package, states: np.ndarray) -> None:
    """M q̈ + C + g + f is the golden τ, getTorques the same without f; f is the curve's."""
    found = package.run("Solver", states.reshape(STATES, 9))
    m, c, g, f, tau = (found.of(key) for key in ("M", "C", "g", "f", "tau"))
    m = m.reshape(STATES, 3, 3)
    expected = golden(package, states)
    scale = abs(expected).max()
    np.testing.assert_allclose(tau + f, expected, rtol=0, atol=1e-13 * scale)
    inertial = np.einsum("nij,nj->ni", m, states[:, 2])
    np.testing.assert_allclose(inertial + c + g, tau, rtol=0, atol=1e-13 * scale)
    assert (m == np.swapaxes(m, 1, 2)).all()
    assert (np.linalg.eigvalsh(m) > 0).all()
    slopes = np.array(FRICTION)
    np.testing.assert_allclose(
        f[1], slopes[:, 0] * states[1, 1] + slopes[:, 1] * np.sign(states[1, 1])
    )
    still = states * np.array([1, 0, 0])[:, None]
    np.testing.assert_allclose(g, golden(package, still), rtol=0, atol=1e-13 * scale)
    arrays = {"q": states[:, 0]}
    of_m = api.evaluate(package.robot, arrays, "golden", functions=("m",))["M"]
    np.testing.assert_allclose(m, of_m, rtol=0, atol=1e-13 * scale)


def test_order_and_prefix(package: Package, states: np.ndarray) -> None:
    """Vectors in another order of joints, with names as the description has them."""
    order = [2, 0, 1]
    names = [f"left_{JOINTS[k]}" for k in order]
    description = "<robot>" + "".join(f'<joint name="{own}"/>' for own in names)
    given = {"dynamics__prefix": "left_", "description": description}
    found = package.run(
        "Solver", states[:, :, order].reshape(STATES, 9), dynamics__joints=names, **given
    )
    expected = package.run("Solver", states.reshape(STATES, 9))
    for key in ("C", "g", "f", "tau"):
        assert (found.of(key) == expected.of(key)[:, order]).all()
    square = (STATES, 3, 3)
    moved = expected.of("M").reshape(square)[:, order][:, :, order]
    assert (found.of("M").reshape(square) == moved).all()


@pytest.mark.parametrize("of", ["Solver", "Controller"])
def test_joints_that_do_not_fit(package: Package, of: str) -> None:
    key = "dynamics__joints" if of == "Solver" else "joints"
    last = JOINTS[2]
    for names in (JOINTS[:2], (*JOINTS[:2], "other")):
        found = package.run(of, **{key: names})
        assert (found.code, found.wrong) == (1, f"joints: '{last}' of the model is not among them")
    found = package.run(of, **{key: (*JOINTS, "other")})
    assert (found.code, found.wrong) == (1, "joints: 4 names for the 3 joints of the model")
    found = package.run(of, description=f'<robot><joint name="{JOINTS[1]}"/><joint name="{last}"/>')
    assert found.wrong == f"robot_description: has no joint '{JOINTS[0]}'"
    assert package.run(of, description="no").wrong == "robot_description: is no URDF"


def test_vectors_that_do_not_fit(package: Package) -> None:
    assert package.run("Solver", [[0.0] * 6]).wrong == "a vector of 2 numbers for 3 joints"


@pytest.mark.parametrize("later", LATER)
def test_computed_torque(package: Package, states: np.ndarray, later: str) -> None:
    """It holds where it was, then follows a reference, in the order of `joints`, within limits;
    `update` allocates and locks nothing, which the counts of this program see."""
    order = [1, 2, 0]
    names = [JOINTS[k] for k in order]
    kp, kd = np.array([7.0, 90.0, 40.0]), np.array([0.5, 11.0, 3.0])
    q, qd, qdd = np.moveaxis(states, 1, 0)
    still = np.zeros(3)
    wanted = np.array([[q[0], still, still]] * STATES)
    rows = np.concatenate([q, qd], axis=1).tolist()
    for at in (9, 5):  # from behind, so that places stay
        wanted[at:][: STATES if at == 9 else 4] = [q[at] + 0.01, qd[at] - 0.02, qdd[at]]
        rows.insert(at, wanted[at][:, order].ravel().tolist())
    error = wanted[:, 0] - q
    error[:, 2] = np.remainder(error[:, 2] + np.pi, 2 * np.pi) - np.pi  # that joint has no limits
    a = wanted[:, 2] + kd * (wanted[:, 1] - qd) + kp * error
    even = [golden(package, np.stack([q, way * qd, a], axis=1)) for way in (1, -1)]
    odd = [golden(package, np.stack([0 * q, way * wanted[:, 1], 0 * q], axis=1)) for way in (1, -1)]
    efforts = np.array([own or np.inf for own in EFFORTS])
    tau = (even[0] + even[1] + odd[0] - odd[1]) / 2
    expected = np.clip(tau, -efforts, efforts)
    assert (tau != expected).any() and (tau == expected).all(axis=1).any()
    gains = {"kp": kp[order].tolist(), "kd": kd[order].tolist()}
    found = package.run("Controller", rows, later, joints=names, hardware=JOINTS, **gains)
    assert found.wrong == f"max_effort: joint '{JOINTS[1]}' has no limit"
    assert found.named("command") == [f"{name}/effort" for name in names]
    kinds = ("position", "velocity")
    assert found.named("state") == [f"{name}/{kind}" for name in names for kind in kinds]
    np.testing.assert_allclose(found.of("tau"), expected, rtol=1e-12, atol=1e-11)
    assert (found.of("control") >= 1).all()
    assert not found.of("counted").any()
    assert not found.of("off").any()


def test_gravity_compensation(package: Package, states: np.ndarray) -> None:
    still = states * np.array([1, 0, 0])[:, None]
    rows = states[:, :2].reshape(STATES, 6)
    given = {"mode": "gravity_compensation", "hardware": JOINTS, "max_effort": [1e3] * 3}
    found = package.run("Controller", rows, **given)
    expected = golden(package, still)
    np.testing.assert_allclose(found.of("tau"), expected, rtol=0, atol=1e-13 * abs(expected).max())
    assert not found.of("counted").any()


def test_numbers_that_are_none(package: Package) -> None:
    """An error, efforts as before; and hardware whose first state is none, or that lacks one."""
    rows = [[0.1] * 6, [0.1] * 5 + [np.nan], [0.2] * 6]
    found = package.run("Controller", rows, hardware=JOINTS)
    assert found.of("error") == pytest.approx(found.of("tau")[:1])
    assert len(found.of("tau")) == 2
    given = {"max_effort": [1.0] * 3}
    found = package.run("Controller", rows[1:], hardware=JOINTS, **given)
    assert (found.code, found.wrong) == (
        1,
        "a position or velocity of the hardware is not a number yet",
    )
    found = package.run("Controller", [[0.1] * 4], hardware=JOINTS[:2], **given)
    assert found.wrong == f"the hardware has no state {JOINTS[2]}/position"


@pytest.mark.parametrize(
    ("key", "value", "wrong"),
    [
        ("mode", "fast", "mode: 'fast' is neither computed_torque nor gravity_compensation"),
        ("kp", [1.0, 2.0], "kp: 2 numbers for 3 joints"),
        ("kd", [1.0, -2.0, 1.0], f"kd: is not a number from 0 on for joint '{JOINTS[1]}'"),
        ("max_effort", [1.0, 1.0, np.nan], "max_effort: is not a number from 0 on for joint"),
    ],
)
def test_parameters_that_do_not_fit(package: Package, key: str, value: object, wrong: str) -> None:
    found = package.run("Controller", hardware=JOINTS, **{key: value})
    assert found.code == 1
    assert found.wrong.startswith(wrong)


@pytest.mark.slow
def test_a_payload(states: np.ndarray, tmp_path: Path) -> None:
    """Mass, centre of mass and inertia about that, of a package that has a link for them."""
    robot = tmp_path / "arm.urdf"
    robot.write_text(urdf())
    choices = {"functions": ("id",), "payload": "l3"}
    made = api.generate(robot, tmp_path / "made", to="cpp", name="arm_2", **choices)
    place, notes = api.package_ros2(made)
    assert any(note.startswith('payload: on "l3" up to') for note in notes)
    (tmp_path / "build").mkdir()
    name = "arm_2_dynamics"
    package = Package(robot, compiled(place, name, tmp_path / "build", LATER[:1]), name)
    parameters = yaml.safe_load((place / "config" / "controllers.yaml").read_text())
    assert parameters[name]["ros__parameters"]["payload"] == [0.0] * 10
    mass, centre = 1.5, np.array([0.1, -0.05, 0.2])
    xx, xy, xz, yy, yz, zz = inertia = (0.02, 0.001, -0.002, 0.03, 0.003, 0.025)
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    about += mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    entries = [about[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    ten = [mass, *(mass * centre), *entries]
    q, qd, qdd = np.moveaxis(states, 1, 0)
    for payload, given in (
        ([0.0] * 10, {}),
        (ten, {"payload": [mass, *centre.tolist(), *inertia]}),
    ):
        arrays = {"q": q, "qd": qd, "qdd": qdd, "payload": np.tile(payload, (STATES, 1))}
        expected = api.evaluate(robot, arrays, "golden", **choices)["tau"]
        own = {f"dynamics__{key}": value for key, value in given.items()}
        found = package.run("Solver", states.reshape(STATES, 9), **own)
        tau = found.of("tau") + found.of("f")
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * abs(expected).max())
        rows = states[:, :2].reshape(STATES, 6)
        mode = {"mode": "gravity_compensation", "max_effort": [1e3] * 3, "hardware": JOINTS}
        held = package.run("Controller", rows, **mode, **given)
        np.testing.assert_allclose(held.of("tau"), found.of("g"), rtol=0, atol=1e-12)
    for own, wrong in (
        ([1.0, 2.0], "payload: 2 numbers, not 10"),
        ([-1.0] * 10, "payload: a mass below zero"),
        ([np.nan] * 10, "payload: not all of it is finite"),
    ):
        assert package.run("Controller", payload=own).wrong == wrong
        assert package.run("Solver", dynamics__payload=own).wrong == wrong


def test_what_is_refused(tmp_path: Path) -> None:
    def refused(robot: str | Path, wrong: str, **choices: object) -> None:
        place = tmp_path / re.sub(r"\W", "", wrong)[:40]
        api.generate(robot, place, **{"to": "cpp", **choices})
        with pytest.raises(OutputError, match=wrong):
            api.package_ros2(place)
        assert not (place / "ros2").exists()

    refused("pendulum", r"holds c, packages of ROS 2 are made of C\+\+: .* --to cpp", to="c")
    refused("pendulum", r"is of did, m; .* of id alone, .* --function id", functions=("did", "m"))
    refused("pendulum", r"takes f_ext, for which", external_forces="all")
    refused("pendulum", r"takes parameter, for which", parameters="registers")
    refused("pendulum", r"its floating base has several coordinates", base="floating")
    planar = tmp_path / "planar.urdf"
    planar.write_text(urdf().replace("'continuous'", "'planar'"))
    refused(planar, r"joint 'turn #3' has several coordinates")


def test_nothing_half_written(tmp_path: Path) -> None:
    """Where a file is in the way of the package, no file of it is written."""
    made = api.generate("pendulum", tmp_path / "made", to="cpp").folder
    (made / "ros2").write_text("mine")
    with pytest.raises(OutputError, match="ros2"):
        api.package_ros2(made)
    assert (made / "ros2").read_text() == "mine"


@pytest.mark.slow
def test_references_are_whole_and_in_order(place: Path, tmp_path: Path) -> None:
    """One thread writes while another reads, under ThreadSanitizer."""
    (tmp_path / "reader.cpp").write_text(READER.replace("NAMESPACE", NAME))
    command = ["g++", "-std=c++17", "-O1", "-fsanitize=thread", f"-I{place / 'src'}", "-pthread"]
    subprocess.run([*command, tmp_path / "reader.cpp", "-o", tmp_path / "reader"], check=True)
    done = subprocess.run([tmp_path / "reader"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


AMENT = Path("/usr/share/ament_cmake"), Path("/usr/share/pluginlib/cmake")  # of Debian


@pytest.mark.slow
@pytest.mark.skipif(
    not all(own.is_dir() for own in AMENT),
    reason="no ament_cmake and pluginlib: apt-get install ament-cmake pluginlib-dev",
)
def test_built_by_ament(place: Path, tmp_path: Path) -> None:
    """The real ament_cmake and pluginlib, with our declarations for all else: a library, and an
    index that has its plugins; another package finds the dynamics."""
    if not EIGEN.is_dir() or not shutil.which("cmake"):
        pytest.skip("no Eigen and CMake: pip install cmeel-eigen, apt-get install cmake")
    stub, installed = tmp_path / "stub", tmp_path / "installed"
    included(stub / "include", "ros2_declarations.hpp", HEADERS)
    for own in ET.parse(place / "package.xml").getroot().iter("depend"):
        if own.text not in ("eigen", "pluginlib"):
            config = stub / "share" / str(own.text) / "cmake" / f"{own.text}Config.cmake"
            config.parent.mkdir(parents=True)
            config.write_text(f"set({own.text}_INCLUDE_DIRS {stub / 'include'})\n")
    user = tmp_path / "user"
    user.mkdir()
    (user / "user.cpp").write_text(
        f"#include <{NAME}/dynamics.hpp>\nint main() {{ {NAME}::Dynamics own; return own.order("
        '{}, "").empty(); }\n'
    )
    (user / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES CXX)\n"
        f"find_package({NAME} REQUIRED)\nadd_executable(user user.cpp)\n"
        f"target_link_libraries(user {NAME}::{NAME})\ninstall(TARGETS user)\n"
    )
    prefix = f"{stub};{installed};{EIGEN.parent.parent}"
    for source in (place, user):
        build = tmp_path / f"build_{source.name}"
        options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_INSTALL_PREFIX={installed}"]
        options += ["-DPython3_EXECUTABLE=/usr/bin/python3", "-DCMAKE_BUILD_TYPE=Debug"]
        for command in (
            ["cmake", "-S", source, "-B", build, *options],
            ["cmake", "--build", build],
            ["cmake", "--install", build],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert not done.returncode, done.stdout + done.stderr
    index = installed / "share" / "ament_index" / "resource_index"
    for base, of in (("inverse_dynamics_solver", "solver"), ("controller_interface", "controller")):
        listed = (index / f"{base}__pluginlib__plugin" / NAME).read_text().split()
        assert listed == [f"share/{NAME}/{of}.xml"]
        (plugins,) = (ET.parse(installed / file).getroot() for file in listed)
        assert (installed / "lib" / f"lib{plugins.get('path')}.so").is_file()
    assert (installed / "share" / NAME / "config" / "controllers.yaml").is_file()
    subprocess.run([installed / "bin" / "user"], check=True)
