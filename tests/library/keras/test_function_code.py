"""Code in a configuration: one's own is read again, another's is refused until it is allowed."""

from __future__ import annotations

import base64
import json
import marshal

import numpy as np
import pytest

import penstock as tf
from penstock.library.keras.layers import function_code


def _text() -> str:
    """A configuration that another process may have written."""
    layer = tf.keras.layers.Lambda(lambda t: t, input_shape=(2,), name="foreign")
    foreign = compile("lambda t: t + 1", "foreign", "eval").co_consts[0]
    text: str = tf.keras.Sequential([layer]).to_json()
    own, (described, *_) = json.loads(text), layer.get_config()["function"]
    code = base64.encodebytes(marshal.dumps(foreign)).decode()
    return json.dumps(own).replace(json.dumps(described), json.dumps(code))


def test_ones_own_code_is_read_again() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Lambda(lambda t: t * 2, input_shape=(2,))])
    again = tf.keras.models.model_from_json(model.to_json())
    assert again.predict(np.array([[1.0, 2.0]])).tolist() == [[2.0, 4.0]]


def test_anothers_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _text()
    with pytest.raises(ValueError, match=f"not run; {function_code.VARIABLE}=1 allows it"):
        tf.keras.models.model_from_json(text)
    monkeypatch.setenv(function_code.VARIABLE, "1")
    again = tf.keras.models.model_from_json(text)
    assert again.predict(np.array([[1.0, 2.0]])).tolist() == [[2.0, 3.0]]


def test_code_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(function_code.VARIABLE, "1")
    text = base64.encodebytes(marshal.dumps([1, 2])).decode()
    with pytest.raises(ValueError, match="no code but list"):
        function_code.restored((text, None, None), "lambda", None)
