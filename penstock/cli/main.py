"""The ``penstock`` command: its arguments, and what becomes of errors.

Only arguments are declared here; each command imports its work when it is called, so that
``penstock --help`` starts without torch and a look at a checkpoint stays quick.

Exit status: 0 done, 1 the work failed, 2 it was asked wrongly.  An error is one line on stderr;
``--debug``, anywhere on the line, shows the traceback as well.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penstock.base import errors
from penstock.cli.output import Failure, Output

_HELP = "Look at, convert, freeze and explain graphs, checkpoints, saved models and event files."


class _Group(TyperGroup):
    """The command with its sub-commands: one line for an error, quiet when a reader goes away."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs the command line and exits."""
        words = list(sys.argv[1:] if args is None else args)
        debug = "--debug" in words
        words = [word for word in words if word != "--debug"]
        code: Any = 1
        try:
            code = super().main(
                words, prog_name or "penstock", complete_var, False, windows_expand_args, **extra
            )
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
        except KeyboardInterrupt:
            code = 130
        except Exception as error:
            code = _report(error, debug)
        sys.exit(code if isinstance(code, int) else 0)


def _forget_stdout() -> None:
    """Nobody reads any more: what is still buffered must not raise while Python ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _report(error: Exception, debug: bool) -> int:
    """Prints what went wrong; returns the exit status."""
    format_message = getattr(error, "format_message", None)
    if format_message is not None:  # a mistake in the arguments
        message, code = format_message(), getattr(error, "exit_code", 2)
        context = getattr(error, "ctx", None)
        if context is not None:
            message = f"{message.rstrip('.')}; see {context.command_path} --help"
    else:
        message, code = _message(error), getattr(error, "code", 1)
    if debug:
        traceback.print_exception(error)
    try:
        typer.echo(f"penstock: {' '.join(str(message).split())}", err=True)
    except BrokenPipeError:
        pass
    return code if isinstance(code, int) else 1


def _message(error: Exception) -> str:
    if isinstance(error, Failure | errors.OpError | ValueError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error} (--debug shows where)"


app = typer.Typer(
    cls=_Group,
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Target(StrEnum):
    """Formats of checkpoints that ``convert`` writes."""

    BUNDLE = "bundle"
    SAFETENSORS = "safetensors"
    TORCH = "torch"
    V1 = "v1"


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Outputs = Annotated[
    str, typer.Option("--outputs", help="Output nodes, separated by commas.", metavar="A,B")
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("penstock"))
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of all commands; ``--debug`` is taken before, wherever it stands."""


@app.command()
def inspect(
    path: Annotated[str, typer.Argument(help="A checkpoint, graph, event file or saved model.")],
    as_json: Json = False,
    values: Annotated[
        list[str] | None,
        typer.Option(help="Also minimum, maximum, mean and head of this variable."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read everything and check every checksum.")
    ] = False,
) -> None:
    """Tell what PATH is and what is in it.

    PATH is a checkpoint (its prefix, a file of it, or a directory with a 'checkpoint' file), a
    safetensors or torch file, a GraphDef or MetaGraphDef, a SavedModel, an event file or a
    directory of event files.
    """
    from penstock.cli.inspecting import inspect_path

    inspect_path(Output(as_json), path, values or [], verify)


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="A checkpoint of any format.")],
    dest: Annotated[str, typer.Argument(help="What to write: a prefix or a file.")],
    to: Annotated[
        Target | None, typer.Option(help="The format; default: by the suffix of DEST.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option("--map", help="Write OLD as NEW.", metavar="OLD=NEW")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Only names that this finds.", metavar="REGEX")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="No names that this finds.", metavar="REGEX")
    ] = None,
) -> None:
    """Copy the tensors of a checkpoint into another format.

    Suffixes: .safetensors; .pt, .pth and .bin are torch state dicts; anything else is a prefix of
    TensorFlow's bundle. Tensors go one at a time; dtypes and names are kept.
    """
    from penstock.cli.converting import convert_checkpoint

    target = None if to is None else to.value
    convert_checkpoint(
        Output(), source, dest, target, rename or [], include or [], exclude or []
    )


@app.command()
def freeze(
    source: Annotated[str, typer.Argument(help="A checkpoint with a graph, or a SavedModel.")],
    dest: Annotated[str, typer.Argument(metavar="OUT.pb", help="The GraphDef to write.")],
    outputs: Outputs,
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


@app.command()
def summarize(
    graph: Annotated[str, typer.Argument(help="A GraphDef, MetaGraphDef or SavedModel.")],
    as_json: Json = False,
    depth: Annotated[int, typer.Option(help="How deep the tree of scopes is shown.")] = 2,
) -> None:
    """Inputs, outputs, parameters, operations and scopes of a graph."""
    from penstock.cli.summaries import summarize_graph

    summarize_graph(Output(as_json), graph, depth)


@app.command()
def explain(
    graph: Annotated[str, typer.Argument(help="A GraphDef, MetaGraphDef or SavedModel.")],
    fetches: Annotated[list[str], typer.Argument(metavar="FETCH...", help="Tensors or nodes.")],
    feed: Annotated[
        list[str] | None,
        typer.Option(
            help="What to feed: NAME=SHAPE/DTYPE (as x=32,784/float32) makes a value up;"
            " NAME=FILE.npy reads one; NAME=NUMBER is one.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="Values of the variables.", metavar="PREFIX")
    ] = None,
    runs: Annotated[int, typer.Option(min=0, help="Run so often and show each line's time.")] = 0,
) -> None:
    """Print the program that Penstock generates for a step."""
    from penstock.cli.explaining import explain_step

    explain_step(Output(), graph, fetches, feed or [], checkpoint, runs)


if __name__ == "__main__":
    app()
