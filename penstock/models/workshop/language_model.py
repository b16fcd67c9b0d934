"""``penstock train language-model``: the next word of a text, by LSTM layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from penstock.models import language_model as lm
from penstock.models.word2vec_text import hold_out, python_passages
from penstock.models.workshop.training import Epochs, Fresh, Logdir, Run, Seed, command

app = command()


def _texts(text: Path | None, test: Path | None, seed: int) -> tuple[list[str], list[str]]:
    """What is learned and what is tested on; without a test text a tenth of the passages."""
    if text is None:
        learned, held = hold_out(python_passages(), seed)
    elif test is None:
        lines = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
        learned, held = hold_out([line for line in lines if line], seed)
    else:
        return lm.read_words(text), lm.read_words(test)
    if not learned or not held:
        raise typer.BadParameter("ten lines of text or more are needed", param_hint="--text")
    return _joined(learned), _joined(held)


def _joined(passages: list[list[str]]) -> list[str]:
    return [word for passage in passages for word in (*passage, lm.END)]


@app.command()
def language_model(
    text: Annotated[
        Path | None,
        typer.Option(help="The text that is learned; default: Python's own manual.",
                     exists=True, dir_okay=False),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(help="The text it is tested on; default: a tenth of the other's lines.",
                     exists=True, dir_okay=False),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often the text is read.")] = (
        lm.Settings.epochs
    ),
    units: Annotated[int, typer.Option(min=1, help="Width of the layers.")] = lm.Settings.units,
    layers: Annotated[int, typer.Option(min=1, help="LSTM layers.")] = lm.Settings.layers,
    steps: Annotated[int, typer.Option(min=1, help="Words of a stream a step.")] = (
        lm.Settings.steps
    ),
    batch: Annotated[int, typer.Option(min=1, help="Streams side by side.")] = lm.Settings.batch,
    keep: Annotated[
        float, typer.Option(min=0.01, max=1, help="The share that dropout keeps.")
    ] = lm.Settings.keep,
    learning_rate: Annotated[
        float, typer.Option(min=0, help="Adam's, at first.")
    ] = lm.Settings.learning_rate,
    words: Annotated[int, typer.Option(min=0, help="Words to write at the end.")] = 40,
    begin: Annotated[str, typer.Option(help="What the written text begins with.")] = "",
    seed: Seed = 1,
    logdir: Logdir = Path("runs/language-model"),
    fresh: Fresh = False,
) -> None:  # fmt: skip
    """Learn to foretell the next word of a text, and write some more of it.

    The graph: the text is cut into streams that are read side by side. Words are looked up in a
    table, go through two LSTM layers in a loop over the steps (dynamic_rnn), and the same table
    turns what comes out into logits of the next word. Gradients go back through the words of one
    step; the state is fetched and fed to the next. They are clipped by their global norm. The text
    that is not learned is read with moving averages of all weights.

    \b
    Examples:
      penstock train language-model
      penstock train language-model --text ptb.valid.txt --test ptb.test.txt
      penstock train language-model --units 400 --begin "the value of"

    Perplexity, the exponential of the mean loss, stands beside that of a unigram model, which
    knows only how frequent words are.
    """
    run = Run(logdir)
    learned, held = _texts(text, test, seed)
    numbers = lm.vocabulary(learned)
    seen, unseen = lm.numbered(learned, numbers), lm.numbered(held, numbers)
    settings = lm.Settings(units=units, layers=layers, steps=steps, batch=batch, keep=keep,
                           epochs=epochs,
                           full_epochs=(epochs + 1) // 2, learning_rate=learning_rate,
                           seed=seed)  # fmt: skip
    if len(seen) < batch * 2:
        raise typer.BadParameter(f"the text has {len(seen)} words, too few", param_hint="--text")
    run.open({"program": "language-model", "text": str(text), "test": str(test), "units": units,
              "layers": layers, "steps": steps, "batch": batch, "keep": keep,
              "learning_rate": learning_rate, "average": settings.average, "seed": seed},
             fresh)  # fmt: skip
    unigram = lm.unigram_perplexity(seen, unseen, len(numbers))
    run.say(f"{len(seen)} words to learn, {len(unseen)} to test, a vocabulary of {len(numbers)};"
            f" a unigram model's perplexity {unigram:.1f}")  # fmt: skip
    model = lm.LanguageModel(settings, len(numbers), numbers[lm.END])

    def epoch(number: int, more: Callable[[float, float], None]) -> dict[str, float]:
        met = model.train_epoch(seen, model.rate(number), more)
        found = model.perplexity(unseen)
        return {"loss": math.log(met), "perplexity": found, "of unigram": found / unigram}

    Epochs(run, model, epochs).train(len(seen), "words", epoch)
    found = model.perplexity(unseen)
    run.say(f"perplexity {found:.1f}, {found / unigram:.3f} of the unigram's")
    if words:
        written = model.write(list(numbers), begin.lower().split(), words)
        run.say(" ".join(written).replace(f" {lm.END}", "."))
    run.finish({"perplexity": found, "unigram": unigram, "ratio": found / unigram})
