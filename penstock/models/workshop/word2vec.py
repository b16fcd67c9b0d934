"""``penstock train word2vec``: vectors of a text's words, by negative sampling, NCE or softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import penstock as tf
from penstock.foundation.machine.hardware import usable_cores
from penstock.models import word2vec as fed, word2vec_settings as sizes
from penstock.models.texts import read_texts
from penstock.models.word2vec_embeddings import Embeddings
from penstock.models.word2vec_in_graph import Network
from penstock.models.word2vec_text import Passage, encode, hold_out, vocabulary
from penstock.models.workshop.cluster import Place, here
from penstock.models.workshop.pictures import saved
from penstock.models.workshop.readings import Readings
from penstock.models.workshop.training import (
    Diverged,
    Epochs,
    Feeds,
    Fresh,
    Logdir,
    Run,
    Seed,
    Steps,
    command,
    train,
)

app = command()

_SHOWN = 8  # words whose neighbours are shown
_DRAWN = 300  # words of the picture


class Loss(StrEnum):
    """What stands for a softmax over the whole vocabulary."""

    NEGATIVE = "negative"
    NCE = "nce"
    SAMPLED_SOFTMAX = "sampled-softmax"


def _in_graph(
    run: Run, settings: sizes.Settings, passages: list[Passage], numbers: dict[str, int],
    epochs: int, threads: int,
) -> Embeddings | None:  # fmt: skip
    """Trains the model whose text is in the graph; a worker reads its share of the passages."""
    place = run.place
    counts = np.bincount(encode(passages, numbers).words, minlength=len(numbers))
    own = encode(passages[place.index :: place.workers], numbers)
    settings = sizes.fitted(settings, counts)
    total = epochs * sizes.steps_of_a_reading(settings, counts)
    raw = sum(map(len, passages)) * epochs / total
    with tf.Graph().as_default(), place.device():
        tf.set_random_seed(settings.seed + place.index)
        step = tf.train.get_or_create_global_step()
        progress = tf.cast(step, tf.float32) / total
        network = Network(settings, own, counts, progress, f"{place.own_device}/cpu:0")
        with tf.control_dependencies([network.train_op]):
            counted = tf.assign_add(step, 1)
        tf.summary.scalar("loss", network.loss)
        tf.summary.scalar("learning_rate", network.rate)

        def feeds(done: int) -> Iterator[Feeds]:
            while True:
                yield {}

        def end(asked: Callable[..., Any]) -> dict[str, Any]:
            vectors = asked(network.embeddings)
            if not np.isfinite(vectors).all():
                raise Diverged(total)
            return {"vectors": vectors}

        readings = Readings(network.reading.steps, network.reading.begin)
        what = Steps(counted.op, network.loss, step, total, raw, "words", readings, threads)
        # A thread a step: what many threads would gain inside a step they gain beside one another,
        # and a seed repeats every bit.
        config = tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=1)
        found = train(run, what, feeds, end, config=config)
    return None if found is None else Embeddings(list(numbers), found["vectors"])


def _threads(asked: int | None, loss: Loss, place: Place) -> int:
    """How many threads run steps."""
    if asked is None:
        alone = place.server is None and loss is Loss.NEGATIVE
        return usable_cores() if alone else 1
    if asked > 1 and loss is not Loss.NEGATIVE:
        message = f"{loss.value!r} is fed step by step: threads are for --loss negative"
        raise typer.BadParameter(message, param_hint="--threads")
    if asked > 1 and place.server is not None:
        message = "a worker of a cluster steps by one thread: take more --workers"
        raise typer.BadParameter(message, param_hint="--threads")
    return asked


def _fed(run: Run, settings: fed.Settings, passages: list[Passage], epochs: int) -> Embeddings:
    """Trains the model that Python feeds with examples."""
    model = fed.Word2Vec(settings, *hold_out(passages, settings.seed))
    run.say(f"nats a word of the tenth held out: all alike {model.uniform:.3f}, by frequency"
            f" {model.unigram:.3f}")  # fmt: skip
    words = len(model.text)

    def epoch(number: int, more: Callable[[float, float], None]) -> dict[str, float]:
        model.random = np.random.RandomState(settings.seed + number)
        share = words / max(model.examples, 1)
        loss = model.train_epoch(lambda count, loss: more(count * share, loss))
        return {"loss": loss, "unseen": model.cross_entropy()}

    Epochs(run, model, epochs).train(words, "words", epoch)
    return model.trained()


def _project(run: Run, found: Embeddings, tensor: str) -> None:
    """Has TensorBoard's projector show the checkpoint's vectors under their words."""
    words = run.logdir / "words.tsv"
    words.write_text("".join(f"{word}\n" for word in found.words), encoding="utf-8")
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    shown = config.embeddings.add()
    shown.tensor_name, shown.metadata_path = tensor, words.name
    with tf.Graph().as_default():
        projector.visualize_embeddings(tf.summary.FileWriter(str(run.logdir)), config)


def _drawn(run: Run, found: Embeddings, seed: int) -> None:
    """A picture of the frequent words, near ones near one another, by t-SNE."""
    try:
        from sklearn.manifold import TSNE
    except ModuleNotFoundError:
        run.say("no picture tsne.png: it takes scikit-learn, pip install 'penstock[workshop]'")
        return
    vectors = found.vectors[:_DRAWN]
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    perplexity = min(15.0, (len(unit) - 1) / 3)
    points: npt.NDArray[np.float32] = TSNE(
        perplexity=perplexity, metric="cosine", init="random", random_state=seed
    ).fit_transform(unit)

    def draw(figure: Any, axes: Any) -> None:
        figure.set_size_inches(11, 8)
        axes.scatter(points[:, 0], points[:, 1], s=2)
        for word, (x, y) in zip(found.words, points.tolist()):
            axes.annotate(word, (x, y), fontsize=7)
        axes.set_axis_off()

    saved(run, "tsne.png", draw)


def _tell(
    run: Run, found: Embeddings, words: list[str], analogies: Path | None
) -> dict[str, float]:
    """Prints what is near what, and how many analogies are right."""
    asked = words or found.words[40 : 40 + _SHOWN] or found.words[:_SHOWN]
    known = [word for word in asked if word in found.numbers]
    for word in asked:
        if word not in found.numbers:
            run.say(f"{word}: not among the {len(found.words)} words learned")
    for word, near in zip(known, found.nearby(known, 7) if known else []):
        run.say(f"{word}: " + ", ".join(f"{other} {cosine:.2f}" for other, cosine in near[1:]))
    if analogies is None:
        return {}
    lines = fed.answered(found, analogies)
    for line in lines:
        run.say(line)
    right, total = (int(word) for word in lines[-1].split("(")[0].split()[1::2])
    return {"analogies_right": right, "analogies_asked": total}


@app.command()
def word2vec(
    text: Annotated[
        str | None,
        typer.Option(help="A file, a folder of files, or a URL; default: Python's own manual."),
    ] = None,
    flavor: Annotated[
        fed.Flavor, typer.Option(help="Neighbours from the word, or the word from neighbours.")
    ] = fed.Flavor.SKIP_GRAM,
    loss: Annotated[
        Loss, typer.Option(help="'negative' reads the text in the graph, the others are fed.")
    ] = Loss.NEGATIVE,
    epochs: Annotated[int, typer.Option(min=1, help="How often the text is read.")] = 20,
    width: Annotated[int, typer.Option(min=1, help="Width of the vectors.")] = 100,
    window: Annotated[int, typer.Option(min=1, help="Words on either side, at most.")] = 5,
    noise: Annotated[
        int | None,
        typer.Option(min=1, help="Noise words of a pair (5), or of a step that is fed (64)."),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(min=0, help="Default: 0.025, CBOW 0.05; of what is fed (Adagrad) 1."),
    ] = None,
    rarest: Annotated[int, typer.Option(min=1, help="Leave out words rarer than this.")] = 5,
    threshold: Annotated[
        float, typer.Option(min=0, help="Share above which words are thinned out; 0: none.")
    ] = 1e-3,
    nearby: Annotated[
        list[str] | None, typer.Option(help="Show what is near this word; may be repeated.")
    ] = None,
    analogies: Annotated[
        Path | None, typer.Option(help="Answer a file of analogies, four words a line.",
                                  exists=True, dir_okay=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads that run steps at once; default: one a core, where"
                     " nothing is fed. With one a seed repeats the run."),
    ] = None,
    seed: Seed = 1,
    logdir: Logdir = Path("runs/word2vec"),
    fresh: Fresh = False,
) -> None:  # fmt: skip
    """Learn vectors of a text's words: words that are used alike come to lie near one another.

    The graph: rows of a table, the vectors, are looked up and multiplied with rows of another one;
    the products tell words that stand together from words drawn as noise. With --loss negative the
    text is a variable of the graph: a step takes the next words of it, finds the windows, draws the
    noise, and updates the rows it has met; nothing is fed. With nce and sampled-softmax Python
    makes the examples and feeds them, and a tenth of the text is held out to measure with.

    \b
    Examples:
      penstock train word2vec
      penstock train word2vec --text novels/ --flavor cbow --nearby whale
      penstock train word2vec --text book.txt --analogies questions-words.txt
      penstock train word2vec --loss nce --epochs 5 --logdir runs/nce
      penstock train word2vec --ps 2 --workers 3 --logdir runs/word2vec-cluster

    The run's folder gets vectors.txt (word2vec's text form, as 'train sentences --vectors' reads
    it), the vectors for TensorBoard's projector, and tsne.png.
    """
    place = here()
    run = Run(logdir, place)
    steppers = _threads(threads, loss, place)
    passages = read_texts(text)
    run.open({"program": "word2vec", "text": text, "flavor": flavor, "loss": loss, "width": width,
              "window": window, "noise": noise, "learning_rate": learning_rate, "rarest": rarest,
              "threshold": threshold, "seed": seed}, fresh)  # fmt: skip
    numbers = vocabulary(passages, rarest)
    if len(numbers) < 2:
        raise typer.BadParameter(f"only {len(numbers)} words occur {rarest} times or more: give"
                                 " more text", param_hint="--rarest")  # fmt: skip
    if place.is_chief:
        run.say(f"{sum(map(len, passages))} words of {text or 'the manual of Python'},"
                f" a vocabulary of {len(numbers)}")  # fmt: skip
    found: Embeddings | None
    cbow = flavor is fed.Flavor.CBOW
    if loss is Loss.NEGATIVE:
        found = _in_graph(
            run,
            sizes.Settings(
                cbow=cbow, learning_rate=learning_rate or (0.05 if cbow else 0.025), width=width,
                window=window, noise=noise or 5, threshold=threshold, seed=seed,
                groups=8 if cbow else 16,
            ), passages, numbers, epochs, steppers,
        )  # fmt: skip
    else:
        if place.server is not None:
            raise typer.BadParameter("a cluster learns with 'negative'", param_hint="--loss")
        settings = fed.Settings(
            flavor=flavor, loss=fed.Loss(loss.value), width=width, window=window, rarest=rarest,
            noise=noise or min(fed.Settings.noise, len(numbers) // 2),
            learning_rate=learning_rate or fed.Settings.learning_rate, threshold=threshold,
            seed=seed,
        )  # fmt: skip
        found = _fed(run, settings, passages, epochs)
    if found is None:
        return
    result = _tell(run, found, nearby or [], analogies)
    found.write(logdir / "vectors.txt")
    _project(run, found, "embeddings")
    _drawn(run, found, seed)
    run.finish({"words": sum(map(len, passages)), "vocabulary": len(found.words), **result})
