"""``penstock server``: its arguments, declared apart from those of the other commands."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.output import Output


def server(
    cluster: Annotated[
        str,
        typer.Option(
            help="The tasks: JSON, or JOB|HOST:PORT;HOST:PORT,JOB|...; default: TF_CONFIG.",
            metavar="SPEC",
        ),
    ] = "",
    job: Annotated[str | None, typer.Option(help="Which job this task is of.")] = None,
    task: Annotated[int | None, typer.Option(min=0, help="Which task of the job.")] = None,
    protocol: Annotated[str, typer.Option(help="How tasks and clients speak.")] = "grpc",
    config: Annotated[
        str, typer.Option(help="A ConfigProto as text, or a file of it.", metavar="TEXT|FILE")
    ] = "",
) -> None:
    """Be one task of a cluster, as tf.train.Server is, until the job is done.

    Sessions of Penstock and of TensorFlow (tf.Session("grpc://HOST:PORT")) run their graphs on it.
    The target is printed when the server is up.
    """
    from penstock.cli.cluster_server import serve_task

    serve_task(Output(), cluster, job, task, protocol, config)
