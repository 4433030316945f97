"""A folder of C++ as a package of Python, which pip installs and which does not need rbdgen."""

from __future__ import annotations

from pathlib import Path

from ..system.messages import Progress
from ..system.templates import render
from .folder import OutputError, checked_folder, text_of, write_file
from .output_paths import check_place

FOLDER = "python"
MODULE = "{name}_python.cc"
SOURCES, HEADERS = (".cpp", ".cc"), (".h", ".inc")


def package_python(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/python: pyproject.toml, setup.py, the package NAME with its types, sources.

    Returns the folder and notes. OutputError for a folder that holds no C++ or was changed, unless
    ``trust``.
    """
    place = Path(folder)
    manifest = checked_folder(place, trust, progress)
    if manifest.get("language") != "cpp":
        raise OutputError(
            f"{place}: holds {manifest.get('language', 'Verilog')}, packages of Python are made "
            "of C++: rbdgen generate ROBOT --to cpp"
        )
    entry = manifest.program
    name, out = entry.name, place / FOLDER
    files = sorted(file for file in entry.files if file.startswith(f"{name}"))
    sources = [file for file in files if Path(file).suffix in SOURCES]
    headers = [file for file in files if Path(file).suffix in HEADERS]
    if MODULE.format(name=name) not in sources:
        raise OutputError(f"{place}: has no module of Python; generate it again")
    check_place(out / "pyproject.toml")
    facts = {
        "name": name,
        "version": entry.generator.split()[-1],
        "robot": entry.robot,
        "functions": ", ".join(entry.functions),
        "joint_names": entry.joint_names,
        "body_names": entry.body_names,
        "nq": entry.nq,
        "nv": entry.nv,
        "takes": entry.interface.takes,
        "gives": entry.interface.gives,
        "parameters": [number["real"] for number in entry.facts["parameters"]],
        "sources": sources,
        "headers": headers,
    }
    written = {
        "pyproject.toml": render("python/pyproject.toml.jinja", **facts),
        "setup.py": render("python/setup.py.jinja", **facts),
        "README.md": render("python/README.md.jinja", **facts),
        "MANIFEST.in": "graft src\n",
        f"{name}/__init__.py": render("python/init.py.jinja", **facts),
        f"{name}/__init__.pyi": render("python/init.pyi.jinja", **facts),
        f"{name}/py.typed": "",
        **{f"src/{file}": text_of(place, file) for file in (*sources, *headers, "README.md")},
    }
    for file, text in written.items():
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        write_file(out / file, text)
    return out, [*entry.notes]
