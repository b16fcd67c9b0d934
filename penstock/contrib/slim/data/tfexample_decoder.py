"""A decoder of ``tf.train.Example`` messages: features are parsed once, then made into items.

An ``ItemHandler`` names the features that its item is made of and makes it.

Source: ``slim.tfexample_decoder`` of TensorFlow 1.15 (classes, arguments, names of nodes).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.contrib.slim.data.data_decoder import DataDecoder
from penstock.foundation.base import dtypes
from penstock.foundation.graph import composite
from penstock.library.control_flow.case import case
from penstock.library.control_flow.cond import cond
from penstock.library.control_flow.functional import map_fn
from penstock.ops.array.cast import cast
from penstock.ops.array.join import concat, stack
from penstock.ops.array.reshape import expand_dims, reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.array.slicing import slice_
from penstock.ops.array.transpose import transpose
from penstock.ops.data.parsing import decode_raw
from penstock.ops.image.image_codec import decode_image, decode_jpeg, is_jpeg
from penstock.ops.math.comparison import equal, logical_or
from penstock.ops.math.reductions import reduce_prod
from penstock.ops.sparse.sparse import sparse_tensor_to_dense
from penstock.ops.sparse.sparse_functions import sparse_reshape
from penstock.training.data.features import FixedLenFeature, parse_single_example

_Parsed = Mapping[str, Any]


class ItemHandler(ABC):
    """Makes an item of features.

    Args:
      keys: name of the feature, or a list or tuple of names.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = keys if isinstance(keys, list | tuple) else [keys]

    @property
    def keys(self) -> Sequence[str]:
        """The names of the features."""
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """The item.

        Args:
          keys_to_tensors: name of each feature of ``keys`` to its tensor or SparseTensor.
        """


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes.

    Args:
      keys: as for ``ItemHandler``.
      func: from the dict of parsed features to the item.
    """

    def __init__(self, keys: Any, func: Callable[[_Parsed], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """What the function makes."""
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes, one a row: [number, 4].

    Args:
      keys: the four features of the columns; default ymin, xmin, ymax, xmax.
      prefix: stands before each of them.

    Raises:
      ValueError: there are not four.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        columns = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(columns) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(columns)}: {columns}")
        super().__init__([prefix + column for column in columns])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """The boxes."""
        parsed = [keys_to_tensors[key] for key in self._keys]
        rows = [expand_dims(p.values if _is_sparse(p) else p, 0) for p in parsed]
        return transpose(concat(rows, 0))


class Tensor(ItemHandler):
    """A dense tensor of one feature.

    Args:
      tensor_key: the feature.
      shape_keys: a feature with its shape, or a list of features with its dims.
      shape: its shape, where it is known.
      default_value: for places of a sparse feature without a value.

    Raises:
      ValueError: both ``shape_keys`` and ``shape`` are given.
    """

    def __init__(
        self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError(
                "Cannot specify both shape_keys and shape parameters."
                f" Found {shape_keys} and {shape}"
            )
        dims = shape_keys or []
        self._shape_keys: list[str] = dims if isinstance(dims, list) else [dims]
        self._tensor_key, self._shape, self._default_value = tensor_key, shape, default_value
        super().__init__([tensor_key, *self._shape_keys])

    def _shape_of_item(self, keys_to_tensors: _Parsed) -> Any:
        if not self._shape_keys:
            return self._shape
        dims = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
        return reshape(stack(dims), [-1])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """The tensor."""
        tensor = keys_to_tensors[self._tensor_key]
        shape = self._shape_of_item(keys_to_tensors)
        if not _is_sparse(tensor):
            return tensor if shape is None else reshape(tensor, shape)
        if shape is not None:
            tensor = sparse_reshape(tensor, shape)
        return sparse_tensor_to_dense(tensor, self._default_value)


class LookupTensor(Tensor):
    """What a table has for the elements of a dense tensor.

    Args:
      tensor_key, shape_keys, shape, default_value: as for ``Tensor``.
      table: a ``tf.lookup`` table.

    Raises:
      ValueError: both ``shape_keys`` and ``shape`` are given.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """What the table has."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of one handler or, where that has no elements, of another.

    Args:
      handler: the first.
      backup: the other.

    Raises:
      ValueError: one of them is no ItemHandler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for role, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{role} handler is of type {type(given)} instead of ItemHandler")
        self._handler, self._backup = handler, backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """The item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return cond(
            equal(reduce_prod(shape_of(item)), 0),
            lambda: self._backup.tensors_to_item(keys_to_tensors),
            lambda: item,
        )


