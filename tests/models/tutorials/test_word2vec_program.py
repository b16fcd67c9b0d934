"""The word2vec programs, run as other programs run them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.tf1.processes import run

PROGRAM = """\
import tensorflow as tf
from tensorflow.models.embedding import word2vec, word2vec_optimized
main, flags = word2vec_optimized.main, tf.app.flags.FLAGS
given, flags.eval_data = flags.eval_data, None
try:
    main([])
except SystemExit as error:
    print(error)
flags.eval_data = given
word2vec.main([])
"""


@pytest.mark.long
def test_vectors_of_a_text(tmp_path: Path) -> None:
    drawn, groups = random.Random(0), ["red green blue pink", "one two three four"]
    lines = [" ".join(drawn.choices(drawn.choice(groups).split(), k=8)) for _ in range(60)]
    (tmp_path / "text.txt").write_text("\n\n".join(lines))
    (tmp_path / "questions.txt").write_text(": colors\nred green blue pink\nred one no two\n")
    program, saved = tmp_path / "program.py", tmp_path / "saved"
    program.write_text(PROGRAM)
    words = [
        "--train_data", str(tmp_path / "text.txt"), "--save_path", str(saved),
        "--eval_data", str(tmp_path / "questions.txt"), "--window_size", "2",
        "--embedding_size", "8", "--num_neg_samples", "4", "--epochs_to_train", "3",
        "--subsample", "0", "--batch_size", "32",
    ]  # fmt: skip
    done = run(str(program), *words)
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if "Epoch" in line]
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert "of     1  (2 in the file)" in done.stdout
    assert len((saved / "vectors.txt").read_text().split()) >= 8 * 9
    assert list(saved.glob("model.ckpt-*.index"))
    assert "--train_data --eval_data and --save_path must be specified." in done.stdout
