"""The translation tutorial's data and model."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.models.tutorials import translate_data as data
from penstock.models.tutorials.translate_model import Seq2SeqModel


def test_words_become_numbers(tmp_path: Path) -> None:
    text, words, ids = (str(tmp_path / name) for name in ("text", "words", "ids"))
    Path(text).write_text("a cat, a dog.\n12 dogs: a\n")
    data.create_vocabulary(words, text, 7)
    numbers, listed = data.initialize_vocabulary(words)
    assert listed == [b"_PAD", b"_GO", b"_EOS", b"_UNK", b"a", b"cat", b","]
    assert numbers[b"cat"] == 5 and data.EOS_ID == 2 and data.UNK_ID == 3
    data.data_to_token_ids(text, ids, words)
    assert Path(ids).read_text() == "4 5 6 4 3 3\n3 3 3 4\n"
    assert data.sentence_to_token_ids("A,cat", numbers) == [3, 6, 5]
    with pytest.raises(ValueError, match=r"Vocabulary file .*nowhere not found"):
        data.initialize_vocabulary(str(tmp_path / "nowhere"))


def test_wmt_from_texts_and_from_archives(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="put them there, or training-giga-fren.tar"):
        data.prepare_wmt_data(str(tmp_path), 9, 9)
    for language in ("en", "fr"):
        (tmp_path / f"giga-fren.release2.fixed.{language}").write_text(f"one {language} 1\n")
    with tarfile.open(tmp_path / "dev-v2.tgz", "w:gz") as archive:
        for language in ("en", "fr"):
            info = tarfile.TarInfo(f"dev/newstest2013.{language}")
            content = f"{language} two\n".encode()
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    found = data.prepare_wmt_data(str(tmp_path), 9, 6)
    names = [Path(path).name for path in found]
    assert names[0] == "giga-fren.release2.fixed.ids9.en" and names[5] == "vocab6.fr"
    contents = [Path(path).read_text().split() for path in found]
    assert contents[:4] == [["4", "5", "6"], ["4", "5", "3"], ["5", "3"], ["5", "3"]]


@pytest.mark.long
@pytest.mark.parametrize("samples, lstm", [(5, False), (0, True)])
def test_the_model_learns_to_reverse(samples: int, lstm: bool) -> None:
    tf.set_random_seed(1)
    buckets = [(3, 4), (5, 6)]
    settings = (12, 12, buckets, 16, 1, 5.0, 8, 0.5, 0.5)
    with tf.variable_scope("model"):
        model = Seq2SeqModel(*settings, use_lstm=lstm, num_samples=samples)
    sentence = ([4, 5, 6], [6, 5, data.EOS_ID])
    batch = model.get_batch([[sentence], []], 0)
    assert [v[0] for v in batch[0]] == [6, 5, 4] and [v[0] for v in batch[1]] == [1, 6, 5, 2]
    assert [v[0] for v in batch[2]] == [1, 1, 1, 0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [model.step(session, *batch, 0, False)[1] for _ in range(25)]
        norm, _, outputs = model.step(session, *batch, 0, True)
        session.run(model.learning_rate_decay_op)
        assert session.run([model.learning_rate, model.global_step]) == [0.25, 25]
        with pytest.raises(ValueError, match="Encoder length must be equal .* 3 != 5"):
            model.step(session, *batch, 1, False)
    assert losses[-1] < 0.7 * losses[0] and norm is None and len(outputs) == 4
    assert np.isfinite(outputs[0]).all()
