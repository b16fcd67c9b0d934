"""GPUs that made-up drivers show."""

from __future__ import annotations

from pathlib import Path

from penstock.foundation.machine.gpus import gpus
from tests.foundation.machine.made_up import write


def test_none(tmp_path: Path) -> None:
    assert gpus(tmp_path) == ()
    assert gpus(write(tmp_path, {"dev/nvidiactl": "", "dev/nvidia-uvm": ""})) == ()


def test_the_driver_names_them(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA H200\nIRQ: 5\n",
        "proc/driver/nvidia/gpus/0000:02:00.0/information": b"\xff\x00",
        "dev/nvidia0": "",
    }
    assert gpus(write(tmp_path, files)) == ("NVIDIA H200", "NVIDIA GPU")


def test_a_container_has_the_devices_only(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = dict.fromkeys(("dev/nvidia0", "dev/nvidia1", "dev/kfd"), "")
    assert gpus(write(tmp_path, files)) == ("NVIDIA GPU", "NVIDIA GPU", "AMD GPU")
