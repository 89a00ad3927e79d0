"""Compile `src/scarce/_core` into one library of Python's stable interface.

Hatchling calls the hook when a wheel or an editable install is built. With no compiler on the
machine it asks pip for zig, for that build alone. ``python build_core.py`` compiles in place;
``--sanitize`` adds checks of addresses and undefined behaviour.
"""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand
    BuildHookInterface = object

CORE = Path(__file__).parent / "src" / "scarce" / "_core"
LIBRARY = CORE / ("_library.pyd" if sys.platform == "win32" else "_library.abi3.so")
fingerprint = runpy.run_path(str(CORE / "_fingerprint.py"))["fingerprint"]
ZIG = "ziglang>=0.17,<0.18"  # what has been seen to work

STRICT = ["-std=c11", "-O3", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math"]
FUSED = ["-ffp-contract=fast"]
# No number is a NaN or infinite there, and zeros have no sign.
LOOSE = [*FUSED, "-fno-signed-zeros", "-ffinite-math-only"]
PLAIN = ["-ffp-contract=off"]
V3 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mf16c", "-mlzcnt", "-mmovbe"]
# Compilers take half of the registers unless they are told.
V4 = [*V3, *("-mavx512" + part for part in ("f", "bw", "cd", "dq", "vl"))]
V4 += ["-mprefer-vector-width=512"]
# Every computing file by how its arithmetic may be changed.
COMPUTING = {
    "active.c": PLAIN,
    "exact_step.c": PLAIN,
    "exponentials.c": FUSED,
    "gaussian.c": FUSED,
    "loose.c": LOOSE,
    "reference.c": PLAIN,
    "rows.c": PLAIN,
    "scans.c": PLAIN,
    "shares.c": PLAIN,
    "sparse.c": PLAIN,
    "steps.c": PLAIN,
    "table.c": PLAIN,
    "trees.c": PLAIN,
    "verdict.c": PLAIN,
    "whole.c": PLAIN,
}
ONCE = ["cpu.c", "module.c"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g"]


def levels() -> dict[str, list[str]]:
    """Return the CPU levels that are compiled, each with the flags of its instructions."""
    if platform.machine().lower() in {"x86_64", "amd64"}:
        return {"base": [], "v3": V3, "v4": V4}
    return {"base": []}


def linking() -> list[str]:
    """Return what a library that Python loads is linked with."""
    if sys.platform == "darwin":
        return ["-shared", "-undefined", "dynamic_lookup"]
    if sys.platform == "win32":
        return ["-shared", f"-L{Path(sys.base_prefix) / 'libs'}", "-lpython3"]
    return ["-shared", "-fPIC"]


def compilers() -> list[list[str]]:
    """Return the commands that may compile, the best first."""
    named = os.environ.get("CC")
    found = [named.split()] if named else [[name] for name in ("gcc", "clang", "cc")]
    return [command for command in found if shutil.which(command[0])]


def zig() -> list[str]:
    """Return the command of zig's compiler, for any processor and an old C library."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    target = {
        "linux": f"{machine}-linux-gnu.2.17",
        "darwin": f"{machine}-macos",
        "win32": f"{machine}-windows-gnu",
    }[sys.platform]
    # Without a processor zig compiles for the one at hand, and other machines die of it.
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-mcpu=baseline"]
    return [*command, "-fno-sanitize=all"]


def works(command: list[str]) -> bool:
    """Say whether a compiler can make a library, with all flags."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text("#include <math.h>\n#include <stdlib.h>\nint f(void) { return 1; }\n")
        flags = [*STRICT, *LOOSE, *list(levels().values())[-1], *linking()]
        result = Path(folder, "try.so")
        try:
            tried = subprocess.run(
                [*command, *flags, str(source), "-o", str(result), "-lm"],
                capture_output=True,
                check=False,
            )
        except OSError:
            return False
        return tried.returncode == 0 and result.exists()


def find_compiler() -> list[str] | None:
    """Return the first compiler that works; None without any."""
    return next((command for command in compilers() if works(command)), None)


def build(sanitize: bool = False, stripped: bool = False) -> None:
    """Compile the library in place; a stripped one has no names for debuggers and profilers."""
    command = find_compiler() or zig()
    extra = SANITIZE if sanitize else []
    last = [*extra, *linking(), *(["-s"] if stripped and sys.platform == "linux" else [])]
    common = [*STRICT, *extra, *([] if sys.platform == "win32" else ["-fPIC"])]
    marks = [f'-DSOURCES="{fingerprint(CORE)}"', *(["-DHAS_LEVELS"] if len(levels()) > 1 else [])]
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "ZIG_LOCAL_CACHE_DIR": folder,
            "ZIG_GLOBAL_CACHE_DIR": folder,
        }

        def compile_one(job: tuple[str, list[str], str]) -> str:
            name, flags, level = job
            out = str(Path(folder, f"{Path(name).stem}_{level}.o"))
            run([*command, *common, *flags, "-c", str(CORE / name), "-o", out], environment)
            return out

        jobs = [
            (name, [*flags, *machine, f"-DLEVEL={level}"], level)
            for name, flags in COMPUTING.items()
            for level, machine in levels().items()
        ]
        jobs += [(name, [*marks, "-DLEVEL=none"], "once") for name in ONCE]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, jobs))
        # Written beside and moved: a process that has the old library open keeps it.
        finished = LIBRARY.with_suffix(".new")
        run([*command, *last, *objects, "-o", str(finished), "-lm"], environment)
        os.replace(finished, LIBRARY)


def run(command: list[str], environment: dict[str, str]) -> None:
    """Run a command; show what it printed if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def wheel_platform(compiled_by_zig: bool) -> str:
    """Return the platform of the wheel's tag."""
    import sysconfig

    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if compiled_by_zig and sys.platform == "linux":
        return "manylinux_2_17_" + name.removeprefix("linux_")
    return name


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc, valid-type]
    """What hatchling calls before it packs a wheel."""

    def dependencies(self) -> list[str]:
        """Return zig if nothing else here compiles."""
        return [] if find_compiler() else [ZIG]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what the wheel is for."""
        build(stripped=True)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{wheel_platform(find_compiler() is None)}"
        build_data["artifacts"].append(f"/src/scarce/_core/{LIBRARY.name}")


if __name__ == "__main__":
    build(sanitize="--sanitize" in sys.argv[1:])
