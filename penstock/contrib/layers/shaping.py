"""Layers without weights: dropout, flattening, one-hot, softmax, maxout, sequences of images."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.argument_scopes import add_arg_scope
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers import plumbing
from penstock.contrib.layers.model_variables import model_variable_getter
from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layers import basic
from penstock.library.variables import initializers
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.cast import cast
from penstock.ops.array.constant import constant
from penstock.ops.array.gather import gather_nd
from penstock.ops.array.join import concat
from penstock.ops.array.onehot import meshgrid, one_hot
from penstock.ops.array.ranges import linspace
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.transpose import transpose
from penstock.ops.math.comparison import not_equal
from penstock.ops.math.reduction import reduce_sum
from penstock.ops.math.reductions import reduce_max
from penstock.ops.math.select import where
from penstock.ops.nn.softmax import softmax as softmax_of


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Sets random elements to zero, and scales the others, while training.

    Args:
      inputs: floating tensor.
      keep_prob: which part of the elements is kept; a float or a scalar tensor.
      noise_shape: shape of the draw; dims of size 1 drop or keep whole slices.
      is_training: whether to drop anything; a bool or a bool tensor.
      outputs_collections: collections of the output.
      scope: variable scope; default "Dropout".
      seed: seed of the draw.

    Returns:
      A tensor like ``inputs``.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     kept = tf.contrib.layers.dropout(tf.ones([2]), is_training=False)
      ...     kept.name, sess.run(kept).tolist()
      ('Dropout/Identity:0', [1.0, 1.0])
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=model_variable_getter) as sc:
        inputs = convert_to_tensor(inputs)
        layer = basic.Dropout(
            rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc
        )
        outputs = layer.apply(inputs, training=is_training)
        return plumbing.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """All dims but the first in one.

    Args:
      inputs: a tensor of rank 1 or more.
      outputs_collections: collections of the output.
      scope: name scope; default "Flatten".

    Returns:
      A tensor of rank 2.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.contrib.layers.flatten(tf.zeros([5, 2, 3])).shape.as_list()
      [5, 6]
    """
    with scopes.name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        outputs = basic.flatten(inputs)
        return plumbing.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: Any,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Labels as rows of ``off_value`` with one ``on_value`` each.

    Args:
      labels: [batch] integers.
      num_classes: size of a row.
      on_value, off_value: the two values.
      outputs_collections: collections of the output.
      scope: name scope; default "OneHotEncoding".

    Returns:
      [batch, num_classes].
    """
    with scopes.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = cast(labels, dtypes.int64, name="ToInt64")
        outputs = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return plumbing.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last dim, of a tensor of any rank.

    Args:
      logits: floating, of rank 2 or more; the last dim is known.
      scope: variable scope; default "softmax".

    Returns:
      A tensor like ``logits``.
    """
    with variable_scope(scope, "softmax", [logits]):
        count = plumbing.last_dimension(logits.get_shape(), min_rank=2)
        rows = reshape(logits, [-1, count])
        predictions = reshape(softmax_of(rows), shape_of(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The maximum of each group of features.

    Args:
      inputs: floating tensor.
      num_units: number of groups; it divides the features.
      axis: the dim of the features.
      scope: name scope; default "MaxOut".

    Returns:
      ``inputs`` with ``num_units`` in place of its features.

    Raises:
      ValueError: the features are not known or not a multiple of ``num_units``.

    Source: Goodfellow et al. 2013.
    """
    with scopes.name_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes: list[Any] = inputs.get_shape().as_list()
        features = sizes[axis]
        if features is None:
            raise ValueError(f"number of features must be known; the shape is {sizes}")
        if features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        sizes[axis] = num_units
        sizes.append(features // num_units)
        dynamic = None
        for index, size in enumerate(sizes):
            if size is None:
                dynamic = shape_of(inputs) if dynamic is None else dynamic
                sizes[index] = dynamic[index]
        return reduce_max(reshape(inputs, sizes), -1, keepdims=False)


# ---- sequences -----------------------------------------------------------------------------------


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None
) -> Any:
    """The elements other than ``eos_token`` as a SparseTensor.

    Args:
      tensor: a tensor.
      eos_token: the value that is left out.
      outputs_collections: collections of the output.
      scope: variable scope; default "dense_to_sparse".
    """
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = where(not_equal(tensor, constant(eos_token, tensor.dtype)))
        values = gather_nd(tensor, indices)
        outputs = SparseTensor(indices, values, shape_of(tensor, out_type=dtypes.int64))
        return plumbing.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None
) -> Any:
    """Images as sequences of their columns: [width, batch * height, channels].

    Args:
      inputs: [batch, height, width, channels], or [batch, channels, height, width].
      data_format: "NHWC" or "NCHW".
      outputs_collections: collections of the output.
      scope: name scope; default "ImagesToSequence".

    Raises:
      ValueError: another format.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC.; found {data_format!r}")
    with scopes.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        sizes = shape_of(inputs)
        batch, height = sizes[0], sizes[1]
        columns = transpose(inputs, [2, 0, 1, 3])
        outputs = reshape(columns, [width, batch * height, depth])
        return plumbing.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Sequences of columns as images; the inverse of ``images_to_sequence``.

    Args:
      inputs: [width, batch * height, channels].
      height: height of the images.
      output_data_format: "channels_last" or "channels_first".
      outputs_collections: collections of the output.
      scope: name scope; default "SequenceToImages".
    """
    with scopes.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, count, depth = inputs.get_shape().as_list()
        batch = -1 if count is None else count // height
        images = reshape(inputs, [width, batch, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        outputs = transpose(images, order)
        return plumbing.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """Where each channel of an image is, on the average: x and y between -1 and 1.

    Args:
      features: [batch, height, width, channels], or [batch, channels, height, width].
      temperature: first value of the variable that divides what the softmax is of; default 1.
      name: scope; default "spatial_softmax".
      variables_collections: collections of the variable.
      trainable: whether it is trained.
      data_format: "NHWC" or "NCHW".

    Returns:
      [batch, 2 * channels].

    Raises:
      ValueError: another format.

    Source: Finn et al. 2016.
    """
    with variable_scope(name, "spatial_softmax"):
        sizes = shape_of(features)
        known = features.get_shape().dims
        if data_format == "NHWC":
            height, width, channels = sizes[1], sizes[2], known[3]
        elif data_format == "NCHW":
            channels, height, width = known[1], sizes[2], sizes[3]
        else:
            raise ValueError(f"data_format has to be either NCHW or NHWC.; found {data_format!r}")
        count = dimension_value(channels)
        if count is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined."
                f" Found `{count}`."
            )
        with scopes.name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            grid = meshgrid(
                linspace(-1.0, 1.0, num=height), linspace(-1.0, 1.0, num=width), indexing="ij"
            )
            x, y = (reshape(positions, [height * width]) for positions in grid)
            start: Any = initializers.ones_initializer()
            if temperature is not None:
                start = initializers.constant_initializer(temperature)
            scale = model_variable(
                "temperature", shape=(), dtype=dtypes.float32, initializer=start,
                collections=plumbing.get_variable_collections(variables_collections, "temperature"),
                trainable=trainable,
            )  # fmt: skip
            if data_format == "NHWC":
                features = transpose(features, [0, 3, 1, 2])
            attention = softmax_of(reshape(features, [-1, height * width]) / scale)
            places = [reduce_sum(one * attention, [1], keepdims=True) for one in (x, y)]
            outputs = reshape(concat(places, 1), [-1, count * 2])
            outputs.set_shape([None, count * 2])
            return outputs
