"""``multi_gpu_model``: one model whose batches are computed in parts, a GPU each."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.keras.layers.merging import concatenate
from penstock.library.keras.layers.reshaping import Lambda
from penstock.library.layer_base import sessions
from penstock.ops.array import join, nodes, slicing
from penstock.training.keras_models.cloning import clone_model
from penstock.training.keras_models.model import Model


def multi_gpu_model(
    model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False
) -> Any:
    """A model that gives each GPU a part of a batch, and puts together what they make of it.

    The weights are those of the given model.

    Args:
      model: a model made of tensors.
      gpus: how many GPUs, or their numbers; at least two.
      cpu_merge: whether the parts are put together on the CPU, not on the first of the GPUs.
      cpu_relocation: whether the model is made anew on the CPU, with new weights.

    Returns:
      A model with the same inputs.

    Raises:
      ValueError: fewer than two GPUs are asked for, or the machine has fewer.
    """
    listed = isinstance(gpus, list | tuple)
    if (len(gpus) if listed else gpus) <= 1:
        raise ValueError(
            "For multi-gpu usage to be effective, call `multi_gpu_model` with"
            f" `{'len(gpus)' if listed else 'gpus'} >= 2`. Received: `gpus={gpus}`"
        )
    numbers = list(gpus) if listed else list(range(gpus))
    _check_devices(gpus, numbers)
    if cpu_relocation:
        with scopes.device("/cpu:0"):
            model = clone_model(model)
    parts = [_part(model, at, len(numbers), number) for at, number in enumerate(numbers)]
    with scopes.device("/cpu:0" if cpu_merge else f"/gpu:{numbers[0]}"):
        merged = [
            concatenate([part[at] for part in parts], axis=0, name=name)
            for at, name in enumerate(_unique(model.output_names))
        ]
        return Model(model.inputs, merged)


def _check_devices(gpus: Any, numbers: list[int]) -> None:
    wanted = ["/cpu:0", *(f"/gpu:{number}" for number in numbers)]
    found = [
        f"/{device.name.lower().split('device:')[1]}"
        for device in sessions.get_session().list_devices()
    ]
    if any(device not in found for device in wanted):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be"
            f" available: {wanted}. However this machine only has: {found}. Try reducing `gpus`."
        )


def _part(model: Any, at: int, parts: int, number: int) -> list[Any]:
    """The outputs for a part of the batch, on a GPU."""
    with scopes.device(f"/gpu:{number}"), scopes.name_scope(f"replica_{number}"):
        given = []
        for x in model.inputs:
            shape = tuple(x.shape.as_list()[1:])
            sliced = Lambda(_sliced, output_shape=shape, arguments={"i": at, "parts": parts})
            given.append(sliced(x))
        made = model(given if len(given) > 1 else given[0])
        return list(made) if isinstance(made, list | tuple) else [made]


def _sliced(data: Any, i: int, parts: int) -> Any:
    """Rows of a batch: as many in each part, the rest in the last one."""
    shape = nodes.shape(data)
    batch, rest = shape[:1], shape[1:]
    step = batch // parts
    size = batch - step * i if i == parts - 1 else step
    start = join.concat([step * i, rest * 0], 0)
    return slicing.slice_(data, start, join.concat([size, rest], 0))


def _unique(names: list[str]) -> list[str]:
    """Names of outputs, numbered where several are the same."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(f"{name}_{seen[name]}" if names.count(name) > 1 else name)
    return found
