"""``penstock train sentences``: whether a review is for or against a film."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from penstock.models import sentence_cnn as cnn
from penstock.models.sentence_cnn_text import (
    FOLDS,
    Sentence,
    encode,
    read_reviews,
    split_fold,
    vocabulary,
)
from penstock.models.word2vec_embeddings import Embeddings
from penstock.models.workshop.training import Epochs, Fresh, Logdir, Run, Seed, command

app = command()


def _trained(
    run: Run, settings: cnn.Settings, sentences: list[Sentence], fold: int,
    vectors: Embeddings | None, ask: list[str],
) -> float:  # fmt: skip
    """Trains on all tenths but one; returns the share of right ones in that."""
    learned, held = split_fold(sentences, fold)
    numbers = vocabulary(learned, settings.rarest)
    (words, labels), (unseen, answers) = encode(learned, numbers), encode(held, numbers)
    model = cnn.SentenceModel(settings, numbers, vectors)

    def epoch(number: int, more: Callable[[float, float], None]) -> dict[str, float]:
        model.random = np.random.RandomState([settings.seed, number])
        loss = model.train_epoch(words, labels, model.rate(number), more)
        return {"loss": loss, "right": model.accuracy(unseen, answers)}

    Epochs(run, model, settings.epochs).train(len(words), "sentences", epoch)
    for text in ask:
        chances = model.classify(text)
        run.say(f"{text!r}: " + ", ".join(f"{name} {p:.2f}" for name, p in chances.items()))
    right = model.accuracy(unseen, answers)
    model.session.close()
    return right


@app.command()
def sentences(
    data: Annotated[
        Path,
        typer.Option(help="Folder with rt-polarity.neg and rt-polarity.pos, a sentence a line.",
                     exists=True, file_okay=False),
    ],
    channels: Annotated[
        cnn.Channels, typer.Option(help="Where word vectors come from.")
    ] = cnn.Channels.RANDOM,
    vectors: Annotated[
        Path | None,
        typer.Option(help="vectors.txt of 'train word2vec', for all channels but 'rand'.",
                     exists=True, dir_okay=False),
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=1, help="How often the sentences are read.")
    ] = cnn.Settings.epochs,
    folds: Annotated[
        int, typer.Option(min=1, max=FOLDS, help="How many tenths are held out, one by one.")
    ] = 1,
    filters: Annotated[int, typer.Option(min=1, help="Of each length.")] = cnn.Settings.filters,
    batch: Annotated[int, typer.Option(min=1, help="Sentences of a step.")] = cnn.Settings.batch,
    ask: Annotated[
        list[str] | None, typer.Option(help="Judge this sentence too; may be repeated.")
    ] = None,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/sentences"),
    fresh: Fresh = False,
) -> None:  # fmt: skip
    """Learn to tell whether a sentence is for or against a film.

    The graph: words are looked up in a table of vectors; filters three, four and five words long
    slide over the sentence, and the largest value of each over time goes on, through dropout, to a
    softmax of two classes. Vectors begin at random ('rand'), are those of word2vec and stay so
    ('static') or are learned further ('non-static'), or both side by side ('multichannel').

    \b
    Examples:
      penstock train sentences --data reviews/
      penstock train word2vec --text reviews/ --logdir runs/vectors
      penstock train sentences --data reviews/ --channels multichannel \\
          --vectors runs/vectors/vectors.txt --logdir runs/multichannel
      penstock train sentences --data reviews/ --folds 10 --ask "a waste of time"

    With --folds each tenth has a folder of its own in the run's.
    """
    run = Run(logdir)
    given = None if vectors is None else Embeddings.read(vectors)
    if (given is None) != (channels is cnn.Channels.RANDOM):
        needs = "no --vectors" if given is not None else "--vectors"
        raise typer.BadParameter(f"{channels.value!r} takes {needs}", param_hint="--channels")
    settings = cnn.Settings(
        channels=channels, filters=filters, batch=batch, epochs=epochs, seed=seed,
        width=cnn.Settings.width if given is None else given.vectors.shape[1],
    )  # fmt: skip
    found = read_reviews(data)
    run.open({"program": "sentences", "data": str(data), "channels": channels,
              "vectors": str(vectors), "filters": filters, "batch": batch, "seed": seed},
             fresh)  # fmt: skip
    run.say(f"{len(found)} sentences; tenths held out: {folds}")
    right = []
    for fold in range(folds):
        part = Run(logdir / f"fold-{fold}")
        part.logdir.mkdir(exist_ok=True)
        right.append(_trained(part, settings, found, fold, given, ask or []))
        run.say(f"fold {fold}: {right[-1]:.2%} right")
    if folds > 1:
        run.say(f"mean of {folds} folds: {np.mean(right):.2%}, deviation {np.std(right):.2%}")
    run.finish({"accuracy": float(np.mean(right)), "folds": right})
