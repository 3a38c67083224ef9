"""Proves that a Pi can install what we need: a wheel for aarch64 under each Python, or plain Python.

Reads the pins from requirements.lock, keeps those that the run-time extras pull in, and asks the package index for
each of them. What a Pi takes from apt is not asked for.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHONS = ("3.11", "3.13")
EXTRAS = ("", "demo", "vision", "postgres", "pi")
PLATFORMS = ("manylinux_2_17_aarch64", "manylinux2014_aarch64", "manylinux_2_28_aarch64", "manylinux_2_34_aarch64")
FROM_APT = {"numpy", "opencv-python-headless", "lgpio"}
COMPILED = (".c", ".cc", ".cpp", ".pyx", ".rs", ".f90")


def pins() -> dict[str, str]:
    """Name to version, as locked."""
    lines = Path("requirements.lock").read_text(encoding="utf-8").splitlines()
    split = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version.strip() for name, version in split}


def run_time_packages() -> set[str]:
    """Every package that the run-time extras pull in, found by walking the installed metadata."""
    wanted = [("crokinole", extra) for extra in EXTRAS]
    seen: set[tuple[str, str]] = set()
    while wanted:
        name, extra = wanted.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            requires = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for text in requires:
            need = Requirement(text)
            environment = {"extra": extra, "platform_machine": "aarch64"}
            if need.marker is None or need.marker.evaluate(environment):
                wanted += [(canonicalize_name(need.name), e) for e in ("", *need.extras)]
    return {name for name, _ in seen} - {"crokinole", *FROM_APT}


def without_wheel(pinned: list[str], python: str) -> set[str]:
    """Those of which the index has no wheel that a Pi with this Python installs."""
    missing: set[str] = set()
    with tempfile.TemporaryDirectory() as target:
        argv = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
        argv += ["--no-deps", "--ignore-installed", "--only-binary", ":all:", "--target", target]
        argv += ["--python-version", python, *(f"--platform={p}" for p in PLATFORMS)]
        while True:
            wanted = [pin for pin in pinned if pin not in missing]
            done = subprocess.run([*argv, *wanted], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return missing
            named = re.search(r"No matching distribution found for (\S+)", done.stderr)
            if named is None or named[1] not in wanted:
                sys.exit(f"the package index gives no answer: {done.stderr.strip().splitlines()[-1:]}")
            missing.add(named[1])


def is_plain_python(pin: str) -> bool:
    """Whether the package's source holds nothing to compile."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        argv += ["--no-binary", ":all:", "--dest", folder, pin]
        if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
            return False
        for path in Path(folder).glob("*.tar.gz"):
            with tarfile.open(path) as archive:
                return not any(name.endswith(COMPILED) for name in archive.getnames())
    return False


def main() -> int:
    """Print every package that a Pi cannot install; 0 if there is none."""
    locked, names = pins(), sorted(run_time_packages())
    missing = [f"{name}: not pinned in requirements.lock" for name in names if name not in locked]
    pinned = [f"{name}=={locked[name]}" for name in names if name in locked]
    lacking = {python: without_wheel(pinned, python) for python in PYTHONS}
    for pin in sorted(set().union(*lacking.values())):
        if not is_plain_python(pin):
            where = ", ".join(python for python, pins_without in lacking.items() if pin in pins_without)
            missing.append(f"{pin}: no aarch64 wheel for Python {where} and not plain Python")
    sys.stdout.write("\n".join([*missing, f"{len(names)} packages, {len(missing)} not for a Pi"]) + "\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
