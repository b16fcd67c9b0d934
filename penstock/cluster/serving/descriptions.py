"""What a model is and how it is, as messages and as JSON: metadata and status."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import json_format

from penstock.cluster.serving.models import Model, Status
from penstock.cluster.serving.servable import Servable
from penstock.foundation.base import errors
from penstock.foundation.formats import serving_messages as messages

SIGNATURE_DEF = "signature_def"
_NAMES = {code.value[0]: code.name for code in grpc.StatusCode}
_TYPE = "type.googleapis.com/tensorflow.serving.SignatureDefMap"


def model_spec(servable: Servable, signature: str = "") -> Any:
    """Which version of what answered."""
    spec = messages.ModelSpec(name=servable.name, signature_name=signature)
    spec.version.value = servable.version
    return spec


def _signatures(servable: Servable) -> Any:
    found = messages.SignatureDefMap()
    for key in servable.signatures:
        found.signature_def[key].CopyFrom(servable.meta_graph.signature_def[key])
    return found


def metadata(servable: Servable, fields: list[str]) -> Any:
    """The ``GetModelMetadataResponse`` of a version.

    Raises:
      tf.errors.InvalidArgumentError: no field is asked for, or one that there is not.
    """
    if not fields or any(field != SIGNATURE_DEF for field in fields):
        raise errors.invalid(
            f"Metadata field {fields[0] if fields else ''} is not supported; allowed is"
            f" {SIGNATURE_DEF!r}"
        )
    response = messages.GetModelMetadataResponse(model_spec=model_spec(servable))
    value = _signatures(servable).SerializeToString()
    response.metadata[SIGNATURE_DEF].type_url = _TYPE
    response.metadata[SIGNATURE_DEF].value = value
    return response


def metadata_json(servable: Servable) -> dict[str, Any]:
    """The same as REST answers it."""
    signatures = json_format.MessageToDict(_signatures(servable), preserving_proto_field_name=True)
    spec = {"name": servable.name, "signature_name": "", "version": str(servable.version)}
    return {"model_spec": spec, "metadata": {SIGNATURE_DEF: {"@type": _TYPE, **signatures}}}


def _chosen(model: Model, version: int | None) -> list[tuple[int, Status]]:
    """Statuses, the highest version first."""
    found = [item for item in model.statuses().items() if version in (None, item[0])]
    if not found:
        which = "" if version is None else f" of version {version}"
        raise errors.NotFoundError(
            None, None, f"Could not find any versions{which} of model {model.name}"
        )
    return found[::-1]


def _code(status: Status) -> int:
    if status.error is None:
        return 0
    code = getattr(status.error, "error_code", None)
    return code if isinstance(code, int) else int(errors.UNKNOWN)


def status(model: Model, version: int | None = None) -> Any:
    """The ``GetModelStatusResponse`` of a model or of one version.

    Raises:
      tf.errors.NotFoundError: no such version was seen.
    """
    response = messages.GetModelStatusResponse()
    for number, one in _chosen(model, version):
        row = response.model_version_status.add(version=number, state=int(one.state))
        row.status.error_code = _code(one)
        row.status.error_message = "" if one.error is None else str(one.error)
    return response


def status_json(model: Model, version: int | None = None) -> dict[str, Any]:
    """The same as REST answers it."""
    return {
        "model_version_status": [
            {
                "version": str(number),
                "state": one.state.name,
                "status": {
                    "error_code": _NAMES[_code(one)],
                    "error_message": "" if one.error is None else str(one.error),
                },
            }
            for number, one in _chosen(model, version)
        ]
    }
