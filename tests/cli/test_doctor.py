"""``penstock doctor``: as a process, its JSON, its text; the facts and how they are gathered."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from penstock.cli import doctor, doctor_facts, doctor_inside
from penstock.cli.doctor_findings import findings
from penstock.cli.doctor_text import show
from penstock.cli.doctor_variables import HIDDEN, KNOWN, variables
from penstock.cli.output import Output
from tests.cli.doctor_schema import SCHEMA
from tests.cli.made_up_machines import GOOD, but

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "penstock", "doctor"]
# Seconds of processor time that the command may take: two imports of torch's size, and a compiler.
CPU_SECONDS = 10.0


def check(document: Any) -> None:
    """That a report is what its schema says."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no processor time of children")
def test_the_process_and_how_long_it_computes(tmp_path: Path) -> None:
    environ = {**os.environ, "PENSTOCK_TOKEN": "s3cret", "XDG_CACHE_HOME": str(tmp_path)}
    with open(tmp_path / "out", "w+") as out, open(tmp_path / "err", "w+") as err:
        process = subprocess.Popen([*COMMAND, "--json"], cwd=ROOT, stdout=out, stderr=err,
                                   env=environ)  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        text, complaints = out.read(), err.read()
    assert process.returncode == 0 and complaints == ""
    document = json.loads(text)
    check(document)
    assert used.ru_utime + used.ru_stime < CPU_SECONDS
    assert document["torch"]["version"] and document["choices"]["teams"]
    assert document["torch_error"] is None and document["choices_error"] is None
    assert "s3cret" not in text and HIDDEN in text
    assert document["torch"]["folder"].startswith(sysconfig.get_path("platlib"))


def test_in_this_process_as_text(penstock: Any) -> None:
    said = penstock("doctor", "--seconds", "0.05")
    # Not the heads of tables, which have columns.
    titles = [line for line in said.splitlines() if re.match("[a-z]", line) and "  " not in line]
    assert titles[:7] == [
        "machine", "python", "torch", "kernels and teams", "environment", "cached", "findings",
    ]  # fmt: skip


def test_in_this_process_as_json(penstock: Any) -> None:
    check(json.loads(penstock("doctor", "--json", "--seconds", "0.05")))


