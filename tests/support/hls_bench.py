"""The test bench of a folder for high-level synthesis, compiled and run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from rbdgen.codegen.hls_program import headers

FLAGS = ("-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
# What Vitis has and the open headers lack: a stream that holds what was written.
STREAM = """
#include <queue>
namespace hls {
template <typename T> struct stream {
    std::queue<T> held;
    T read() { T found = held.front(); held.pop(); return found; }
    void write(const T &value) { held.push(value); }
};
}
"""
BEAT = """
#include <ap_int.h>
template <int D, int U, int I, int DEST> struct ap_axiu {
    ap_uint<D> data;
    ap_uint<D / 8> keep, strb;
    ap_uint<1> last;
};
"""


def run(folder: Path, name: str, *flags: str) -> str:
    """What the test bench of a folder says; CalledProcessError where it fails."""
    sources = [str(folder / f"{name}.cpp"), str(folder / f"{name}_tb.cpp")]
    command = ["g++", *FLAGS, "-isystem", str(headers()), *flags, *sources]
    subprocess.run([*command, "-o", str(folder / "tb")], check=True)
    done = subprocess.run([folder / "tb"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout
