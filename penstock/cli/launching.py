"""``penstock launch``: the job's options checked, its output in colour, its summary."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from penstock.cli.output import Failure, Output
from penstock.cluster.launch.job import Job, Task
from penstock.cluster.launch.local import Outcome, run_local
from penstock.cluster.launch.logs import Logs
from penstock.cluster.launch.on_ray import RayOptions, run_on_ray
from penstock.cluster.launch.supervisor import Policy, code_text

_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_red", "bright_cyan",
            "bright_green", "bright_yellow", "bright_magenta", "bright_blue")  # fmt: skip
_LAUNCHER = "launch"


def split_words(words: list[str]) -> tuple[str, tuple[str, ...]]:
    """A script and its arguments; one ``--`` between them is dropped."""
    if not words:
        raise Failure("launch needs a script: penstock launch [OPTIONS] script.py -- args", 2)
    program, *args = words
    return program, tuple(args[1:] if args[:1] == ["--"] else args)


def checked(program: str) -> str:
    """The program, when it can be run here."""
    if program.endswith(".py"):
        if not Path(program).expanduser().is_file():
            raise Failure(f"{program}: no such script", 2)
    elif shutil.which(program) is None:
        raise Failure(f"{program}: neither a script (*.py) nor a program that can be run", 2)
    return program


def launch_here(
    output: Output, job: Job, policy: Policy, log_dir: str | None, host: str, metrics_port: int
) -> int:
    """Runs a job on this machine.

    Returns:
      The exit status: 0 done, 1 a task failed for good, 128 + n stopped by signal n.
    """
    checked(job.program)
    last = metrics_port + len(job.cluster_tasks) - 1
    if last > 65535:
        raise Failure(f"--metrics-port {metrics_port}: the last task's would be {last}", 2)
    return summarized(
        output, job, log_dir, lambda logs: run_local(job, policy, logs, host, metrics_port)
    )


def launch_on_ray(
    output: Output, job: Job, policy: Policy, log_dir: str | None, options: RayOptions
) -> int:
    """Runs a job on a Ray cluster; returns the exit status as ``launch_here`` does."""
    if options.working_dir is None and job.program.endswith(".py"):
        checked(job.program)
    try:
        return summarized(output, job, log_dir, lambda logs: run_on_ray(job, policy, logs, options))
    except ModuleNotFoundError as error:
        raise Failure(str(error)) from error
    except ConnectionError as error:
        raise Failure(f"no Ray cluster at {options.address}: {error}") from error


def summarized(
    output: Output, job: Job, log_dir: str | None, run: Callable[[Logs], Outcome]
) -> int:
    """Runs a job and prints what became of its tasks."""
    logs = Logs(printer(job.tasks), log_dir)
    try:
        done = run(logs)
    finally:
        logs.close()
    rows = [
        (str(task), r.state.value, r.starts, code_text(r.code)) for task, r in done.records.items()
    ]
    output.table(("task", "state", "starts", "last end"), rows, right=("starts",))
    verdict = {0: "done", 1: "failed"}.get(done.code, "stopped")
    output.line(f"{verdict} after {done.seconds:.1f} s")
    return done.code


def printer(tasks: tuple[Task, ...]) -> Callable[[Task | None, str], None]:
    """A function that prints a line behind its task's name, in the task's colour."""
    names: dict[Task | None, str] = {task: str(task) for task in tasks}
    names[None] = _LAUNCHER
    width = max(map(len, names.values()))
    console = Console(file=sys.stdout, highlight=False)
    prefixes = {}
    for number, (task, name) in enumerate(names.items()):
        style = "bold" if task is None else _COLOURS[number % len(_COLOURS)]
        with console.capture() as captured:
            console.print(f"{name.ljust(width)} |", style=style, end="")
        prefixes[task] = captured.get()
    # A task's colours must not leak into the next line.
    reset = "\x1b[0m" if console.is_terminal else ""

    def show(task: Task | None, line: str) -> None:
        end = reset if "\x1b" in line else ""
        sys.stdout.write(f"{prefixes[task]} {line}{end}\n")
        sys.stdout.flush()

    return show
