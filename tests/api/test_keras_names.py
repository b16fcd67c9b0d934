"""The namespaces of ``tf.keras`` hold what TensorFlow 1.15's hold, less what is said here.

``python -m tests.api.test_keras_names`` under TensorFlow 1.15's Python writes ``keras_names.json``
anew: the public names of each namespace and of the main classes.
"""

import json
from pathlib import Path

NAMES = Path(__file__).with_name("keras_names.json")
PLACES = [
    "", "Model", "Sequential", "activations", "applications", "backend", "callbacks",
    "callbacks.Callback", "constraints", "datasets", "estimator", "experimental", "initializers",
    "layers", "layers.Layer", "losses", "losses.Loss", "metrics", "metrics.Metric",
    "mixed_precision.experimental", "models", "optimizers", "optimizers.Optimizer",
    "optimizers.schedules", "preprocessing.image", "preprocessing.image.ImageDataGenerator",
    "preprocessing.sequence", "preprocessing.text", "preprocessing.text.Tokenizer", "regularizers",
    "utils", "utils.Sequence", "wrappers.scikit_learn", "wrappers.scikit_learn.KerasClassifier",
]  # fmt: skip


def place(tf, path):
    found = tf.keras
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


def main():
    import tensorflow as tf

    rows = []
    for path in PLACES:
        names = [name for name in dir(place(tf, path)) if not name.startswith("_")]
        rows.append(json.dumps(path) + ": " + json.dumps(" ".join(sorted(names))))
    NAMES.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
else:
    import re

    import pytest

    import penstock as tf

    THEIRS = {path: names.split() for path, names in json.loads(NAMES.read_text()).items()}
    # Patterns of names that are not here, and why.
    ABSENT = {
        r"\.mixed_precision|mixed_precision\.experimental\..*":
            "layers compute in the type of their variables; `tf.train.experimental` has the"
            " rewrite of graphs and the scales of losses",
    }  # fmt: skip
    PACKAGES = {"applications": "keras_applications", "preprocessing.image": "keras_preprocessing"}

    def _is_explained(name):
        return any(re.fullmatch(pattern, name) for pattern in ABSENT)

    def _is_there(path, name):
        try:
            getattr(place(tf, path), name)
        except AttributeError:
            return False
        return True

    @pytest.mark.parametrize("path", PLACES)
    def test_names_are_here(path):
        for room, package in PACKAGES.items():
            if path.startswith(room):
                pytest.importorskip(package)
        asked = [name for name in THEIRS[path] if not _is_explained(f"{path}.{name}")]
        assert [name for name in asked if not _is_there(path, name)] == []

    def test_what_is_explained_is_absent():
        names = [(path, name) for path, held in THEIRS.items() for name in held]
        explained = [one for one in names if _is_explained(".".join(one))]
        assert [one for one in explained if _is_there(*one)] == []
        for pattern in ABSENT:
            assert any(re.fullmatch(pattern, ".".join(one)) for one in explained), pattern
