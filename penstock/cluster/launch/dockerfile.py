"""The Dockerfile of the image that all pods of a job run.

Built in the directory of the program, which becomes ``/app``; the program's path on the command
line of ``penstock k8s`` is seen from there.
"""

from __future__ import annotations

import json
import sys

from penstock.cluster.launch.pods import LOGS, USER

_APP = "/app"


def dockerfile(ray: bool = False) -> str:
    """The text of a Dockerfile.

    Args:
      ray: whether the image runs in a Ray cluster.

    >>> print(dockerfile().splitlines()[4])
    WORKDIR /app
    """
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = "penstock[ray]" if ray else "penstock"
    # What Penstock is installed from, and the build of torch (an index of wheels), can be chosen:
    # docker build --build-arg PENSTOCK=./penstock-0.1.0-py3-none-any.whl .
    instructions = [
        ("FROM", f"python:{python}-slim"),
        ("ARG", f"PENSTOCK={packages}"),
        ("ENV", "PIP_NO_CACHE_DIR=1 PYTHONUNBUFFERED=1 HOME=/home/penstock"),
        ("RUN", f"useradd --uid {USER} --create-home penstock && install -d -o {USER} {LOGS}"),
        ("WORKDIR", _APP),
        ("COPY", ". ."),
        ("RUN", 'pip install "$PENSTOCK" jupyterlab'),
        ("USER", str(USER)),
        ("CMD", json.dumps(["penstock", "--help"])),
    ]
    return "".join(f"{name} {text}\n" for name, text in instructions)
