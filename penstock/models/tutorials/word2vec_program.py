"""The word2vec programs: ``tf.models.embedding.word2vec`` and ``word2vec_optimized``.

Both learn vectors of a text's words and answer a file of analogies; they differed in where their
kernels ran. The model is that of ``penstock.models.word2vec``. Importing this defines the
programs' flags.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import penstock as tf
from penstock.models import word2vec, word2vec_text

flags: Any = tf.app.flags
FLAGS: Any = flags.FLAGS


def _define() -> None:
    """Defines the flags, but those that another program of this process has, which are shared."""
    text, number, share = flags.DEFINE_string, flags.DEFINE_integer, flags.DEFINE_float
    for kind, name, value, what in (
        (text, "save_path", None, "Folder of the checkpoint, the words and the vectors."),
        (text, "train_data", None, "Text to learn."),
        (text, "eval_data", None, "Analogies, four words a line."),
        (number, "embedding_size", 200, "Width of the vectors."),
        (number, "epochs_to_train", 15, "How often the text is read."),
        (share, "learning_rate", 0.2, "Of the optimizer."),
        (number, "num_neg_samples", 100, "Noise words of a step."),
        (number, "batch_size", 16, "Examples of a step."),
        (number, "window_size", 5, "Words on either side, at most."),
        (number, "min_count", 5, "Words that are rarer are left out."),
        (share, "subsample", 1e-3, "Share of the text above which words are thinned out."),
    ):
        if name not in FLAGS:
            kind(name, value, what)


_define()


def _settings() -> word2vec.Settings:
    return word2vec.Settings(
        width=FLAGS.embedding_size, window=FLAGS.window_size, noise=FLAGS.num_neg_samples,
        batch=FLAGS.batch_size, learning_rate=FLAGS.learning_rate, epochs=FLAGS.epochs_to_train,
        rarest=FLAGS.min_count, threshold=FLAGS.subsample,
    )  # fmt: skip


def main(_: Any = None) -> None:
    """Learns ``--train_data``, answers ``--eval_data`` and saves to ``--save_path``.

    What is saved is a checkpoint, ``model.ckpt``, and ``vectors.txt``.

    Raises:
      SystemExit: if one of these flags is not given.
    """
    if not (FLAGS.train_data and FLAGS.eval_data and FLAGS.save_path):
        raise SystemExit("--train_data --eval_data and --save_path must be specified.")
    settings = _settings()
    passages = word2vec_text.read_passages(Path(FLAGS.train_data))
    model = word2vec.Word2Vec(settings, *word2vec_text.hold_out(passages, settings.seed))
    for epoch in range(settings.epochs):
        print(f"Epoch {epoch + 1}: sampled loss {model.train_epoch():.4f}")
    folder = Path(FLAGS.save_path)
    folder.mkdir(parents=True, exist_ok=True)
    model.save(str(folder / "model.ckpt"))
    learned = model.trained()
    learned.write(folder / "vectors.txt")
    print(*word2vec.answered(learned, Path(FLAGS.eval_data)), sep="\n")
