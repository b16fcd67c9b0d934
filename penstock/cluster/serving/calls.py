"""What the two protocols share: the calls of a server, on arrays and serialized examples.

Source: ``PredictionService`` of TensorFlow Serving.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.cluster.serving.measures import Measures
from penstock.cluster.serving.models import Models
from penstock.cluster.serving.servable import Servable
from penstock.cluster.serving.signature import Signature
from penstock.foundation.base import errors
from penstock.storage.saved_model.signature_constants import (
    CLASSIFY_METHOD_NAME,
    PREDICT_METHOD_NAME,
    REGRESS_METHOD_NAME,
)

# The names that TensorFlow gives to what classifying and regressing signatures take and give.
INPUTS, CLASSES, SCORES, OUTPUTS = "inputs", "classes", "scores", "outputs"


@dataclass(frozen=True)
class Asked:
    """Which signature of what a call is for.

    Args:
      model: its name.
      version, label: at most one of them; neither: the highest version.
      signature: its name; empty: the default.
    """

    model: str
    version: int | None = None
    label: str | None = None
    signature: str = ""


# A label and a score for each class of each example.
Classes = list[list[tuple[str, float]]]


class Calls:
    """The calls that a server answers.

    Args:
      models: what answers them.
      measures: what counts them.
    """

    def __init__(self, models: Models, measures: Measures) -> None:
        self.models, self._measures = models, measures

    @contextmanager
    def _counted(self, asked: Asked, call: str) -> Iterator[Servable]:
        began = time.perf_counter()
        code = "OK"
        try:
            with self.models.get(asked.model).leased(asked.version, asked.label) as servable:
                yield servable
        except errors.OpError as error:
            code = type(error).__name__
            raise
        except Exception:
            code = "INTERNAL"
            raise
        finally:
            self._measures.called(call, asked.model, code, time.perf_counter() - began)

    def predict(
        self,
        asked: Asked,
        arrays: Callable[[Signature], Mapping[str, np.ndarray]],
        wanted: Sequence[str] = (),
    ) -> tuple[Servable, dict[str, np.ndarray]]:
        """Runs a signature.

        Args:
          asked: which.
          arrays: makes the inputs' values, once the signature is known.
          wanted: names of outputs; none: all.

        Returns:
          What answered, and the outputs by name.

        Raises:
          tf.errors.OpError: the request is wrong, or the step failed.
        """
        with self._counted(asked, "predict") as servable:
            signature = servable.signature(asked.signature)
            if signature.method not in ("", PREDICT_METHOD_NAME, *_BY_EXAMPLES):
                raise errors.invalid(
                    f"Expected prediction signature method_name to be one of"
                    f" {{{PREDICT_METHOD_NAME}, {CLASSIFY_METHOD_NAME}, {REGRESS_METHOD_NAME}}}."
                    f" Was: {signature.method}"
                )
            return servable, signature(arrays(signature), wanted)

    def classify(self, asked: Asked, examples: Sequence[bytes]) -> tuple[Servable, Classes]:
        """The classes of examples, each with its score; a label or score that is not there is ""
        or 0.

        Args:
          asked: which signature; its method is classification.
          examples: serialized ``Example`` messages.

        Raises:
          tf.errors.OpError: the request is wrong, or the step failed.
        """
        with self._counted(asked, "classify") as servable:
            signature = _of_method(servable, asked, CLASSIFY_METHOD_NAME, "classification")
            wanted = [name for name in (CLASSES, SCORES) if name in signature.outputs]
            if not wanted:
                raise _wrong(signature, f"neither {CLASSES!r} nor {SCORES!r} among its outputs")
            found = signature(_examples(signature, examples), wanted)
            for name, value in found.items():
                if value.ndim != 2 or len(value) != len(examples):
                    raise _wrong(
                        signature,
                        f"{name!r} of shape {list(value.shape)} of {len(examples)} examples; it"
                        " must be [examples, classes]",
                    )
            return servable, _paired(found.get(CLASSES), found.get(SCORES))

    def regress(self, asked: Asked, examples: Sequence[bytes]) -> tuple[Servable, list[float]]:
        """The value of each example.

        Args:
          asked: which signature; its method is regression.
          examples: serialized ``Example`` messages.

        Raises:
          tf.errors.OpError: the request is wrong, or the step failed.
        """
        with self._counted(asked, "regress") as servable:
            signature = _of_method(servable, asked, REGRESS_METHOD_NAME, "regression")
            if OUTPUTS not in signature.outputs:
                raise _wrong(signature, f"no output {OUTPUTS!r}")
            value = signature(_examples(signature, examples), [OUTPUTS])[OUTPUTS]
            count = len(examples)
            if value.shape not in ((count,), (count, 1)) or value.dtype != np.float32:
                raise _wrong(
                    signature,
                    f"{OUTPUTS!r} is {value.dtype} of shape {list(value.shape)} of {count}"
                    " examples; it must be float32 [examples] or [examples, 1]",
                )
            return servable, value.reshape(-1).tolist()


_BY_EXAMPLES = (CLASSIFY_METHOD_NAME, REGRESS_METHOD_NAME)


def _of_method(servable: Servable, asked: Asked, method: str, what: str) -> Signature:
    signature = servable.signature(asked.signature)
    if signature.method != method:
        raise errors.invalid(
            f"Expected {what} signature method_name to be {method}. Was: {signature.method}"
        )
    return signature


def _examples(signature: Signature, examples: Sequence[bytes]) -> dict[str, np.ndarray]:
    """What a signature of examples takes: one vector of them."""
    if not examples:
        raise errors.invalid("Input is empty: the request has no examples")
    if set(signature.inputs) != {INPUTS}:
        raise _wrong(signature, f"inputs {sorted(signature.inputs)}; it must be {INPUTS!r} alone")
    value = np.empty(len(examples), object)
    value[:] = examples
    return {INPUTS: value}


def _wrong(signature: Signature, found: str) -> Exception:
    return errors.FailedPreconditionError(
        None, None, f"signature {signature.name!r} cannot answer this call: {found}"
    )


def _paired(classes: Any, scores: Any) -> Classes:
    rows, count = (classes if classes is not None else scores).shape
    labels = [[""] * count] * rows if classes is None else classes.tolist()
    values = [[0.0] * count] * rows if scores is None else scores.tolist()
    return [
        [(_text(label), float(score)) for label, score in zip(some, of_some, strict=True)]
        for some, of_some in zip(labels, values, strict=True)
    ]


def _text(label: Any) -> str:
    return label.decode("utf-8", "replace") if isinstance(label, bytes) else str(label)
