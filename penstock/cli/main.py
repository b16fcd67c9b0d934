"""The ``penstock`` command: its arguments, and what becomes of errors.

Only arguments are declared here; each command imports its work when it is called, so that
``penstock --help`` starts without torch and a look at a checkpoint stays quick.

Exit status: 0 done, 1 the work failed, 2 it was asked wrongly.  An error is one line on stderr;
``--debug``, anywhere on the line before a ``--``, shows the traceback as well.
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

from penstock.cli import model_commands
from penstock.cli.output import Failure, Output
from penstock.cli.server_command import server
from penstock.cli.train import train
from penstock.foundation.base import errors
from penstock.foundation.machine.leaving import ends_with

_HELP = (
    "Run TensorFlow 1.x programs unchanged; train programs that teach; look at, convert, freeze and"
    " explain graphs, checkpoints, saved models and event files; export models to Python and ONNX;"
    " be a task of a cluster, or run one; serve trained models; tell what is wrong with a machine."
)


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
        end = _own(words)
        debug = "--debug" in words[:end]
        words = [word for word in words[:end] if word != "--debug"] + words[end:]
        code: Any
        try:
            code = super().main(
                words, prog_name or "penstock", complete_var, False, windows_expand_args, **extra
            )
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            code = exit_status(error, debug)
        raise ends_with(SystemExit(code if isinstance(code, int) else 0))


def _own(words: list[str]) -> int:
    """How many of the words are this command's: behind "--" and "run" they are a program's."""
    return min((words.index(end) for end in ("--", "run") if end in words), default=len(words))


def _forget_stdout() -> None:
    """Nobody reads any more: what is still buffered must not raise while Python ends."""
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())


def exit_status(error: BaseException, debug: bool = False) -> int:
    """Prints what went wrong, if that is anybody's concern; returns the exit status.

    Args:
      error: what ended a command.
      debug: whether the traceback is shown as well.
    """
    if isinstance(error, BrokenPipeError):
        _forget_stdout()
        return 1
    if isinstance(error, KeyboardInterrupt):
        return 130
    return _report(error, debug)


def _report(error: BaseException, debug: bool) -> int:
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


def _message(error: BaseException) -> str:
    if isinstance(error, Failure | errors.OpError | ValueError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(map(str, filter(None, (error.filename, error.strerror))))
    return f"{type(error).__name__}: {error} (--debug shows where)"


app = typer.Typer(
    cls=_Group,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Target(StrEnum):
    """Formats of checkpoints that ``convert`` writes."""

    BUNDLE = "bundle"
    SAFETENSORS = "safetensors"
    TORCH = "torch"
    V1 = "v1"


app.add_typer(train, name="train")

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
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of all commands; ``--debug`` is taken before, wherever it stands."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
    convert_checkpoint(Output(), source, dest, target, rename or [], include or [], exclude or [])


@app.command()
def summarize(
    graph: Annotated[str, typer.Argument(help="A GraphDef, MetaGraphDef or SavedModel.")],
    as_json: Json = False,
    depth: Annotated[int, typer.Option(min=0, help="How deep the tree of scopes is shown.")] = 2,
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


app.command()(model_commands.freeze)
app.command()(model_commands.export)
app.command("import")(model_commands.import_)
app.command()(model_commands.transform)
app.command()(server)


class Place(StrEnum):
    """Where ``launch`` runs tasks."""

    LOCAL = "local"
    RAY = "ray"


class Manifests(StrEnum):
    """What ``k8s`` writes."""

    STATEFULSET = "statefulset"
    JOBSET = "jobset"
    RAYJOB = "rayjob"


Ps = Annotated[int, typer.Option("--ps", min=0, help="Number of parameter servers.")]
Workers = Annotated[int, typer.Option("--workers", min=0, help="Number of workers.")]
Evaluator = Annotated[bool, typer.Option("--evaluator", help="Also a task 'evaluator 0'.")]
Flags = Annotated[
    bool,
    typer.Option(
        "--flags/--no-flags",
        help="Append --job_name, --task_index and the hosts to the script's arguments.",
    ),
]
Restarts = Annotated[int, typer.Option(min=0, help="Failures of one task that are made good.")]
# The script's own options are not ours: everything behind it is taken as it is.
_REST = {"allow_interspersed_args": False, "ignore_unknown_options": False}
Script = Annotated[
    list[str], typer.Argument(metavar="SCRIPT [-- ARGS...]", help="The script, its arguments.")
]


@app.command(context_settings=_REST)
def launch(
    script: Script,
    ps: Ps = 0,
    workers: Workers = 1,
    chief: Annotated[bool, typer.Option("--chief", help="Also a task 'chief 0'.")] = False,
    evaluator: Evaluator = False,
    flags: Flags = True,
    restarts: Restarts = 3,
    backoff: Annotated[
        float, typer.Option(min=0, help="Seconds before the first restart; doubles each time.")
    ] = 1.0,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that a task may take to stop.")
    ] = 10.0,
    evaluator_wait: Annotated[
        float, typer.Option(min=0, help="Seconds the evaluator has when all others are done.")
    ] = 60.0,
    stuck_after: Annotated[
        float,
        typer.Option(min=0, help="Kill a task that was silent for so many seconds; 0: none."),
    ] = 0.0,
    metrics_port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="Port of the first task's metrics, then one by one; 0: none."
        ),
    ] = 0,
    log_dir: Annotated[
        str | None, typer.Option(help="Also write worker-0.log and so on here.", metavar="DIR")
    ] = None,
    on: Annotated[Place, typer.Option(help="Where the tasks run.")] = Place.LOCAL,
    address: Annotated[
        str | None, typer.Option(help="Ray: the cluster; default: RAY_ADDRESS, else a new one.")
    ] = None,
    cpus: Annotated[float, typer.Option(min=0, help="Ray: CPUs of a task.")] = 1.0,
    gpus: Annotated[float, typer.Option(min=0, help="Ray: GPUs of a worker and the chief.")] = 0.0,
    strategy: Annotated[
        str, typer.Option(help="Ray: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD.")
    ] = "SPREAD",
    host: Annotated[
        str | None,
        typer.Option(help="Host of all addresses; default: 127.0.0.1; Ray: each node's own."),
    ] = None,
    working_dir: Annotated[
        str | None,
        typer.Option(help="Ray: a directory sent to the nodes, where tasks run.", metavar="DIR"),
    ] = None,
    place_timeout: Annotated[
        float, typer.Option(min=0, help="Ray: seconds that finding places may take.")
    ] = 300.0,
) -> None:
    """Run SCRIPT as a cluster of tasks, and stop all when the workers are done.

    Each task sees TF_CONFIG, and --job_name, --task_index, --ps_hosts and --worker_hosts behind its
    arguments. A task that fails starts again. Exit status: 0 done, 1 a task failed for good, 130
    and 143 stopped by ctrl-C and SIGTERM.
    """
    from penstock.cli.launching import launch_here, launch_on_ray, split_words
    from penstock.cluster.launch.job import Job
    from penstock.cluster.launch.on_ray import RayOptions
    from penstock.cluster.launch.supervisor import Policy

    program, args = split_words(script)
    job = Job(program, args, ps, workers, chief, evaluator, flags)
    policy = Policy(restarts=restarts, backoff=backoff, grace=grace,
                    evaluator_wait=evaluator_wait, place_timeout=place_timeout,
                    stuck_after=stuck_after)  # fmt: skip
    if on is Place.LOCAL:
        code = launch_here(Output(), job, policy, log_dir, host or "127.0.0.1", metrics_port)
    elif stuck_after:
        raise Failure("--stuck-after is for --on local: Ray watches over its actors itself", 2)
    elif metrics_port:
        raise Failure("--metrics-port is for --on local: set PENSTOCK_METRICS for nodes of Ray", 2)
    else:
        options = RayOptions(address, cpus, gpus, strategy.upper(), working_dir, host)
        code = launch_on_ray(Output(), job, policy, log_dir, options)
    raise typer.Exit(code)


# "-m" ends the options as SCRIPT does, which is why it is none of them.
@app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCRIPT|-m MODULE [ARGS...]", help="The program, its arguments."),
    ] = None,
    tf_version: Annotated[
        str, typer.Option(help="What tf.__version__ is.", metavar="VERSION")
    ] = "1.15.0",
    instead: Annotated[
        bool, typer.Option("--instead", help="Also where TensorFlow is installed.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Put back no old spelling, nor what Python has dropped."),
    ] = False,
) -> None:
    """Run a program that imports tensorflow, unchanged: it gets Penstock.

    Options of the command stand before SCRIPT; what follows is the program's own.
    """
    from penstock.cli.run import run_program

    raise typer.Exit(run_program(words or [], tf_version, instead, strict))


@app.command(context_settings=_REST)
def k8s(
    script: Script,
    image: Annotated[str, typer.Option(help="The image of all pods.")],
    out: Annotated[str, typer.Option(help="Where the files are written.", metavar="DIR")],
    ps: Ps = 0,
    workers: Workers = 1,
    chief: Annotated[
        bool, typer.Option("--chief/--no-chief", help="A master besides the workers: 'chief 0'.")
    ] = True,
    evaluator: Evaluator = False,
    flags: Flags = True,
    kind: Annotated[Manifests, typer.Option(help="What runs the tasks.")] = Manifests.STATEFULSET,
    name: Annotated[str, typer.Option(help="What all names begin with.")] = "penstock",
    namespace: Annotated[str | None, typer.Option(help="Namespace of all objects.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The tasks' gRPC port.")] = 8080,
    cpu: Annotated[float, typer.Option(min=0.001, help="Cores of a task.")] = 1.0,
    memory: Annotated[str, typer.Option(help="Memory of a task.")] = "4Gi",
    gpus: Annotated[int, typer.Option(min=0, help="GPUs of a worker and the master.")] = 0,
    secret: Annotated[
        str, typer.Option(help="The Secret with the token and certificates; '' for none.")
    ] = "penstock-security",
    tls: Annotated[
        bool, typer.Option("--tls/--no-tls", help="Whether the Secret has certificates.")
    ] = True,
    storage: Annotated[str, typer.Option(help="Size of the volume at /logs.")] = "10Gi",
    storage_class: Annotated[str | None, typer.Option(help="Class of that volume.")] = None,
    host: Annotated[str | None, typer.Option(help="Host name of the ingresses.")] = None,
    restarts: Annotated[
        int, typer.Option(min=0, help="Failures that a JobSet or RayJob makes good.")
    ] = 10,
    stuck_after: Annotated[
        int, typer.Option(min=0, help="Seconds of silence that end a task; 0: none do.")
    ] = 60,
    ingress_class: Annotated[str | None, typer.Option(help="Class of the ingresses.")] = None,
    ingress_tls: Annotated[
        str, typer.Option(help="The Secret with the certificate of --host.", metavar="SECRET")
    ] = "",
    login: Annotated[
        str,
        typer.Option(
            help="The Secret with TensorBoard's and Jupyter's users (key auth, as htpasswd"
            " writes it); needs --ingress-class nginx.",
            metavar="SECRET",
        ),
    ] = "",
    metrics_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of each task's metrics; 0: none.")
    ] = 0,
) -> None:
    """Write Kubernetes manifests and a Dockerfile that run SCRIPT as a cluster of tasks.

    Parameter servers, workers and a master behind headless services, a shared volume, and Jupyter
    and TensorBoard behind ingresses. SCRIPT is a path in the image.
    """
    from penstock.cli.launching import split_words
    from penstock.cli.manifests import write_job
    from penstock.cluster.launch.job import Job
    from penstock.cluster.launch.pods import Options

    program, args = split_words(script)
    job = Job(program, args, ps, workers, chief, evaluator, flags)
    options = Options(image, name, namespace, port, cpu, memory, gpus, secret, tls, storage,
                      storage_class, host, restarts, stuck_after, ingress_class, ingress_tls,
                      login, metrics_port)  # fmt: skip
    write_job(Output(), job, options, kind.value, out)


@app.command(context_settings=_REST)
def hold(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="What to run.")],
) -> None:
    """Run COMMAND once; when it is done, wait to be stopped.

    For pods that are started again whenever they end. A failure's exit status is passed on.
    """
    from penstock.cluster.launch.hold import hold as run_once

    raise typer.Exit(run_once(command))


class Waiting(StrEnum):
    """How workers wait for each other in ``simulate``."""

    ASYNC = "async"
    SYNC = "sync"


@app.command("simulate")
def simulate_job(
    ps: Annotated[str, typer.Option(help="Parameter servers, commas between.")] = "1",
    workers: Annotated[
        str, typer.Option(help="Workers whose gradients count, commas between.")
    ] = "1",
    backups: Annotated[str, typer.Option(help="Backup workers besides, commas between.")] = "0",
    mode: Annotated[Waiting, typer.Option(help="How workers wait for each other.")] = Waiting.SYNC,
    dense: Annotated[str, typer.Option(help="Bytes that each step reads and updates.")] = "0",
    sparse: Annotated[str, typer.Option(help="Bytes of rows gathered by a step.")] = "0",
    batch: Annotated[int, typer.Option(min=1, help="Examples of a step.")] = 1,
    tensors: Annotated[
        int, typer.Option(min=1, help="In how many tensors the parameters are.")
    ] = 1,
    compute: Annotated[str, typer.Option(help="Mean computing time of a step: 1.5s, 20ms.")] = "0",
    sigma: Annotated[float, typer.Option(min=0, help="Of the logarithm of that time.")] = 0.0,
    straggler_share: Annotated[
        float, typer.Option(min=0, max=1, help="How often a worker's step is slow.")
    ] = 0.0,
    straggler_factor: Annotated[float, typer.Option(min=1, help="How slow it then is.")] = 1.0,
    steps: Annotated[int, typer.Option(min=1, help="Steps simulated.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the random times.")] = 0,
    profile: Annotated[
        str, typer.Option(help="Costs: loopback, osdi2016, or a file of calibrate.")
    ] = "loopback",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change a cost.", metavar="FIELD=VALUE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict step time and throughput of training with parameter servers."""
    from penstock.cli.simulating import simulate_jobs

    model = {
        "dense": dense, "sparse": sparse, "batch": batch, "tensors": tensors,
        "compute": compute, "sigma": sigma,
        "straggler_share": straggler_share, "straggler_factor": straggler_factor,
    }  # fmt: skip
    jobs = {"ps": ps, "workers": workers, "backups": backups}
    simulate_jobs(Output(as_json), model, jobs, mode.value, steps, seed, profile, settings or [])


