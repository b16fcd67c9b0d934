"""``penstock train``: the list of the workshop's programs, and each of them when it is asked for.

A program's options are declared beside it, in ``penstock.models.workshop``; its module is imported
when its name is on the line, so that the list needs neither torch nor any of them. Programs that
can run as a cluster get ``--ps`` and ``--workers`` here: with these the same words are launched as
tasks of this machine, and a task, which finds its place in ``TF_CONFIG``, takes no notice of them.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penstock.cli.output import Failure, Output
from penstock.models.workshop.catalogue import PROGRAMS

_HELP = """Train the workshop's programs: one command each, with a progress bar, checkpoints,
TensorBoard's logs and a result at the end. The same command again goes on where it stopped.

\b
  penstock train mnist                     learn digits that come with scikit-learn
  penstock train word2vec --help           what a program shows, its graph, its options
  penstock train mnist --ps 1 --workers 2  the same as a cluster on this machine
  tensorboard --logdir runs                curves, graphs, histograms, word vectors
"""


class Programs(TyperGroup):
    """The programs as commands, each imported when it is named."""

    _words: tuple[str, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """The programs' names, simple ones first."""
        return [program.name for program in PROGRAMS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A program's command, or None."""
        program = next((one for one in PROGRAMS if one.name == cmd_name), None)
        if program is None:
            return None
        command: Any = typer.main.get_command(importlib.import_module(program.module).app)
        command.name = program.name
        if program.distributed:
            command.params += _cluster_options()
            command.callback = _or_launched(command.callback, self._words)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds the program, and keeps the words, in case they are launched."""
        self._words = tuple(args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list, from the catalogue alone."""
        with formatter.section("Programs"):
            formatter.write_dl([(program.name, program.about) for program in PROGRAMS])


def _cluster_options() -> list[Any]:
    app = typer.Typer(add_completion=False)

    @app.command()
    def asked(
        ps: Annotated[int, typer.Option("--ps", help="Parameter servers; 0: no cluster.")] = 0,
        workers: Annotated[int, typer.Option("--workers", help="Workers of the cluster.")] = 0,
    ) -> None:
        """Run as a cluster of tasks on this machine."""

    command: Any = typer.main.get_command(app)
    return [param for param in command.params if param.name in ("ps", "workers")]


def _or_launched(program: Callable[..., Any], words: tuple[str, ...]) -> Callable[..., Any]:
    """A program that runs here, or is launched if a cluster is asked for."""

    def run(ps: int, workers: int, **values: Any) -> Any:
        if (ps or workers) and "TF_CONFIG" not in os.environ:
            raise typer.Exit(_launch(words, ps, workers))
        return program(**values)

    return run


def _launch(words: tuple[str, ...], ps: int, workers: int) -> int:
    """Runs the same words as the tasks of a cluster; returns the exit status."""
    from penstock.cli.launching import launch_here
    from penstock.cluster.launch.job import Job
    from penstock.cluster.launch.supervisor import Policy

    if ps < 1 or workers < 0:
        raise Failure(f"--ps {ps} --workers {workers}: a cluster has one of each or more", 2)
    arguments = ("-m", "penstock", "train", *words)
    job = Job(sys.executable, arguments, ps, max(workers, 1), flags=False)
    return launch_here(Output(), job, Policy(), None, "127.0.0.1", 0)


train = typer.Typer(
    cls=Programs,
    help=_HELP,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@train.callback()
def _list(context: typer.Context) -> None:
    """Without a name the programs are listed."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
