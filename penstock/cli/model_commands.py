"""Arguments of ``export``, ``import``, ``transform`` and ``freeze``; ``main`` has the commands."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.output import Output


class Form(StrEnum):
    """What ``export`` writes."""

    PYTHON = "python"
    ONNX = "onnx"
    PT2 = "pt2"


class Bits(StrEnum):
    """How ``export`` keeps weights."""

    FLOAT16 = "float16"
    INT8 = "int8"


class Integers(StrEnum):
    """How ``export`` has products computed in integers."""

    DYNAMIC = "dynamic"
    STATIC = "static"


def export(
    source: Annotated[
        str, typer.Argument(help="A SavedModel; or a GraphDef, with --input and --output.")
    ],
    dest: Annotated[
        str, typer.Argument(metavar="OUT", help="The file: OUT.py, OUT.onnx or OUT.pt2.")
    ],
    to: Annotated[Form | None, typer.Option(help="The format; default: as OUT ends.")] = None,
    signature: Annotated[
        str | None, typer.Option(help="Default: serving_default, or the only one.")
    ] = None,
    tags: Annotated[str, typer.Option(help="Of the graph, separated by commas.")] = "serve",
    shape: Annotated[
        list[str] | None,
        typer.Option(help="Fix the shape of an input: images=1,224,224,3.", metavar="NAME=DIMS"),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", help="Of a GraphDef: a node, or a name for it.", metavar="[NAME=]TENSOR"
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option("--output", help="The same for outputs.", metavar="[NAME=]TENSOR"),
    ] = None,
    weights: Annotated[Bits | None, typer.Option(help="ONNX: keep weights in fewer bits.")] = None,
    prune: Annotated[
        float | None, typer.Option(help="ONNX: this share of weights becomes zero.")
    ] = None,
    low_rank: Annotated[
        float | None,
        typer.Option(help="ONNX: factor matrices; this share of their squares stays."),
    ] = None,
    quantize: Annotated[
        Integers | None, typer.Option(help="ONNX: compute products of 8-bit integers.")
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option(help="For static: arrays by input, a row a sample.", metavar="FILE.npz"),
    ] = None,
) -> None:
    """Write a model as a file that runs without Penstock.

    OUT.py is a program of torch alone, with its constants in OUT.safetensors beside it; OUT.onnx is
    ONNX. Variables become constants. A node that has no form there is named in the error.
    """
    from penstock.cli.exporting import Smaller, export_model

    ends = (
        [each if "=" in each else f"{each}={each}" for each in side or []]
        for side in (inputs, outputs)
    )
    first, last = ends
    export_model(
        Output(), source, dest, None if to is None else to.value, signature, tags, shape or [],
        (first, last),
        Smaller(weights and weights.value, prune, low_rank, quantize and quantize.value, samples),
    )  # fmt: skip


def import_(
    source: Annotated[str, typer.Argument(metavar="MODEL.onnx", help="The ONNX file.")],
    to: Annotated[str, typer.Option(help="The SavedModel to write.", metavar="DIR")],
) -> None:
    """Write an ONNX model as a SavedModel, for operators that Penstock has."""
    from penstock.cli.exporting import import_model

    import_model(Output(), source, to)


def transform(
    source: Annotated[str, typer.Argument(help="A GraphDef, or a SavedModel's graph.")],
    dest: Annotated[str, typer.Argument(metavar="OUT.pb", help="The GraphDef to write.")],
    outputs: Annotated[
        str, typer.Option("--outputs", help="Output nodes, separated by commas.", metavar="A,B")
    ],
    transforms: Annotated[
        str,
        typer.Option(
            help="What is done, in order: 'fold_constants remove_nodes(op=Identity)'.",
            metavar="NAMES",
        ),
    ],
    inputs: Annotated[
        str, typer.Option("--inputs", help="Input nodes, separated by commas.", metavar="A,B")
    ] = "",
) -> None:
    """Change a graph by the transforms of TensorFlow's tool, under its names.

    strip_unused_nodes, fold_constants, fold_batch_norms, fold_old_batch_norms, quantize_weights,
    round_weights, sort_by_execution_order, obfuscate_names, merge_duplicate_nodes, remove_nodes,
    remove_attribute, rename_attribute, rename_op, set_device, remove_device and
    add_default_attributes.
    """
    from penstock.cli.exporting import transform as transform_file

    transform_file(Output(), source, dest, inputs, outputs, transforms)


def freeze(
    source: Annotated[str, typer.Argument(help="A checkpoint with a graph, or a SavedModel.")],
    dest: Annotated[str, typer.Argument(metavar="OUT.pb", help="The GraphDef to write.")],
    outputs: Annotated[
        str, typer.Option("--outputs", help="Output nodes, separated by commas.", metavar="A,B")
    ],
    meta: Annotated[
        str | None, typer.Option(help="The graph; default: SOURCE.meta.", metavar="FILE")
    ] = None,
    tags: Annotated[
        str, typer.Option(help="Tags of the SavedModel's graph, separated by commas.")
    ] = "serve",
    training_nodes: Annotated[
        bool, typer.Option("--keep-training-nodes", help="Keep Identity and CheckNumerics nodes.")
    ] = False,
) -> None:
    """Write a graph with its variables as constants, cut to what the outputs need."""
    from penstock.cli.freezing import freeze_graph

    freeze_graph(Output(), source, dest, outputs, meta, tags, training_nodes)