@app.command()
def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            help="A SavedModel, or a folder with one in a numbered folder a version.",
            metavar="[NAME=]DIR...",
        ),
    ],
    versions: Annotated[
        str, typer.Option(help="Which versions: latest, latest:2, all, or numbers: 1,2.")
    ] = "latest",
    label: Annotated[
        list[str] | None,
        typer.Option(help="A name for a version, in requests.", metavar="NAME:LABEL=N"),
    ] = None,
    host: Annotated[str, typer.Option(help="Host to listen at.")] = "localhost",
    rest_port: Annotated[int, typer.Option(max=65535, help="0: a free one; -1: no REST.")] = 8501,
    grpc_port: Annotated[int, typer.Option(max=65535, help="0: a free one; -1: no gRPC.")] = 8500,
    max_batch: Annotated[
        int, typer.Option(min=1, help="Most rows of a batch; 1: requests run alone.")
    ] = 64,
    batch_ms: Annotated[
        float, typer.Option(min=0, help="Milliseconds that a batch waits for more requests.")
    ] = 0.0,
    watch_seconds: Annotated[
        float, typer.Option(min=0, help="Between two looks for new versions; 0: none.")
    ] = 1.0,
    threads: Annotated[
        int, typer.Option(min=1, help="Requests that run or wait in batches at once.")
    ] = 64,
    max_megabytes: Annotated[int, typer.Option(min=1, help="The largest request.")] = 64,
) -> None:
    """Answer requests to trained models as TensorFlow Serving does, by REST and gRPC.

    A new version in a model's folder takes the place of the old one while requests run. TLS and a
    token come from the environment, as a cluster's: PENSTOCK_TLS_CERT and kin, PENSTOCK_TOKEN.
    """
    from penstock.cli.serving import Chosen, serve as serve_models

    serve_models(
        Output(),
        Chosen(
            models, versions, label or [], host, rest_port, grpc_port, max_batch, batch_ms,
            watch_seconds, threads, max_megabytes,
        ),
    )  # fmt: skip


@app.command()
def calibrate(
    dest: Annotated[str, typer.Argument(metavar="OUT.json", help="The profile to write.")],
    name: Annotated[str, typer.Option(help="Of the profile.")] = "local",
    threads: Annotated[int, typer.Option(min=1, help="Threads of each process.")] = 1,
    interpreter: Annotated[
        str | None, typer.Option(help="The Python to measure with; default: this.", metavar="FILE")
    ] = None,
    module: Annotated[str, typer.Option(help="The TF1 API that is measured.")] = "penstock",
) -> None:
    """Measure this machine's costs for simulate: two processes, steps between them."""
    from penstock.cli.simulating import calibrate_here

    calibrate_here(Output(), dest, name, interpreter, module, threads)


@app.command()
def doctor(
    as_json: Json = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if an error was found.")
    ] = False,
    seconds: Annotated[
        float, typer.Option(min=0.05, max=60, help="How long the use of the cores is watched.")
    ] = 0.5,
) -> None:
    """Tell what this machine has, what was chosen for it and why, and what looks wrong."""
    from penstock.cli.doctor import examine

    raise typer.Exit(examine(Output(as_json), strict, seconds))


if __name__ == "__main__":
    app()
