"""Tables between words and ids: with buckets for words that are not known, from lists and files.

Words outside a vocabulary are spread over ``num_oov_buckets`` ids behind it by a hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, constant, ranges, ranks
from penstock.ops.control import control
from penstock.ops.strings import string_hash, string_text
from penstock.training.data.lookup import (
    HashTable,
    LookupInterface,
    StaticHashTable,
    check_key_dtype,
    keys_of,
    like,
)
from penstock.training.data.lookup_initializers import (
    KeyValueTensorInitializer,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)


class HasherSpec(NamedTuple):
    """Which hash spreads unknown words: its name, and its key where it has one."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash whose collisions nobody finds who does not know the key.

    Args:
      key: two unsigned integers of 64 bits.
    """

    __slots__ = ()

    def __new__(cls, key: Sequence[int]) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(k, int) and not isinstance(k, bool) for k in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class _Buckets(LookupInterface):
    """Ids of a table's keys, and of all others by hash, in buckets behind them."""

    def __init__(
        self, table: Any, buckets: int, spec: HasherSpec, key_dtype: dtypes.DType,
        name: str | None,
    ) -> None:  # fmt: skip
        super().__init__(key_dtype, dtypes.int64)
        self._table, self._num_oov_buckets, self._spec = table, buckets, spec
        self._table_name = name or (table.name if table is not None else "hash_bucket")

    @property
    def name(self) -> str:
        """Name of the table."""
        return self._table_name

    @property
    def resource_handle(self) -> Any:
        """The handle of the table's state; None without a table."""
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self) -> Operation:
        """The op that fills the table."""
        if self._table is not None:
            made: Operation = self._table.initializer
            return made
        with scopes.name_scope("init"):
            made = control.no_op()
            return made

    def size(self, name: str | None = None) -> Tensor:
        """How many ids there are, an int64 scalar: keys of the table and buckets."""
        with scopes.name_scope(name, f"{self.name}_Size"):
            known: Any
            if self._table is not None:
                known = self._table.size()
            else:
                known = constant.constant(0, dtypes.int64)
            total: Tensor = known + self._num_oov_buckets
            return total

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of keys.

        Args:
          keys: a tensor or SparseTensor of ``key_dtype``.
          name: name scope of the ops.

        Returns:
          int64, as ``keys``.

        Raises:
          TypeError: keys of another type.
          ValueError: a hash that is not known.
        """
        values = keys_of(keys)
        check_key_dtype(values, self._key_dtype)
        if self._table is not None and self._table.key_dtype == dtypes.int64:
            values = cast.cast(values, dtypes.int64)
        if not self._num_oov_buckets:
            return like(keys, self._table.lookup(values, name=name))
        with scopes.name_scope(name, f"{self.name}_Lookup"):
            return like(keys, self._spread(values))

    def _spread(self, values: Tensor) -> Tensor:
        text = string_text.as_string(values) if values.dtype.is_integer else values
        ids: Tensor = _hashed(self._spec, text, self._num_oov_buckets)
        if self._table is None:
            return ids
        found = self._table.lookup(values)
        ids = make("Add", ids, self._table.size(), name="Add")
        known = make("NotEqual", found, self._table.default_value)
        ids = make("SelectV2", known, found, ids)
        return ids


def _hashed(spec: HasherSpec, text: Tensor, buckets: int) -> Tensor:
    if spec.hasher == "fasthash":
        return string_hash.string_to_hash_bucket_fast(text, buckets, name="hash_bucket")
    if spec.hasher == "legacy":
        return string_hash.string_to_hash_bucket(text, buckets, name="hash_bucket")
    if spec.hasher == "stronghash":
        return string_hash.string_to_hash_bucket_strong(text, buckets, spec.key, name="hash_bucket")
    raise ValueError(
        f"Unknown hasher {spec.hasher!r}; allowed are 'fasthash', 'legacy' and 'stronghash'"
    )


class IdTableWithHashBuckets(_Buckets):
    """Ids of a table's words, and of all others by hash, in buckets behind them.

    Args:
      table: a table from words to int64 ids below its size, or None.
      num_oov_buckets: how many buckets there are; at least 1 where ``table`` is None.
      hasher_spec: which hash.
      name: name of the table; default that of ``table``, or ``hash_bucket``.
      key_dtype: type of the words, string or an integer type; default that of ``table``.

    Raises:
      ValueError: no table and no buckets.
      TypeError: a type of words that is not allowed.
    """

    def __init__(
        self, table: Any, num_oov_buckets: int, hasher_spec: HasherSpec = FastHashSpec,
        name: str | None = None, key_dtype: Any = None,
    ) -> None:  # fmt: skip
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        given = dtypes.string if key_dtype is None else dtypes.as_dtype(key_dtype)
        if table is not None:
            given = table.key_dtype if key_dtype is None else given
            if table.key_dtype not in (dtypes.string, dtypes.int64):
                raise TypeError(
                    f"Invalid key dtype, expected one of {(dtypes.int64, dtypes.string)}, but"
                    f" received key dtype {table.key_dtype!r}."
                )
            if table.key_dtype.is_integer != given.is_integer:
                raise TypeError(
                    f"Invalid key dtype, expected"
                    f" {'integer' if given.is_integer else 'non-integer'} but got"
                    f" {table.key_dtype!r}."
                )
            if table.value_dtype != dtypes.int64:
                raise TypeError(
                    f"Invalid value dtype: expected {dtypes.int64!r} but got {table.value_dtype!r}."
                )
        elif not given.is_integer and given != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {given!r}.")
        super().__init__(table, num_oov_buckets, hasher_spec, given, name)

    @property
    def init(self) -> Operation:
        """The op that fills the table."""
        return self.initializer


class StaticVocabularyTable(_Buckets):
    """Ids of words that an initializer lists, and of all others by hash, in buckets behind them.

    Args:
      initializer: gives the words int64 ids below their number; None for buckets only.
      num_oov_buckets: how many buckets there are, at least 1.
      lookup_key_dtype: type of the words; default that of ``initializer``.
      name: name of the table; default ``hash_table``, or ``hash_bucket``.

    Raises:
      ValueError: no buckets.
      TypeError: types that do not fit.
    """

    def __init__(
        self, initializer: TableInitializerBase | None, num_oov_buckets: int,
        lookup_key_dtype: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        given = None if lookup_key_dtype is None else dtypes.as_dtype(lookup_key_dtype)
        table = None
        if initializer is not None:
            given = given or initializer.key_dtype
            _check_types(initializer, given)
            table = StaticHashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, FastHashSpec, given or dtypes.string, name)


def _check_types(initializer: TableInitializerBase, lookup: dtypes.DType) -> None:
    allowed = (dtypes.int64, dtypes.string)
    if initializer.key_dtype not in allowed:
        raise TypeError(
            f"Invalid key dtype, expected one of {allowed}, but got {initializer.key_dtype!r}."
        )
    if initializer.key_dtype.is_integer != lookup.is_integer:
        raise TypeError(
            f"Invalid key dtype, expected {'integer' if lookup.is_integer else 'non-integer'} but"
            f" got {initializer.key_dtype!r}."
        )
    if initializer.value_dtype != dtypes.int64:
        raise TypeError(
            f"Invalid value dtype, expected {dtypes.int64!r} but got {initializer.value_dtype!r}."
        )


# ---- from files and lists ------------------------------------------------------------------------


def _check_file(vocabulary_file: Any, vocab_size: int | None) -> None:
    if not isinstance(vocabulary_file, Tensor) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(
            f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file:"
            f" {vocabulary_file}"
        )


def _check_words(num_oov_buckets: int, key_dtype: dtypes.DType) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")


def index_table_from_file(
    vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
    default_value: int = -1, hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: Any = dtypes.string, name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER, delimiter: str = "\t",
) -> Any:  # fmt: skip
    """A table from the words of a file, one a line, to the numbers of their lines.

    Args:
      vocabulary_file: the file, or a string scalar tensor with its name.
      num_oov_buckets: how many ids unknown words are spread over; 0 for none.
      vocab_size: how many lines to read; default all.
      default_value: id of unknown words, where there are no buckets.
      hasher_spec: which hash spreads them.
      key_dtype: type of the words.
      name: name scope; default ``string_to_index``.
      key_column_index, value_column_index: columns of words and ids.
      delimiter: one character between columns.

    Returns:
      A table.

    Raises:
      ValueError: no file, or sizes below their least.
      TypeError: words of a type that is not allowed.
    """
    _check_file(vocabulary_file, None)
    key_type = dtypes.as_dtype(key_dtype)
    if num_oov_buckets < 0:
        _check_words(num_oov_buckets, key_type)
    _check_file(vocabulary_file, vocab_size)
    _check_words(num_oov_buckets, key_type)
    with scopes.name_scope(name, "string_to_index"):
        with scopes.name_scope("hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
                "table_init", dtypes.int64 if key_type.is_integer else key_type,
            )  # fmt: skip
            table = HashTable(initializer, default_value, initializer._shared_name)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_type)
        return table


def index_table_from_tensor(
    vocabulary_list: Any, num_oov_buckets: int = 0, default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec, dtype: Any = dtypes.string, name: str | None = None,
) -> Any:  # fmt: skip
    """A table from words to their places in a list.

    Args:
      vocabulary_list: vector of words, without duplicates.
      num_oov_buckets: how many ids unknown words are spread over; 0 for none.
      default_value: id of unknown words, where there are no buckets.
      hasher_spec: which hash spreads them.
      dtype: type of the words that are looked up.
      name: name scope; default ``string_to_index``.

    Returns:
      A table.

    Raises:
      ValueError, TypeError: no list, or types or sizes that are not allowed.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     table = tf.contrib.lookup.index_table_from_tensor(["cat", "dog"])
      ...     sess.run(tf.tables_initializer())
      ...     sess.run(table.lookup(tf.constant(["dog", "cow"]))).tolist()
      [1, -1]
    """
    if vocabulary_list is None:
        raise ValueError("mapping must be specified.")
    wanted = dtypes.as_dtype(dtype)
    _check_words(num_oov_buckets, wanted)
    with scopes.name_scope(name, "string_to_index"):
        keys: Any = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != wanted.is_integer:
            kind = "integer" if wanted.is_integer else "non-integer"
            raise ValueError(f"Expected {kind}, got {keys.dtype!r}.")
        if not wanted.is_integer and keys.dtype.base_dtype != wanted:
            raise ValueError(f"Expected {wanted!r}, got {keys.dtype!r}.")
        values = cast.cast(ranges.range_(ranks.size(keys)), dtypes.int64)
        with scopes.name_scope("hash_table"):
            keys = cast.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(
                keys, values, keys.dtype.base_dtype, dtypes.int64, "table_init"
            )
            table = _unshared(initializer, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=wanted)
        return table


def _unshared(initializer: TableInitializerBase, default_value: Any) -> StaticHashTable:
    return StaticHashTable(initializer, default_value)


def index_to_string_table_from_file(
    vocabulary_file: Any, vocab_size: int | None = None, default_value: Any = "UNK",
    name: str | None = None, key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE, delimiter: str = "\t",
) -> Any:  # fmt: skip
    """A table from the numbers of a file's lines to the words there.

    Args:
      vocabulary_file, vocab_size, delimiter: as of ``index_table_from_file``.
      default_value: the word of ids that the file lacks.
      name: name scope; default ``index_to_string``.
      key_column_index, value_column_index: columns of ids and words.

    Returns:
      A table.

    Raises:
      ValueError: no file, or a size below 1.
    """
    _check_file(vocabulary_file, vocab_size)
    with scopes.name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
            "table_init",
        )  # fmt: skip
        return HashTable(initializer, default_value, initializer._shared_name)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: Any = "UNK", name: str | None = None
) -> Any:
    """A table from places in a list to the words there.

    Args:
      vocabulary_list: string vector.
      default_value: the word of ids that the list lacks.
      name: name scope; default ``index_to_string``.

    Returns:
      A table.

    Raises:
      ValueError: no list.
    """
    if vocabulary_list is None:
        raise ValueError("mapping must be specified.")
    with scopes.name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, dtype=dtypes.string)
        ids = cast.cast(ranges.range_(ranks.size(words)), dtypes.int64)
        initializer = KeyValueTensorInitializer(
            ids, words, dtypes.int64, dtypes.string, "table_init"
        )
        return _unshared(initializer, default_value)
