"""Files of the cache of Keras: found, copied, checked, refused; data sets read from them."""

from __future__ import annotations

import gzip
import hashlib
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest

import penstock as tf


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    return tmp_path / "datasets"


def test_a_file_is_found_copied_and_checked(cache: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_text("words")
    get_file = tf.keras.utils.get_file
    wanted = hashlib.sha256(b"words").hexdigest()
    path = get_file("kept.txt", source.as_uri(), file_hash=wanted)
    assert path == str(cache / "kept.txt") and Path(path).read_text() == "words"
    source.unlink()
    assert get_file("kept.txt", "http://nowhere/kept.txt") == path
    with pytest.raises(ValueError, match="incomplete or outdated"):
        get_file("kept.txt", "http://nowhere/kept.txt", md5_hash="0" * 32)


def test_a_file_that_is_not_there_is_refused_with_its_place(cache: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"URL fetch failure.*{cache / 'mnist.npz'}"):
        tf.keras.datasets.mnist.load_data()


def test_digits_and_clothes(cache: Path) -> None:
    x, y = np.arange(2 * 784, dtype=np.uint8).reshape(2, 28, 28), np.array([3, 1], np.uint8)
    np.savez(cache / "mnist.npz", x_train=x, y_train=y, x_test=x[:1], y_test=y[:1])
    (_, labels), (images, _) = tf.keras.datasets.mnist.load_data()
    assert labels.tolist() == [3, 1] and images.shape == (1, 28, 28)
    folder = cache / "fashion-mnist"
    folder.mkdir()
    for part in ("train", "t10k"):
        for name, head, values in (("labels-idx1", 8, y), ("images-idx3", 16, x)):
            content = gzip.compress(bytes(head) + values.tobytes())
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(content)
    (images, labels), _ = tf.keras.datasets.fashion_mnist.load_data()
    np.testing.assert_array_equal(images, x)
    assert labels.tolist() == [3, 1]


def test_pictures_come_from_an_archive(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    pixels = np.arange(3072, dtype=np.uint8).reshape(1, 3072)
    for number, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        (folder / name).write_bytes(pickle.dumps({b"data": pixels, b"labels": [number]}))
    with tarfile.open(cache / "cifar-10-batches-py.tar.gz", "w:gz") as archive:
        archive.add(folder, folder.name)
    (images, labels), (_, last) = tf.keras.datasets.cifar10.load_data()
    assert images.shape == (5, 32, 32, 3) and labels.ravel().tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(images[0, 0, 1], pixels[0][[1, 1025, 2049]])
    assert last.tolist() == [[5]]


def test_reviews_are_bounded(cache: Path) -> None:
    texts = np.empty(2, object)
    texts[:] = [[1, 5, 2], [7]]
    given = {"x_train": texts, "x_test": texts, "y_train": [0, 1], "y_test": [1, 0]}
    np.savez(cache / "imdb.npz", **{k: np.asarray(v) for k, v in given.items()})
    (x, y), _ = tf.keras.datasets.imdb.load_data(num_words=8)
    found = {tuple(text): int(label) for text, label in zip(x, y, strict=True)}
    assert found == {(1, 4, 2, 5): 0, (1, 2): 1}


def test_batches_are_read_ahead_in_order_and_errors_come_through() -> None:
    def three():
        yield from range(3)
        raise KeyError("no more")

    enqueuer = tf.keras.utils.GeneratorEnqueuer(three())
    enqueuer.start()
    seen = []
    with pytest.raises(KeyError, match="no more"):
        for batch in enqueuer.get():
            seen.append(batch)
    assert seen == [0, 1, 2] and not enqueuer.is_running()

    class Numbers(tf.keras.utils.Sequence):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> int:
            return index

    ordered = tf.keras.utils.OrderedEnqueuer(Numbers())
    ordered.start(max_queue_size=3)
    given = ordered.get()
    assert [next(given) for _ in range(5)] == [0, 1, 0, 1, 0]
    ordered.stop()
    assert not ordered.is_running()


def test_older_and_newer_paths_are_the_same_modules() -> None:
    assert tf.contrib.keras.layers is tf.keras.layers
    assert tf.contrib.keras.utils is tf.keras.utils
    newer = tf.compat.v2
    assert newer.keras is tf.keras and "keras" in dir(newer)


def test_a_configuration_goes_through_yaml() -> None:
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=[3])])
        again = tf.keras.models.model_from_yaml(model.to_yaml())
        assert again.to_json() == model.to_json()


def test_losses_have_their_short_names() -> None:
    for place in (tf.keras.losses, tf.keras.metrics):
        assert place.mse is place.MSE is place.mean_squared_error
        assert place.mae is place.MAE is place.mean_absolute_error
        assert place.mape is place.MAPE is place.mean_absolute_percentage_error
        assert place.msle is place.MSLE is place.mean_squared_logarithmic_error
        assert place.kld is place.KLD is place.kullback_leibler_divergence
        assert place.cosine is place.cosine_proximity
