"""MuJoCo's compiled model of an MJCF, without the assets that say nothing of its bodies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

from .model import RobotError
from .xml_lines import one_line

if TYPE_CHECKING:
    import mujoco


def compiled(source: Path | str, shown: str) -> tuple[mujoco.MjModel, str, list[str]]:
    """The compiled model of a file or a text, its name, and notes.

    ``shown``: what messages call it. Files of meshes, textures and height fields may be missing, or
    be refused, where all bodies whose geometry they are have an ``<inertial>``. RobotError, one
    line: MuJoCo is not installed, or refuses the file.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise RobotError(
            f'{shown}: is MJCF, which MuJoCo reads: pip install "rbdgen[robots]"'
        ) from None
    warned: list[str] = []
    before = mujoco.get_mju_user_warning()  # the default one writes a file where the user stands
    mujoco.set_mju_user_warning(warned.append)
    try:
        with catch_warnings(record=True) as more:
            simplefilter("always")
            model, name = _compiled(source, warned)
        warned += [str(warning.message) for warning in more]
    except (ValueError, OSError) as error:
        raise RobotError(f"{shown}: MuJoCo refuses it: {_said(error)}") from None
    finally:
        mujoco.set_mju_user_warning(before)
    notes = [f"MuJoCo says: {one_line(' '.join(text.split()), 300)}" for text in warned]
    return model, name, notes


def _compiled(source: Path | str, warned: list[str]) -> tuple[mujoco.MjModel, str]:
    """The model and its name; ``warned`` receives what is wrong with files that it does without."""
    import mujoco

    if isinstance(source, Path):
        spec = mujoco.MjSpec.from_file(str(source))
    else:
        spec = mujoco.MjSpec.from_string(source)
    try:
        model = spec.compile()
    except ValueError as error:
        if not _strip(spec):
            raise
        model = spec.compile()
        warned.append(
            f"{_said(error)}: meshes, textures and height fields are left out, and no inertia "
            "follows from them"
        )
    return model, spec.modelname


def _said(error: Exception) -> str:
    return one_line(" ".join(str(error).removeprefix("Error: ").split()), 300)


def _strip(spec: mujoco.MjSpec) -> bool:
    """Take off all that reads a file and has no part in an inertia; whether there was any."""
    import mujoco

    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    kinds = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_SDF)
    before = len(spec.geoms)
    for geom in list(spec.geoms):
        of_world = geom.parent.name == spec.worldbody.name
        if geom.type in kinds and (of_world or (geom.parent.explicitinertial and not always)):
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    unused = [mesh for mesh in spec.meshes if mesh.name not in used]
    assets = [*unused, *spec.textures, *spec.hfields, *spec.skins]
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for element in (*assets, *spec.sensors, *spec.pairs):  # the last two name geoms
        spec.delete(element)
    return bool(assets) or len(spec.geoms) < before
