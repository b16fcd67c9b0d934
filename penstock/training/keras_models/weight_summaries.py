"""Histograms and images of a model's weights, gradients and outputs, for ``TensorBoard``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.library.layer_base import settings
from penstock.ops.array import reshape, squeeze, transpose
from penstock.storage.summary import build


def merged(model: Any, images: bool, grads: bool) -> Any:
    """One summary of a compiled model's weights and outputs.

    Args:
      model: of a graph.
      images: whether there are pictures of the weights, too.
      grads: whether there are histograms of the gradients, too.
    """
    return build.merge(
        [one for layer in model.layers for one in _of_layer(model, layer, images, grads)]
    )


def _of_layer(model: Any, layer: Any, images: bool, grads: bool) -> Iterator[Any]:
    for weight in layer.weights:
        name = weight.name.replace(":", "_")
        yield build.histogram(name, weight)
        picture = _picture(weight) if images else None
        if picture is not None:
            yield build.image(name, picture)
    for weight in layer.trainable_weights if grads else ():
        (grad,) = model.optimizer.get_gradients(model.total_loss, [weight])
        values = getattr(grad, "values", grad)
        yield build.histogram(weight.name.replace(":", "_") + "_grad", values)
    output = getattr(layer, "output", None)
    if isinstance(output, list):
        for number, one in enumerate(output):
            yield build.histogram(f"{layer.name}_out_{number}", one)
    elif output is not None:
        yield build.histogram(f"{layer.name}_out", output)


def _picture(weight: Any) -> Any:
    """A weight as [pictures, height, width, 1]; None where it has too many dims."""
    image = squeeze.squeeze(weight)
    dims: Any = image.shape.as_list()
    if len(dims) == 1:
        return reshape.reshape(image, [1, dims[0], 1, 1])
    if len(dims) == 2:
        wide = transpose.transpose(image) if dims[0] > dims[1] else image
        return reshape.reshape(wide, [1, *sorted(dims), 1])
    if len(dims) != 3:
        return None
    if settings.image_data_format() == "channels_last":
        image = transpose.transpose(image, [2, 0, 1])
        dims = [dims[2], *dims[:2]]
    return reshape.reshape(image, [*dims, 1])
