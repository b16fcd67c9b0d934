"""TensorFlow Serving's gRPC services: ``PredictionService`` and ``ModelService``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import grpc
import numpy as np
from google.protobuf.message import DecodeError

from penstock.cluster.distributed.security import TOKEN_KEY, Security
from penstock.cluster.serving import descriptions
from penstock.cluster.serving.calls import Asked, Calls, Classes
from penstock.cluster.serving.signature import Signature
from penstock.foundation.base import errors
from penstock.foundation.formats import serving_messages as messages, tensor_proto
from penstock.storage.saved_model.signature_constants import (
    CLASSIFY_METHOD_NAME,
    REGRESS_METHOD_NAME,
)

log = logging.getLogger("penstock.serving")
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class GrpcCalls(grpc.GenericRpcHandler):
    """Finds what answers a call by its name.

    Args:
      calls: what answers.
      security: whose token callers must show.
    """

    def __init__(self, calls: Calls, security: Security) -> None:
        self._calls, self._security = calls, security
        prediction, model = (
            "/tensorflow.serving.PredictionService/",
            "/tensorflow.serving.ModelService/",
        )
        self._handlers = {
            prediction + "Predict": self._handler(messages.PredictRequest, self._predict),
            prediction + "Classify": self._handler(messages.ClassificationRequest, self._classify),
            prediction + "Regress": self._handler(messages.RegressionRequest, self._regress),
            prediction + "MultiInference": self._handler(
                messages.MultiInferenceRequest, self._several
            ),
            prediction + "GetModelMetadata": self._handler(
                messages.GetModelMetadataRequest, self._metadata
            ),
            model + "GetModelStatus": self._handler(messages.GetModelStatusRequest, self._status),
        }  # fmt: skip

    def service(
        self, call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of a call; None where there is none of its name."""
        return self._handlers.get(call_details.method)

    def _handler(
        self, request: Any, answer: Callable[[Any], Any]
    ) -> grpc.RpcMethodHandler[Any, Any]:
        def handled(content: bytes, context: grpc.ServicerContext) -> Any:
            try:
                shown = dict(context.invocation_metadata()).get(TOKEN_KEY)
                self._security.check_token(shown)
                return answer(_parsed(request, content))
            except errors.OpError as error:
                code = _CODES.get(error.error_code, grpc.StatusCode.UNKNOWN)
                context.abort(code, str(error))
            except Exception as error:
                log.exception("a call failed")
                context.abort(grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {error}")

        return grpc.unary_unary_rpc_method_handler(
            handled,
            response_serializer=lambda response: response.SerializeToString(),
        )

    # ---- the calls -------------------------------------------------------------------------------

    def _predict(self, request: Any) -> Any:
        asked = _asked(request.model_spec)

        def arrays(signature: Signature) -> dict[str, np.ndarray]:
            return {name: _array(name, proto) for name, proto in request.inputs.items()}

        servable, outputs = self._calls.predict(asked, arrays, list(request.output_filter))
        signature = servable.signature(asked.signature)
        response = messages.PredictResponse(
            model_spec=descriptions.model_spec(servable, signature.name)
        )
        for name, value in outputs.items():
            dtype = signature.outputs[name].dtype
            response.outputs[name].CopyFrom(tensor_proto.to_proto(value, dtype))
        return response

    def _classify(self, request: Any) -> Any:
        asked = _asked(request.model_spec)
        servable, classes = self._calls.classify(asked, _examples(request.input))
        spec = descriptions.model_spec(servable, asked.signature)
        return messages.ClassificationResponse(result=_classified(classes), model_spec=spec)

    def _regress(self, request: Any) -> Any:
        asked = _asked(request.model_spec)
        servable, values = self._calls.regress(asked, _examples(request.input))
        spec = descriptions.model_spec(servable, asked.signature)
        return messages.RegressionResponse(result=_regressed(values), model_spec=spec)

    def _several(self, request: Any) -> Any:
        examples = _examples(request.input)
        if len({task.model_spec.name for task in request.tasks}) != 1:
            raise errors.invalid("All ModelSpecs in a MultiInferenceRequest must access one model")
        response = messages.MultiInferenceResponse()
        for task in request.tasks:
            asked = _asked(task.model_spec)
            row = response.results.add()
            if task.method_name == CLASSIFY_METHOD_NAME:
                servable, classes = self._calls.classify(asked, examples)
                row.classification_result.CopyFrom(_classified(classes))
            elif task.method_name == REGRESS_METHOD_NAME:
                servable, values = self._calls.regress(asked, examples)
                row.regression_result.CopyFrom(_regressed(values))
            else:
                raise errors.UnimplementedError(
                    None, None, f"Unsupported signature method_name: {task.method_name}"
                )
            row.model_spec.CopyFrom(descriptions.model_spec(servable, asked.signature))
        return response

    def _metadata(self, request: Any) -> Any:
        asked = _asked(request.model_spec)
        model = self._calls.models.get(asked.model)
        with model.leased(asked.version, asked.label) as servable:
            return descriptions.metadata(servable, list(request.metadata_field))

    def _status(self, request: Any) -> Any:
        asked = _asked(request.model_spec)
        return descriptions.status(self._calls.models.get(asked.model), asked.version)


def _parsed(kind: Any, content: bytes) -> Any:
    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise errors.invalid(f"the request is no {kind.DESCRIPTOR.name}: {error}") from None


def _asked(spec: Any) -> Asked:
    choice = spec.WhichOneof("version_choice")
    return Asked(
        spec.name,
        spec.version.value if choice == "version" else None,
        spec.version_label if choice == "version_label" else None,
        spec.signature_name,
    )


def _array(name: str, proto: Any) -> np.ndarray:
    try:
        return np.asarray(tensor_proto.to_array(proto))
    except (TypeError, ValueError) as error:
        raise errors.invalid(f"tensor parsing error: {name}: {error}") from None


def _examples(given: Any) -> Sequence[bytes]:
    kind = given.WhichOneof("kind")
    if kind == "example_list":
        return list(given.example_list.examples)
    if kind == "example_list_with_context":
        some = given.example_list_with_context
        # Messages that stand one after the other are merged where they are read.
        return [some.context + example for example in some.examples]
    return []


def _classified(classes: Classes) -> Any:
    result = messages.ClassificationResult()
    for some in classes:
        row = result.classifications.add()
        for label, score in some:
            row.classes.add(label=label, score=score)
    return result


def _regressed(values: Sequence[float]) -> Any:
    result = messages.RegressionResult()
    for value in values:
        result.regressions.add(value=value)
    return result
