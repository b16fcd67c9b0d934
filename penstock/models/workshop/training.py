"""What all programs of the workshop do alike: a run's folder, its options, its steps, its end.

A program that makes its own steps calls `train`, which runs them in a monitored session: alone or
as a worker of a cluster, from the last checkpoint of the folder on. A program whose model has a
session of its own, and reads its data in epochs, calls `train_epochs`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import penstock as tf
from penstock.models.runs import open_run, write_json
from penstock.models.workshop.cluster import Place
from penstock.models.workshop.progress import Bar, console
from penstock.models.workshop.readings import Readings

Feeds = Mapping[Any, Any]
Logdir = Annotated[
    Path, typer.Option(help="The run's folder: checkpoints, TensorBoard's logs, the result.")
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin anew; an earlier run is kept, renamed.")
]
# What NumPy and scikit-learn take; found out before the training, not at the picture after it.
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of all that is drawn by lot.")]

_SAVE_SECONDS = 60
_SUMMARY_STEPS = 20
# Steps that a thread runs for each one with the session's hooks, where steps need nothing fed.
_UNWATCHED = 9


def command() -> typer.Typer:
    """An app for one program's command."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


class Stopped(Exception):
    """Ctrl-C, after what had been learned was saved.

    Args:
      folder: of the run.
      done: how far it was.
    """

    code = 130

    def __init__(self, folder: Path, done: str) -> None:
        super().__init__(folder, done)
        self._folder, self._done = folder, done

    def format_message(self) -> str:
        """What is said of it."""
        return f"stopped after {self._done}; the same command goes on from {self._folder}"

    @property
    def exit_code(self) -> int:
        """The command's exit status."""
        return self.code


class Diverged(Exception):
    """The loss is no number any more.

    Args:
      after: how many steps were done, at least.
    """

    # The command's exit status.
    exit_code = 1

    def __init__(self, after: int) -> None:
        super().__init__(after)
        self._after = after

    def format_message(self) -> str:
        """What is said of it."""
        return (
            f"the loss became NaN after step {self._after}: the steps went too far; give a smaller"
            " --learning-rate where the program has one, with --fresh or another --logdir"
        )


@dataclass(frozen=True)
class Run:
    """A run: its folder, its place, and where it prints.

    Args:
      logdir: the folder.
      place: alone, or a task.
    """

    logdir: Path
    place: Place = Place()

    def open(self, settings: Mapping[str, Any], fresh: bool) -> None:
        """Makes the folder, or sees that what is there is a run of these settings."""
        if self.place.is_chief:
            open_run(self.logdir, dict(settings), fresh, option="--logdir")

    def say(self, text: str) -> None:
        """Prints a line."""
        console().print(text)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Keeps the result, and says how to look at the run."""
        if not self.place.is_chief:
            return
        write_json(self.logdir / "result.json", dict(result))
        if any(self.logdir.rglob("events.out.*")):
            self.say(f"curves:      tensorboard --logdir {self.logdir}")
        checkpoint = tf.train.latest_checkpoint(str(self.logdir))
        if checkpoint:
            self.say(f"checkpoint:  penstock inspect {checkpoint}")

    def result(self) -> dict[str, Any]:
        """What an earlier run ended with; empty if none did."""
        path = self.logdir / "result.json"
        kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return kept


@dataclass(frozen=True)
class Steps:
    """What `train` runs.

    Attributes:
      train_op: a step.
      loss: what it makes small.
      global_step: counts steps of all workers.
      steps: how many there are to be.
      weight: how much of what the bar counts a step is, ``batch`` for images.
      unit: what that is.
      readings: of a graph that reads its own text: what hands out the steps.
      threads: how many run steps at once; with `readings`, and where no cluster is.
    """

    train_op: Any
    loss: Any
    global_step: Any
    steps: int
    weight: float = 1
    unit: str = "steps"
    readings: Readings | None = None
    threads: int = 1


def train(
    run: Run,
    what: Steps,
    feeds: Callable[[int], Iterator[Feeds]],
    end: Callable[[Callable[..., Any]], Mapping[str, Any]],
    config: Any = None,
) -> Mapping[str, Any] | None:
    """Trains the default graph, from the folder's last checkpoint on.

    Args:
      run: whose folder and place.
      what: the steps.
      feeds: from how many steps were done to the feeds of the next ones.
      end: called when all steps are done, in the chief, with the session's ``run``; returns the
        result.
      config: of the session; by default it places softly.

    Returns:
      What `end` returns; None in other workers than the chief.

    Raises:
      Stopped: at ctrl-C.
      Diverged: the loss is NaN.
    """
    place = run.place
    hooks: list[Any] = [tf.train.NanTensorHook(what.loss)]
    hooks += [] if what.readings is None else [what.readings]
    goes_on = tf.train.latest_checkpoint(str(run.logdir)) is not None
    with tf.train.MonitoredTrainingSession(
        master=place.target, is_chief=place.is_chief, checkpoint_dir=str(run.logdir),
        hooks=hooks, save_checkpoint_secs=_SAVE_SECONDS, save_summaries_steps=_SUMMARY_STEPS,
        log_step_count_steps=max(what.steps // 20, 1),
        config=config or tf.ConfigProto(allow_soft_placement=True),
    ) as session:  # fmt: skip
        done = int(_plain(session, what.global_step))
        if goes_on and place.is_chief:
            run.say(f"goes on after step {done} of {what.steps}")
        stopped = not _finished(run, session, what, done, feeds)
        if not stopped and place.is_chief:
            return end(lambda *asked: _plain(session, *asked))
        done = int(_plain(session, what.global_step)) if stopped else 0
    if stopped:
        raise Stopped(run.logdir, f"{done} steps")
    return None


def _plain(session: Any, *asked: Any) -> Any:
    """A run that no hook takes part in."""
    return session.run_step_fn(lambda step_context: step_context.session.run(*asked))


def _finished(
    run: Run, session: Any, what: Steps, done: int, feeds: Callable[[int], Iterator[Feeds]]
) -> bool:
    """Runs the steps that are left; whether all were, not cut off by ctrl-C."""
    try:
        with Bar(console(), what.steps * what.weight, done * what.weight, what.unit) as bar:
            if what.readings is None or run.place.server is not None:
                _watched(run, session, what, done, feeds, bar)
            else:
                _mostly_unwatched(what.readings, session, what, done, bar)
            if run.place.is_chief and bar.rate:
                run.say(f"trained at {bar.pace}, {bar.cpu_pace} a second of CPU time")
    except KeyboardInterrupt:
        return False
    except tf.train.NanLossDuringTrainingError as error:
        raise Diverged(int(_plain(session, what.global_step))) from error
    return True


def _watched(
    run: Run, session: Any, what: Steps, done: int, feeds: Callable[[int], Iterator[Feeds]],
    bar: Bar,
) -> None:  # fmt: skip
    """Runs each step with the session's hooks."""
    fetches = [what.global_step, what.loss, what.train_op]
    for fed in feeds(done):
        if done >= what.steps:
            break
        step, loss, _ = session.run(fetches, fed)
        # What is fetched beside the update may be from before it.
        done = max(done + 1, int(step)) if run.place.server is None else int(step) + 1
        bar.at(min(done, what.steps) * what.weight, float(loss))


def _mostly_unwatched(readings: Readings, session: Any, what: Steps, done: int, bar: Bar) -> None:
    """Runs some steps with the session's hooks, and most without, by several threads."""
    readings.left = what.steps - done
    step = _raw(session).make_callable([what.train_op])
    with readings.helped(step, what.threads - 1) as check:
        while readings.left > 0:
            loss, _ = session.run([what.loss, what.train_op])
            for _ in range(_UNWATCHED):
                readings.step(step)
            check()
            bar.at((what.steps - readings.left) * what.weight, float(loss))


def _raw(session: Any) -> Any:
    """The session that hooks know nothing of."""
    return session.run_step_fn(lambda step_context: step_context.session)


class Epochs:
    """The loop of a model that has its own session: a checkpoint and a point of curves an epoch.

    Args:
      run: whose folder.
      model: what has ``session``, ``graph``, ``saver``.
      epochs: how many there are to be.
    """

    def __init__(self, run: Run, model: Any, epochs: int) -> None:
        self._run, self._model, self.epochs = run, model, epochs
        self.done = self._restore()
        self._writer = tf.summary.FileWriter(str(run.logdir), model.graph)
        if self.done:
            run.say(f"goes on after epoch {self.done} of {epochs}")

    def _restore(self) -> int:
        """Takes up the last checkpoint; returns the number of epochs it has seen."""
        last = tf.train.latest_checkpoint(str(self._run.logdir))
        if last is None:
            return 0
        self._model.saver.restore(self._model.session, last)
        found = re.search(r"-(\d+)$", last)
        return int(found[1]) if found else 0

    def train(
        self,
        steps: float,
        unit: str,
        epoch: Callable[[int, Callable[[float, float], None]], Mapping[str, float]],
    ) -> dict[str, float]:
        """Trains what is left.

        Args:
          steps: what the bar counts in an epoch.
          unit: what that is.
          epoch: trains one, from 0, calling what it is given with what was done and the loss;
            returns the values of the curves.

        Returns:
          The values of the last epoch, none where no epoch was left.

        Raises:
          Stopped: at ctrl-C.
        """
        values: dict[str, float] = {}
        total = self.epochs * steps
        began = time.perf_counter()
        try:
            with Bar(console(), total, self.done * steps, unit) as bar:
                for number in range(self.done, self.epochs):
                    values = dict(epoch(number, bar.more))
                    bar.at((number + 1) * steps, values["loss"])
                    self._keep(number + 1, values, time.perf_counter() - began)
        except KeyboardInterrupt:
            raise Stopped(self._run.logdir, f"{self.done} epochs") from None
        finally:
            self._writer.flush()
        return values

    def _keep(self, epoch: int, values: Mapping[str, float], seconds: float) -> None:
        for name, value in values.items():
            summary = tf.Summary(value=[tf.Summary.Value(tag=name, simple_value=value)])
            self._writer.add_summary(summary, epoch)
        self._writer.flush()
        self._model.saver.save(
            self._model.session, str(self._run.logdir / "model.ckpt"), global_step=epoch
        )
        self.done = epoch
        shown = "  ".join(f"{name} {value:.4f}" for name, value in values.items())
        self._run.say(f"epoch {epoch:2}  {shown}  {seconds:.1f} s")
