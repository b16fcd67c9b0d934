"""The attention model answers with all three decoders, learns, and comes back from a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.models import sequence_to_sequence as s2s

SMALL = s2s.Settings(
    symbols=6, shortest=2, longest=4, units=16, batch=16, steps=30, learning_rate=0.02,
    beam=2, held_out=10,
)  # fmt: skip


def test_a_batch_is_filled_up_with_padding() -> None:
    batch = s2s.make_batch(s2s.Task.REVERSE, [(5, 4), (3, 4, 5)])
    assert batch.sources.tolist() == [[5, 4, 0], [3, 4, 5]]
    assert batch.lengths.tolist() == [2, 3]
    assert batch.targets.tolist() == [[4, 5, s2s.END, 0], [5, 4, 3, s2s.END]]


def test_what_is_held_out_is_never_learned() -> None:
    sequences = s2s.Sequences(replace(SMALL, symbols=2, shortest=3, longest=3, held_out=3))
    kept = {tuple(source) for source in sequences.held_out}
    learned = {tuple(row) for _ in range(10) for row in sequences.batch().sources.tolist()}
    assert learned and not learned & kept


def test_accuracy_counts_missing_and_late_symbols_as_wrong() -> None:
    targets = np.array([[3, 4, s2s.END, 0]])
    assert s2s.accuracy(np.array([[3, 4, s2s.END]]), targets) == 1.0
    assert s2s.accuracy(np.array([[3, 4]]), targets) == pytest.approx(2 / 3)
    assert s2s.accuracy(np.array([[3, 3, 4, s2s.END, 5, 6]]), targets) == pytest.approx(1 / 3)


@pytest.mark.long
@pytest.mark.parametrize("attention", list(s2s.Attention))
def test_the_loss_falls_and_a_checkpoint_brings_the_model_back(
    tmp_path: Path, attention: s2s.Attention
) -> None:
    settings = replace(SMALL, attention=attention)
    sequences = s2s.Sequences(settings)
    model = s2s.SequenceModel(settings)
    losses = [model.train(sequences.batch()) for _ in range(settings.steps)]
    assert losses[0] == pytest.approx(np.log(s2s.FIRST + settings.symbols), rel=0.1)
    assert np.mean(losses[-5:]) < 0.85 * losses[0]

    path = model.save(str(tmp_path / "model"))
    unseen = s2s.make_batch(settings.task, sequences.held_out)
    before = [model.answer(unseen, beam) for beam in (False, True)]
    assert all(len(answers) == len(sequences.held_out) for answers in before)
    for _ in range(3):
        model.train(sequences.batch())
    other = s2s.SequenceModel(replace(settings, seed=2))
    other.restore(path)
    for beam, answers in zip((False, True), before):
        np.testing.assert_array_equal(other.answer(unseen, beam), answers)


@pytest.mark.long
def test_the_command_reports_accuracies(tmp_path: Path) -> None:
    words = ["sort", "--steps", "4", "--every", "2", "--units", "8", "--batch", "4", "--beam", "2"]
    result = CliRunner().invoke(s2s.app, [*words, "--save", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    assert [line[:10] for line in result.output.splitlines()[:2]] == ["step     2", "step     4"]
    assert (tmp_path / "model.index").is_file()


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("task", list(s2s.Task))
def test_it_learns_the_task(task: s2s.Task) -> None:
    settings = s2s.Settings(task=task)
    sequences = s2s.Sequences(settings)
    model = s2s.SequenceModel(settings)
    for _ in range(settings.steps):
        model.train(sequences.batch())
    unseen = s2s.make_batch(task, sequences.held_out)
    greedy, beam = model.accuracies(unseen)
    assert greedy > 0.98
    assert beam > 0.98
