"""The digits that programs learn: scikit-learn's bundled ones, or MNIST's IDX files.

Nothing here is state: which images are held back, and which images a step takes, follow from the
data and the seed alone. So a run resumed at step n sees the batches that it would have seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from penstock.models.idx import IdxError, find_idx, read_idx

CLASSES = 10
SPLIT_SEED = 0  # which images are held back is part of the task, not of the run

Images = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Data:
    """Images are [n, height, width, 1] in 0..1, labels are [n]; `source` says what they are."""

    source: str
    train_images: Images
    train_labels: Labels
    test_images: Images
    test_labels: Labels


def load(directory: Path | None, option: str = "--data-dir", last: int | None = None) -> Data:
    """The data that the command line asks for; what is wrong with it is the user's to know.

    Args:
      directory: of IDX files; None for the bundled digits.
      option: the command's option that names it.
      last: images held back where there are no files of training images: so many, the last ones.
    """
    try:
        return load_bundled(option) if directory is None else load_mnist(directory, last)
    except IdxError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def load_bundled(option: str = "--data-dir") -> Data:
    """The 8x8 digits of scikit-learn: 1437 to learn from, 360 held back."""
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        raise typer.BadParameter(
            f"the bundled digits come with scikit-learn: pip install 'penstock[demo]',"
            f" or give {option}"
        ) from error
    bundle = load_digits()
    return split("scikit-learn's 8x8 digits", bundle.images / 16.0, bundle.target, held_back=360)


def load_mnist(directory: Path, last: int | None = None) -> Data:
    """MNIST's IDX files in `directory`; where the training files are missing, t10k's are split.

    A tenth of them, by lot, is held back, or the `last` of them.
    """
    test_images, test_labels = read_pair(directory, "t10k")
    if find_idx(directory / "train-images-idx3-ubyte") is None:
        if last is not None:
            cut = len(test_images) - last
            if not 0 < cut < len(test_images):
                raise IdxError(f"{directory}: {len(test_images)} images; {last} cannot be the last")
            source = f"the first {cut} of MNIST's t10k files in {directory}"
            return Data(
                source, test_images[:cut], test_labels[:cut], test_images[cut:], test_labels[cut:]
            )
        source = f"MNIST's t10k files in {directory} (no train files there, so these are split)"
        return split(source, test_images, test_labels, held_back=len(test_images) // 10)
    train_images, train_labels = read_pair(directory, "train")
    return Data(f"MNIST in {directory}", train_images, train_labels, test_images, test_labels)


def read_pair(directory: Path, part: str) -> tuple[Images, Labels]:
    """One part (``train`` or ``t10k``) of MNIST: its images, scaled to 0..1, and its labels."""
    images = read_idx(directory / f"{part}-images-idx3-ubyte")
    labels = read_idx(directory / f"{part}-labels-idx1-ubyte")
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise IdxError(
            f"{directory}: the {part} files hold images of shape {list(images.shape)} and labels of"
            f" shape {list(labels.shape)}; wanted [n, height, width] and [n]"
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < CLASSES:
        raise IdxError(
            f"{directory}: the {part} labels run from {labels.min()} to {labels.max()};"
            f" wanted 0 to {CLASSES - 1}"
        )
    return (images[..., np.newaxis] / 255.0).astype(np.float32), labels.astype(np.int32)


def split(source: str, images: Any, labels: Any, held_back: int) -> Data:
    """Shuffles in one fixed order and holds back the last `held_back` images for the test."""
    order = np.random.default_rng(SPLIT_SEED).permutation(len(images))
    shape = (*np.shape(images)[:3], 1)
    images = np.asarray(images, np.float32).reshape(shape)[order]
    labels = np.asarray(labels, np.int32)[order]
    cut = len(images) - held_back
    return Data(source, images[:cut], labels[:cut], images[cut:], labels[cut:])


def batches(data: Data, size: int, seed: int, done: int = 0) -> Iterator[tuple[Images, Labels]]:
    """Endless training batches from the one after `done` steps on.

    Each epoch is shuffled anew, by the seed and its number; a last partial batch is left out.
    """
    count = len(data.train_images)
    for step in itertools.count(done):
        epoch, place = divmod(step, count // size)
        if place == 0 or step == done:
            order = np.random.default_rng([seed, epoch]).permutation(count)
        chosen = order[place * size : (place + 1) * size]
        yield data.train_images[chosen], data.train_labels[chosen]