class SparseTensor(ItemHandler):
    """A SparseTensor of features that hold its last index and its values.

    Args:
      indices_key: a sparse feature: the last index of each value; default "indices".
      values_key: a sparse feature: the values; default "values".
      shape_key: a feature with its shape.
      shape: its shape, without ``shape_key``; default that of the parsed indices.
      densify: whether to make it dense.
      default_value: for places without a value then.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key, self._values_key = indices_key or "indices", values_key or "values"
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """The SparseTensor, or a dense tensor."""
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        size: Any = shape_of(indices.indices)
        rank = size[1]
        last = cast(indices.values, dtypes.int64)
        before = slice_(indices.indices, [0, 0], stack([-1, rank - 1]))
        places = concat([before, reshape(last, [-1, 1])], 1)
        item = composite.SparseTensor(places, values.values, shape)
        return sparse_tensor_to_dense(item, self._default_value) if self._densify else item


class Image(ItemHandler):
    """The pixels of an image file, or of raw bytes where the format's feature is "raw" or "RAW".

    Args:
      image_key: the feature with the file; default "image/encoded".
      format_key: the feature with its format; default "image/format".  Of files, the first bytes
        say what they are.
      shape: of the image, where all have one.
      channels: of the image.
      dtype: of the pixels; those of files are cast from uint8.
      repeated: whether the feature is a vector of files, all of one size.
      dct_method: "INTEGER_FAST" or "INTEGER_ACCURATE", for JPEG files.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: _Parsed) -> Any:
        """The image [height, width, channels]; images, if ``repeated``."""
        contents, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if not self._repeated:
            return self._decode(contents, kind)
        return map_fn(lambda one: self._decode(one, kind), contents, dtype=self._dtype)

    def _decode(self, contents: Any, kind: Any) -> Any:
        is_raw = logical_or(equal(kind, "raw"), equal(kind, "RAW"))
        pairs = [(is_raw, lambda: decode_raw(contents, self._dtype))]
        image = case(pairs, default=lambda: self._decode_file(contents), exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else reshape(image, self._shape)

    def _decode_file(self, contents: Any) -> Any:
        """JPEG files apart from others, as only they take ``dct_method``."""

        def of_jpeg() -> Any:
            return cast(
                decode_jpeg(contents, self._channels, dct_method=self._dct_method), self._dtype
            )

        def of_other() -> Any:
            return cast(decode_image(contents, self._channels), self._dtype)

        return cond(is_jpeg(contents), of_jpeg, of_other, name="cond_jpeg")


class TFExampleDecoder(DataDecoder):
    """Decodes serialized ``tf.train.Example`` messages.

    Args:
      keys_to_features: name of a feature to its ``tf.FixedLenFeature`` or ``tf.VarLenFeature``.
      items_to_handlers: name of an item to its ``ItemHandler``.

    Example:
      >>> import penstock as tf
      >>> decoders = tf.contrib.slim.tfexample_decoder
      >>> decoder = decoders.TFExampleDecoder(
      ...     {"size": tf.FixedLenFeature([2], tf.int64)}, {"both": decoders.Tensor("size")}
      ... )
      >>> values = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
      >>> example = tf.train.Example(features=tf.train.Features(feature={"size": values}))
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(decoder.decode(example.SerializeToString()))[0].tolist()
      [3, 4]
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The tensors of items of a message, in their order.

        Args:
          serialized_example: string scalar: the serialized message.
          items: names out of ``list_items``; default all.
        """
        parsed = parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, FixedLenFeature):
                parsed[key] = reshape(parsed[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self.list_items()]
        return [h.tensors_to_item({key: parsed[key] for key in h.keys}) for h in handlers]


def _is_sparse(value: Any) -> bool:
    return isinstance(value, composite.SparseTensor)


def _dense(value: Any) -> Any:
    return sparse_tensor_to_dense(value) if _is_sparse(value) else value
