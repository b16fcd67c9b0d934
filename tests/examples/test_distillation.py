"""The example of distillation: who learns what, and that the student leaves as a model."""

from __future__ import annotations

import re
from pathlib import Path

import distillation
import numpy as np
import pytest
from typer.testing import CliRunner

import penstock as tf
from penstock.models.digits_data import load


def _room(share: float) -> tuple[distillation.Classroom, distillation.Data]:
    data = load(None)
    return distillation.Classroom(data, 16, 4.0, share, seed=3), distillation.fewer(data, 64)


@pytest.mark.long
def test_the_teacher_is_right_and_a_hundredth_of_its_numbers_nearly_so(tmp_path: Path) -> None:
    words = ["--teacher-steps", "200", "--steps", "600", "--export-dir", str(tmp_path / "student")]
    result = CliRunner().invoke(distillation.app, words)
    assert result.exit_code == 0, result.output
    rows = re.findall(r"^(teacher|student alone|distilled) +(\d+) numbers, ([\d.]+)%",
                      result.output, re.M)  # fmt: skip
    (teacher, large, right), (_, small, alone), (_, same, distilled) = rows
    assert teacher == "teacher" and small == same and int(small) * 90 < int(large)
    assert float(right) > 97 and float(alone) > 91 and float(distilled) > 91
    data = load(None)
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.saved_model.load(session, ["serve"], str(tmp_path / "student"))
        ends = found.signature_def["serving_default"]
        told = session.run(
            ends.outputs["logits"].name, {ends.inputs["images"].name: data.test_images}
        )
    share = 100 * float(np.mean(told.argmax(1) == data.test_labels))
    assert share == pytest.approx(float(distilled), abs=0.06)


def test_students_begin_alike_and_their_teacher_stays_as_it_is() -> None:
    room, few = _room(share=0.5)
    feeds = {room.images: few.test_images}
    models = [room.alone, room.distilled, room.teacher]
    first = [room.session.run(model.logits, feeds) for model in models]
    np.testing.assert_array_equal(first[0], first[1])
    room.train([room.alone.train_op, room.distilled.train_op], few, 5, training=False)
    alone, distilled, teacher = (room.session.run(model.logits, feeds) for model in models)
    np.testing.assert_array_equal(teacher, first[2])
    assert np.abs(alone - first[0]).max() > 1e-3 and np.abs(alone - distilled).max() > 1e-3


def test_labels_alone_are_the_loss_without_a_teacher() -> None:
    room, few = _room(share=1.0)
    room.train([room.alone.train_op, room.distilled.train_op], few, 5, training=False)
    feeds = {room.images: few.test_images}
    alone, distilled = room.session.run([room.alone.logits, room.distilled.logits], feeds)
    np.testing.assert_allclose(alone, distilled, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_who_says_what_the_teacher_says_has_nothing_to_learn(temperature: float) -> None:
    teacher = tf.constant([[2.0, -1.0, 0.5]])
    found = tf.constant([[2.0, -1.0, 0.5], [0.0, 1.0, 0.5]])
    same, other = (
        tf.gradients(distillation.of_teacher(row, teacher, temperature), row)[0]
        for row in (found[:1], found[1:])
    )
    with tf.Session() as session:
        nothing, something = session.run([same, other])
    np.testing.assert_allclose(nothing, 0, atol=1e-6)
    assert np.abs(something).max() > 0.1