def test_strict_fails_on_errors_only(penstock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = but(torch=None, torch_error="ImportError: no")
    for facts, code in ((GOOD, 0), (but(machine={"use": {"others": 3.0}}), 0), (bad, 1)):
        monkeypatch.setattr(doctor, "gather", lambda seconds, facts=facts: facts)
        penstock("doctor", "--strict", code=code)
        penstock("doctor", "--json", "--strict", code=code)
        penstock("doctor")


def test_seconds_that_make_no_sense(penstock: Any) -> None:
    assert "seconds" in penstock("doctor", "--seconds", "0", code=2)


def text_of(facts: doctor_facts.Facts, capsys: pytest.CaptureFixture[str]) -> str:
    show(Output(), facts, findings(facts))
    return capsys.readouterr().out


def test_text_of_a_good_machine(capsys: pytest.CaptureFixture[str]) -> None:
    said = text_of(GOOD, capsys)
    assert max(map(len, said.splitlines())) <= 100
    for part in (
        "  processor       A processor (AMD, x86_64, virtual machine)\n",
        "  instructions    SSE4.2 AVX F16C FMA AVX2\n",
        "  cores           4 usable: 4 online (4 physical), 4 allowed by affinity, no quota\n",
        "  used now        0.20 cores by others, stolen 0.00, tasks waited 1% of the time (over",
        "  memory          8.0 GiB left of 16.0 GiB\n",
        "  compilers       c++: c++ 12.2, works\n",
        "  kernels         AVX2; the processor offers AVX2\n",
        "  why             nobody else uses the cores\n",
        "form        chosen  times, us\n128x65x256  mm      mm 63, linear 82.5\n",
        "  OMP_NUM_THREADS = 1 (OpenMP: the most threads of a kernel)\n",
        "                  products  900 B, 2 h old\n",
        "findings\n  nothing looks wrong\n",
    ):
        assert part in said


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_text_on_a_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    show(Output(), GOOD, findings(GOOD))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()
    wrapped = [line for line in lines if line.startswith("  ")]
    assert max(map(len, wrapped)) <= min(columns, 100)
    assert any(line.startswith("  processor") for line in wrapped)


def test_text_where_little_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    facts = but(
        torch=None, torch_error="boom", choices=None, choices_error="boom", cache=None,
        packages=(), environ={},
        machine={
            "use": None, "processor": {"instruction_sets": (), "virtual": None},
            "memory": {"total": None, "available": None},
            "cores": {"physical": None, "quota": 2.5, "usable": 2},
            "toolchain": {"compilers": (), "builds": None, "python_headers": None},
        },
    )  # fmt: skip
    said = text_of(facts, capsys)
    check(json.loads(json.dumps(doctor.document(facts, findings(facts)))))
    for part in ("import          failed: boom", "a quota of 2.5", "nothing that Penstock, torch",
                 "used now        not told", "compilers       none"):  # fmt: skip
        assert part in said


def test_values_that_would_break_lines(capsys: pytest.CaptureFixture[str]) -> None:
    facts = but(environ={"TF_CONFIG": '{"a": "\x1b[31m\n' + "x" * 500, "PENSTOCK_\x07": "y"})
    said = text_of(facts, capsys)
    assert "\x1b" not in said and "\x07" not in said
    assert max(map(len, said.splitlines())) <= 100


def test_json_of_a_good_machine() -> None:
    document = json.loads(json.dumps(doctor.document(GOOD, findings(GOOD))))
    check(document)
    assert document["format"] == 1 and document["findings"] == []


# ------------------------------------------------------------------------------- environment


def test_every_variable_that_penstock_reads_has_a_row() -> None:
    read = set()
    for path in (ROOT / "penstock").rglob("*.py"):
        if path.name != "doctor_variables.py":
            # "PENSTOCK_" alone stands for all that begin so.
            read |= set(re.findall(r"\bPENSTOCK_[A-Z][A-Z_]*[A-Z]\b", path.read_text()))
    assert "PENSTOCK_TOKEN" in read
    assert read - set(KNOWN) == set()


def test_the_page_of_variables_is_this_table() -> None:
    page = (ROOT / "docs" / "environment.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert dict(rows) == KNOWN


@pytest.mark.parametrize(
    "name",
    ["PENSTOCK_NEW", "OMP_X", "GOMP_X", "KMP_X", "MKL_X", "ONEDNN_X", "DNNL_X", "TORCHX",
     "ATEN_CPU_CAPABILITY", "CUDA_VISIBLE_DEVICES", "TF_CONFIG", "TF_X", "LD_PRELOAD"],
)  # fmt: skip
def test_variables_that_are_shown(name: str) -> None:
    found = variables({name: "1", "HOME": "/", f"MY_{name}": "2"})
    assert [(each.name, each.value) for each in found] == [(name, "1")]
    assert found[0].meaning == KNOWN.get(name)


def test_secrets_are_not_shown() -> None:
    shown = {"GRPC_X": "d", "TF_WEB_IDENTITY_TOKEN_FILE": ""}
    secret = {"PENSTOCK_TOKEN": "a", "TF_API_KEY": "b", "TORCH_PASSWORD_1": "c"}
    found = {each.name: each.value for each in variables({**shown, **secret})}
    assert found == {**shown, **dict.fromkeys(secret, HIDDEN)}


# ---------------------------------------------------------------------- torch and its process


CUDA_CONFIG = """PyTorch built with:
  - clang 17.0.6
  - CUDA Runtime 12.4
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - Build settings: BLAS_INFO=open, BUILD_TYPE=Debug, CXX_FLAGS= -O0 -g, PERF_WITH_AVX=1, PERF_WITH_AVX2=0, USE_MKL=OFF,
"""  # noqa: E501


def test_torch_of_another_build() -> None:
    assert doctor_inside.parse_config(CUDA_CONFIG) == {
        "compiler": "clang 17.0.6", "build_type": "Debug", "built_for": ("AVX",), "blas": "open",
        "mkl": None, "onednn": None, "openmp": "4.5",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "\n\n", "Build settings:", "Build settings: ===,,=A=,B"])
def test_torch_that_says_something_else(text: str) -> None:
    assert doctor_inside.parse_config(text) == {
        "compiler": "", "build_type": "", "built_for": (), "blas": "", "mkl": None,
        "onednn": None, "openmp": None,
    }  # fmt: skip


def test_this_torch() -> None:
    import torch

    found = doctor_inside.examine_torch()
    assert found.version == torch.__version__ and found.threads == torch.get_num_threads()
    assert found.compiler and found.build_type == "Release" and found.blas
    assert found.capability in torch.__config__.show()
    assert len(found.gpus) == torch.cuda.device_count()


def test_openmp_runtimes(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    start = "7f00-7f01 r-xp 00000000 08:01 42   "
    for name in ("libgomp-a34b.so.1", "libiomp5.so", "libcomposite.so"):
        (tmp_path / name).touch()
    (tmp_path / "libomp.so").symlink_to(tmp_path / "libiomp5.so")
    names = ("libgomp-a34b.so.1", "libgomp-a34b.so.1", "libiomp5.so", "libomp.so",
             "libcomposite.so")  # fmt: skip
    lines = [f"{start}{tmp_path}/{name}" for name in names]
    maps.write_text("\n".join([*lines, "7f02-7f03 rw-p 0 00:00 0", "", "nonsense"]))
    expected = [str(tmp_path / "libgomp-a34b.so.1"), str(tmp_path / "libiomp5.so")]
    assert list(doctor_inside.openmp_runtimes(maps)) == [os.path.realpath(p) for p in expected]
    assert doctor_inside.openmp_runtimes(tmp_path / "none") == ()


def pretend_torch(folder: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that is found before the real one, by the process that is asked."""
    (folder / "torch.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.delitem(sys.modules, "torch")


@pytest.mark.skipif(os.name != "posix", reason="no signals")
def test_a_torch_that_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    pretend_torch(tmp_path, source, monkeypatch)
    torch, torch_error, choices, choices_error = doctor_facts.imported()
    assert torch is None and choices is None
    assert torch_error is not None and "SIGILL, an instruction that this processor" in torch_error
    assert choices_error == torch_error


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("raise ImportError('libcudart.so.12: cannot open')", "ImportError: libcudart.so.12"),
        ("1 / 0", "ZeroDivisionError: "),
        ("", "AttributeError: module 'torch' has no attribute '__config__'"),
        ("raise SystemExit('enough')", "importing failed: enough"),
        ("raise SystemExit", "the process that was asked said nothing"),
    ],
)
def test_a_torch_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, complaint: str
) -> None:
    pretend_torch(tmp_path, source, monkeypatch)
    torch, torch_error, choices, choices_error = doctor_facts.imported()
    assert torch is None and choices is None and choices_error
    assert torch_error is not None and complaint in torch_error


def test_a_torch_that_takes_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_facts, "_IMPORT_SECONDS", 0.5)
    pretend_torch(tmp_path, "import time; time.sleep(60)", monkeypatch)
    assert doctor_facts.imported()[1] == "importing took more than 0.5 s"


def test_penstock_that_cannot_be_imported() -> None:
    said = json.loads(json.dumps({"torch": asdict(GOOD.torch)})) if GOOD.torch else {}
    torch, torch_error, choices, error = doctor_facts.read_said(
        {**said, "choices_error": "ModuleNotFoundError: No module named 'crc32c'"}, None
    )
    assert torch == GOOD.torch and torch_error is None and choices is None
    assert error == "ModuleNotFoundError: No module named 'crc32c'"


# ----------------------------------------------------------------- python, packages, the cache


@pytest.mark.parametrize(
    ("arguments", "flags", "optimized"),
    [
        ("'--enable-shared' '--enable-optimizations'", "", True),
        ("'--enable-shared'", "-O3 -fprofile-use", True),
        ("'--enable-shared'", "-O3", False),
        (None, None, None),
    ],
)
def test_how_python_was_built(
    monkeypatch: pytest.MonkeyPatch, arguments: str | None, flags: str | None, optimized: bool
) -> None:
    said = {"CONFIG_ARGS": arguments, "PY_CORE_CFLAGS": flags}
    monkeypatch.setattr(doctor_facts.sysconfig, "get_config_var", said.get)
    found = doctor_facts.python()
    assert found.optimized is optimized and not found.free_threaded
    assert found.version == ".".join(map(str, sys.version_info[:3]))


def test_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["numpy>=1.26", "no-such-package-1 (>=2)", 'ray>=2.40; extra == "ray"',
             'ray>=3; extra == "dev"', 'ruff>=0.6; extra == "dev"', ">=nonsense"]  # fmt: skip
    monkeypatch.setattr(doctor_facts, "_requirements", lambda: lines)
    found = {each.name: each for each in doctor_facts.packages()}
    assert list(found) == ["numpy", "no-such-package-1", "ray"]
    assert found["numpy"].version and found["numpy"].required
    assert found["no-such-package-1"].version is None
    assert found["ray"].needs == ">=2.40" and not found["ray"].required


def test_penstock_needs_what_it_says() -> None:
    names = {each.name for each in doctor_facts.packages() if each.required}
    assert {"torch", "numpy", "tensorboard", "grpcio", "protobuf"} <= names


def test_a_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "products.json").write_text("12345")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    os.utime(tmp_path / "a" / "products.json", (0, 0))
    found = doctor_facts.describe_folder(tmp_path)
    assert found.writable and found.free
    (file,) = found.files
    assert (file.name, file.size) == (os.path.join("a", "products.json"), 5) and file.age > 1e9


def test_a_cache_folder_that_is_not_there_or_no_folder(tmp_path: Path) -> None:
    found = doctor_facts.describe_folder(tmp_path / "a" / "b")
    assert found.writable and found.files == () and found.free
    (tmp_path / "a").touch()
    found = doctor_facts.describe_folder(tmp_path / "a" / "b")
    assert not found.writable and found.files == ()


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="no users")
def test_a_cache_folder_that_is_somebody_elses(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    (locked / "inner").mkdir(mode=0o700)
    locked.chmod(0)
    me = os.geteuid()
    if me == 0:  # who may everything
        os.seteuid(65534)
    try:
        found = [doctor_facts.describe_folder(p) for p in (locked / "inner", locked / "none")]
    finally:
        os.seteuid(me)
        locked.chmod(0o700)
    assert [each.writable for each in found] == [False, False]
    assert [each.files for each in found] == [(), ()]
