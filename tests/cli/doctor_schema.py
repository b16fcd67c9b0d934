"""The schema of ``penstock doctor --json``, format 1: every key, and nothing besides."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
YES: dict[str, Any] = {"type": "boolean"}
MAYBE_YES: dict[str, Any] = {"type": ["boolean", "null"]}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
MAYBE_COUNT: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
NUMBER: dict[str, Any] = {"type": "number", "minimum": 0}
MAYBE_NUMBER: dict[str, Any] = {"type": ["number", "null"], "minimum": 0}


def record(**fields: Any) -> dict[str, Any]:
    """An object with exactly these keys."""
    return {
        "type": "object", "properties": fields, "required": list(fields),
        "additionalProperties": False,
    }  # fmt: skip


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    """What the schema says, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def some(schema: dict[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": schema}


MACHINE = record(
    system=TEXT,
    processor=record(
        name=TEXT, vendor=TEXT, architecture=TEXT, model=TEXT, instruction_sets=some(TEXT),
        virtual=MAYBE_YES,
    ),
    cores=record(
        online=COUNT, physical=MAYBE_COUNT, allowed=COUNT, quota=MAYBE_NUMBER, usable=COUNT
    ),
    use=maybe(
        record(
            seconds=NUMBER, cores=COUNT, own=NUMBER, others=NUMBER, steal=NUMBER,
            pressure=MAYBE_NUMBER,
        )
    ),
    memory=record(total=MAYBE_COUNT, available=MAYBE_COUNT, limit=MAYBE_COUNT),
    gpus=some(TEXT),
    toolchain=record(
        compilers=some(record(command=TEXT, path=TEXT, version=TEXT)),
        builds=MAYBE_YES,
        complaint=TEXT,
        python_headers=MAYBE_TEXT,
    ),
)  # fmt: skip

PYTHON = record(
    version=TEXT, implementation=TEXT, executable=TEXT, compiler=TEXT, optimized=MAYBE_YES,
    debug=YES, free_threaded=YES,
)  # fmt: skip

TORCH = record(
    version=TEXT, folder=TEXT, cuda=MAYBE_TEXT, hip=MAYBE_TEXT, debug=YES, compiler=TEXT,
    build_type=TEXT, built_for=some(TEXT), blas=TEXT, mkl=MAYBE_TEXT, onednn=MAYBE_TEXT,
    openmp=MAYBE_TEXT, capability=TEXT, threads=COUNT, interop_threads=COUNT,
    gpus=some(record(name=TEXT, memory=COUNT)), openmp_runtimes=some(TEXT), import_seconds=NUMBER,
)  # fmt: skip

SCHEMA = record(
    format={"const": 1},
    penstock=TEXT,
    fingerprint=TEXT,
    machine=MACHINE,
    python=PYTHON,
    torch=maybe(TORCH),
    torch_error=MAYBE_TEXT,
    packages=some(record(name=TEXT, version=MAYBE_TEXT, needs=TEXT, required=YES)),
    # What the reports of products and teams hold is said, and tested, where they are made.
    choices=maybe(
        record(products=some({"type": "object"}), teams={"type": "object"}, import_seconds=NUMBER)
    ),
    choices_error=MAYBE_TEXT,
    environment=some(record(name=TEXT, value=TEXT, meaning=MAYBE_TEXT)),
    cache=maybe(
        record(
            folder=TEXT,
            writable=YES,
            free=MAYBE_COUNT,
            files=some(record(name=TEXT, size=COUNT, age=NUMBER)),
        )
    ),
    findings=some(
        record(severity={"enum": ["error", "warning", "note"]}, code=TEXT, found=TEXT, advice=TEXT)
    ),
)
