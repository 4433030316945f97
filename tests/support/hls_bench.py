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

# XRT's, whose device has a memory of its own, and whose kernel runs while somebody waits for it.
XRT = {
    "xrt_device.h": """
#pragma once
#include <string>
namespace xrt {
struct uuid {};
struct device {
    explicit device(unsigned) {}
    uuid load_xclbin(const std::string &) const { return {}; }
};
}
""",
    "xrt_bo.h": """
#pragma once
#include <memory>
#include <vector>
#include "xrt_device.h"
enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };
namespace xrt {
struct bo {
    std::shared_ptr<std::vector<char>> here, there;
    bo(const device &, size_t size, int) :
        here(new std::vector<char>(size)), there(new std::vector<char>(size, 85)) {}
    template <typename T> T map() { return reinterpret_cast<T>(here->data()); }
    void sync(xclBOSyncDirection way)
    {
        if (way == XCL_BO_SYNC_BO_TO_DEVICE)
            *there = *here;
        else
            *here = *there;
    }
};
}
""",
    "xrt_kernel.h": """
#pragma once
#include <functional>
#include <stdexcept>
#include "xrt_bo.h"
extern "C" void KERNEL(const void *, void *, unsigned);
extern "C" void WITH_PARAMETERS(const void *, void *, const void *, unsigned);
#define NAMED(name) #name
#define NAME_OF(kernel) NAMED(kernel)
namespace xrt {
struct run {
    std::function<void()> own;
    void wait() { own(); }
};
struct kernel {
    kernel(const device &, uuid, const std::string &name)
    {
        if (name != NAME_OF(KERNEL) && name != NAME_OF(WITH_PARAMETERS))
            throw std::runtime_error(name);
    }
    int group_id(int k) const { return k; }
    run operator()(bo in, bo out, unsigned count) const
    {
        return {[=] { KERNEL(in.there->data(), out.there->data(), count); }};
    }
    run operator()(bo in, bo out, bo held, unsigned count) const
    {
        const void *words = held.there->data();
        return {[=] { WITH_PARAMETERS(in.there->data(), out.there->data(), words, count); }};
    }
};
}
""",
}


def write_stubs(tools: Path) -> None:
    """Write the headers of Vitis and XRT that a kernel and its host include, into ``tools``."""
    (tools / "xrt").mkdir(parents=True)
    (tools / "hls_stream.h").write_text(STREAM)
    for file, text in XRT.items():
        (tools / "xrt" / file).write_text(text)


def run_kernel(folder: Path, name: str, tools: Path, registers: bool) -> str:
    """The output of a folder's host about its kernel, which stubs in ``tools`` call."""
    write_stubs(tools)
    common = ["g++", *FLAGS, "-I", str(tools), "-I", str(folder), "-c"]
    sources = {own: tools / f"{own}.cpp" for own in ("kernel", "host")}
    # the other kind of kernel has no name, and nobody calls it
    kinds = ("WITH_PARAMETERS", "KERNEL") if registers else ("KERNEL", "WITH_PARAMETERS")
    defined = [f"-D{kinds[0]}={name}_kernel", f"-D{kinds[1]}=no_kernel"]
    flags = {"kernel": ["-isystem", str(headers())], "host": defined}
    sources["kernel"].write_text(f'#include "{name}.cpp"\n#include "{name}_kernel.cpp"\n')
    sources["host"].write_text(f'#include "{name}_host.cpp"\n')
    for own, source in sources.items():
        object_file = source.with_suffix(".o")
        subprocess.run([*common, *flags[own], str(source), "-o", str(object_file)], check=True)
    other = tools / "other.cpp"
    other.write_text('extern "C" void no_kernel() { __builtin_trap(); }\n')
    objects = [str(source.with_suffix(".o")) for source in sources.values()]
    program = tools / "host"
    subprocess.run(["g++", *objects, str(other), "-o", str(program)], check=True)
    command = [str(program), f"{name}.xclbin"]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def run(folder: Path, name: str, *flags: str) -> str:
    """What the test bench of a folder says; CalledProcessError where it fails."""
    sources = [str(folder / f"{name}.cpp"), str(folder / f"{name}_tb.cpp")]
    command = ["g++", *FLAGS, "-isystem", str(headers()), *flags, *sources]
    subprocess.run([*command, "-o", str(folder / "tb")], check=True)
    done = subprocess.run([folder / "tb"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout
