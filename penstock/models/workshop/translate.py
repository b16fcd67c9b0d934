"""``penstock train translate``: sequences rewritten by an encoder, attention and a decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import penstock as tf
from penstock.models import sequence_to_sequence as s2s
from penstock.models.workshop.training import Feeds, Fresh, Logdir, Run, Seed, Steps, command, train

app = command()


def _shown(network: s2s.Network, unseen: s2s.Batch, answers: s2s.Symbols, run: Run) -> None:
    """Prints some sequences and what was written for them."""
    for row in range(3):
        source = unseen.sources[row, : unseen.lengths[row]].tolist()
        answer = [symbol for symbol in answers[row].tolist() if symbol > s2s.END]
        run.say(f"  {' '.join(map(str, source))}  ->  {' '.join(map(str, answer))}")


@app.command()
def translate(
    task: Annotated[s2s.Task, typer.Option(help="What is learned.")] = s2s.Task.REVERSE,
    attention: Annotated[
        s2s.Attention, typer.Option(help="How the decoder looks at the source.")
    ] = s2s.Settings.attention,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = s2s.Settings.steps,
    batch: Annotated[int, typer.Option(min=1, help="Sequences of a step.")] = s2s.Settings.batch,
    units: Annotated[
        int, typer.Option(min=2, help="Width of the layers, an even number.")
    ] = s2s.Settings.units,
    longest: Annotated[
        int, typer.Option(min=4, help="Length of the longest sequences.")
    ] = s2s.Settings.longest,
    devices: Annotated[
        str,
        typer.Option(help="Devices of encoder and decoder, a comma between: /gpu:0,/gpu:1."),
    ] = "",
    seed: Seed = 1,
    logdir: Logdir = Path("runs/translate"),
    fresh: Fresh = False,
) -> None:
    """Learn to rewrite sequences of symbols, backwards or sorted, as a translator would.

    The graph: an LSTM reads the source in both directions; a second one writes the answer, symbol
    by symbol, and in each step weighs what the first put out (attention). In training it is given
    the right beginning; then it goes on from what it wrote itself, the likeliest symbol each time
    or by beam search. All are loops in the graph, and share their weights.

    \b
    Examples:
      penstock train translate
      penstock train translate --task sort --attention bahdanau
      penstock train translate --devices /cpu:0,/cpu:1

    With --devices the layers stand on different devices (as many CPU devices are made as are
    named); the session moves values between them.
    """
    if units % 2:
        raise typer.BadParameter(f"{units} is odd: each direction has half", param_hint="--units")
    places = tuple(place.strip() for place in devices.split(",")) if devices else ("", "")
    if len(places) != 2:
        raise typer.BadParameter(f"two devices are wanted, found {devices!r}",
                                 param_hint="--devices")  # fmt: skip
    run = Run(logdir)
    settings = s2s.Settings(task=task, attention=attention, longest=longest, units=units,
                            batch=batch, steps=steps, seed=seed, devices=places)  # fmt: skip
    run.open({"program": "translate", "task": task, "attention": attention, "units": units,
              "longest": longest, "batch": batch, "devices": devices, "seed": seed},
             fresh)  # fmt: skip
    sequences = s2s.Sequences(settings)
    unseen = s2s.make_batch(task, sequences.held_out)
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        network = s2s.Network(settings)
        train_op, step = s2s.training(network, settings)
        tf.summary.scalar("loss", network.loss)

        def feeds(done: int) -> Iterator[Feeds]:
            sequences.skip(done)
            while True:
                yield network.feeds(sequences.batch())

        def end(asked: Callable[..., Any]) -> dict[str, float]:
            fed = {network.sources: unseen.sources, network.lengths: unseen.lengths}
            greedy, beam = asked([network.greedy, network.beam], fed)
            right = {
                name: s2s.accuracy(answers, unseen.targets)
                for name, answers in (("greedy", greedy), ("beam", beam))
            }
            run.say(f"right: {right['greedy']:.4f} of the symbols of {len(unseen.sources)} unseen"
                    f" sequences, by beam search {right['beam']:.4f}")  # fmt: skip
            _shown(network, unseen, greedy, run)
            return right

        what = Steps(train_op, network.loss, step, steps, batch, "sequences")
        cpus = len({place for place in places if "cpu" in place.lower()}) or 1
        result = train(run, what, feeds, end, config=tf.ConfigProto(
            allow_soft_placement=True, device_count={"CPU": cpus}))  # fmt: skip
    run.finish(result or {})
