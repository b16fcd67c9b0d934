"""Small forms of what Penstock has elsewhere, written into programs that run without it.

They hold what a program that runs to its end needs: no locks, no checks of who uses them when.
"""

from __future__ import annotations

import torch


class KernelError(ValueError):
    """A kernel was given what its op does not take."""

    def __init__(self, node_def, op, message):
        super().__init__(message)


def invalid(message):
    """The error of a kernel that was given what its op does not take."""
    return KernelError(None, None, message)


class NumpyArray:
    """What a tensor of strings is in Penstock: there are none here."""


def scalar_truth(predicate):
    """What decides on a branch or another round."""
    if predicate.dim():
        raise ValueError(f"its predicate must be a scalar; found shape {list(predicate.shape)}")
    return bool(predicate)


class TensorArray:
    """A list of tensors of one dtype, by index."""

    def __init__(
        self,
        name,
        dtype,
        size,
        element_shape=None,
        dynamic_size=False,
        clear_after_read=True,
        identical_element_shapes=False,
        sums=False,
    ):
        self.dtype, self.dims, self.grows = dtype, element_shape, dynamic_size
        self.values = [None] * size

    def write(self, index, value, flow=None):
        """Sets an element; returns ``flow``."""
        if self.grows and index >= len(self.values):
            self.values.extend([None] * (index + 1 - len(self.values)))
        if not 0 <= index < len(self.values):
            raise ValueError(f"index {index} of a TensorArray of {len(self.values)} elements")
        self.values[index] = value
        return flow

    def read(self, index, dtype):
        """The element at ``index``."""
        if not 0 <= index < len(self.values):
            raise ValueError(f"index {index} of a TensorArray of {len(self.values)} elements")
        found = self.values[index]
        return self.zeros() if found is None else found

    def zeros(self):
        """What an element is that nobody has written."""
        known = next((v.shape for v in self.values if v is not None), self.dims)
        if known is None or None in known:
            raise ValueError("an element of a TensorArray is read that was never written")
        return torch.zeros(known, dtype=self.dtype)

    def scatter(self, indices, value, flow=None):
        """Sets elements to the rows of ``value``; returns ``flow``."""
        for index, row in zip(indices, value.unbind(0)):
            self.write(index, row)
        return flow

    def gather(self, indices, dtype, element_shape):
        """Elements, stacked."""
        if not indices:
            dims = self.dims or element_shape or ()
            return torch.zeros((0, *(d or 0 for d in dims)), dtype=dtype)
        return torch.stack([self.read(index, dtype) for index in indices])

    def concat(self, dtype, element_shape=None):
        """All elements along their first dim, and their sizes there."""
        values = [self.read(index, dtype) for index in range(len(self.values))]
        return torch.cat(values), torch.tensor([v.shape[0] for v in values], dtype=torch.int64)

    def split(self, value, lengths, flow=None):
        """Sets elements to pieces of ``value``; returns ``flow``."""
        for index, piece in enumerate(value.split(list(lengths))):
            self.write(index, piece)
        return flow

    def size(self):
        """How many elements there are."""
        return len(self.values)

    def close(self):
        """Lets the elements go."""
        self.values = []


class TensorList:
    """A sequence of tensors that is itself a value: what writes to one makes another."""

    shape = ()
    ndim = 0

    def __init__(self, dtype, dims, items, limit=-1):
        self.dtype, self.dims, self.items, self.limit = dtype, dims, items, limit

    def like(self, items):
        """A list of the same kind with other elements."""
        return TensorList(self.dtype, self.dims, items, self.limit)

    def get(self, index, dims, dtype):
        """The element at ``index``; zeros where none was written."""
        self.check_index(index)
        item = self.items[index]
        return self.zero(dims) if item is None else item

    def set(self, index, item, grow=False):
        """The list with another element at ``index``."""
        items = list(self.items)
        if grow and index >= len(items):
            items.extend([None] * (index + 1 - len(items)))
        if not 0 <= index < len(items):
            raise ValueError(f"index {index} of a list of {len(items)} elements")
        items[index] = item
        return self.like(items)

    def push(self, item):
        """The list with an element more."""
        if 0 <= self.limit <= len(self.items):
            raise ValueError(f"a list of at most {self.limit} elements is full")
        return self.like([*self.items, item])

    def pop(self, dims, dtype):
        """The list without its last element, and that."""
        if not self.items:
            raise ValueError("tried to pop from an empty list")
        item = self.items[-1]
        return self.like(self.items[:-1]), self.zero(dims) if item is None else item

    def resized(self, size):
        """The list with ``size`` elements."""
        kept = self.items[:size]
        return self.like(kept + [None] * (size - len(kept)))

    def stack(self, dims, dtype, indices=None):
        """All elements, or those at ``indices``, stacked."""
        chosen = self.items if indices is None else [self.items[i] for i in indices]
        if not chosen:
            known = self.dims if dims is None or None in dims else dims
            return torch.zeros((0, *known), dtype=self.dtype)
        return torch.stack([self.zero(dims) if item is None else item for item in chosen])

    def check_index(self, index):
        """Refuses an index that is outside."""
        if not 0 <= index < len(self.items):
            raise ValueError(f"index {index} of a list of {len(self.items)} elements")

    def check_item(self, item):
        """Takes any element."""

    def zero(self, dims):
        """What an element is that nobody has written."""
        known = next((tuple(v.shape) for v in self.items if v is not None), None)
        for each in (dims, self.dims):
            if known is None and each is not None and None not in each:
                known = each
        if known is None:
            raise ValueError("an element of a list is read that was never written")
        return torch.zeros(known, dtype=self.dtype)


def added(one, other):
    """The sum of two values, lists or tensors; None counts as zeros."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, TensorList):
        return one.like([added(a, b) for a, b in zip(one.items, other.items)])
    return one + other


def as_dims(shape):
    """Dims of an element from a vector with -1, or the scalar -1."""
    if isinstance(shape, int):
        return None
    return tuple(None if size < 0 else int(size) for size in shape)


def parts(tensor):
    """The rows of a tensor."""
    return list(tensor.unbind(0))


def list_length(input_handle):
    """How many elements a list has."""
    return torch.tensor(len(input_handle.items), dtype=torch.int32)


def broadcast_static(a, b):
    """The shape of what broadcasting makes of two."""
    try:
        return tuple(torch.broadcast_shapes(a, b))
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def out_of_range(indices, limit):
    """The error for indices of which one is not in [0, limit); None if all are."""
    flat = torch.as_tensor(indices)
    bad = ((flat < 0) | (flat >= limit)).nonzero()
    if not len(bad):
        return None
    where = bad[0].tolist()
    place = f"[{','.join(map(str, where))}]" if where else ""
    return IndexError(f"indices{place} = {flat[tuple(where)].item()} is not in [0, {limit})")


def flat_index(indices, dims, what="shape"):
    """Row numbers in a tensor whose leading ``dims`` are flattened, range-checked."""
    flat = torch.zeros(indices.shape[:-1], dtype=torch.int64, device=indices.device)
    for column, size in zip(indices.unbind(-1), dims):
        if column.numel() and (column.min() < 0 or column.max() >= size):
            raise IndexError(f"indices do not index into {what} {list(dims)}")
        flat = flat * size + column
    return flat


def all_differ(indices):
    """Whether no integer of a vector occurs twice."""
    return indices.unique().numel() == indices.numel()


def first_seen(x):
    """The distinct elements of a vector in order of first occurrence: left to the sort below."""
    return None


def mirrored(input, paddings, mode):
    """A tensor padded with its own elements, mirrored."""
    offset = int(mode == "REFLECT")
    for axis, (before, after) in enumerate(paddings):
        size = input.shape[axis]
        if max(before, after) > size - offset:
            raise ValueError(f"paddings {before}, {after} of dim {axis} are too large for {size}")
        if before or after:
            index = [
                *range(before + offset - 1, offset - 1, -1),
                *range(size),
                *range(size - 1 - offset, size - 1 - offset - after, -1),
            ]
            input = input.index_select(axis, torch.tensor(index, device=input.device))
    return input


def patches(images, ksizes, strides, rates, padding):
    """The patches of images, each in the depth dim of a pixel."""
    counts = []
    for axis in (1, 2):
        at = 2 * axis - 1
        size, stride = images.shape[at], strides[axis]
        reach = (ksizes[axis] - 1) * rates[axis] + 1
        same = padding == "SAME"
        count = -(-size // stride) if same else -(-(size - reach + 1) // stride)
        before = max((count - 1) * stride + reach - size, 0) // 2 if same else 0
        starts = torch.arange(count).unsqueeze(1) * stride - before
        index = (starts + torch.arange(ksizes[axis]) * rates[axis]).reshape(-1)
        inside = (index >= 0) & (index < size)
        if not inside.all():  # a row of zeros put after the last
            images = torch.constant_pad_nd(images, [0, 0] * (images.dim() - 1 - at) + [0, 1], 0)
            index = torch.where(inside, index, size)
        dims = list(images.shape)
        images = images.index_select(at, index.to(images.device))
        images = images.reshape(*dims[:at], count, ksizes[axis], *dims[at + 1 :])
        counts.append(count)
    depth = ksizes[1] * ksizes[2] * images.shape[-1]
    return images.permute(0, 1, 3, 2, 4, 5).reshape(images.shape[0], *counts, depth)


def places_of(mask):
    """The places of what is true."""
    return mask.nonzero()


def are_in_order(row):
    """Whether numbers never fall."""
    return bool((row[1:] >= row[:-1]).all())


def by_rows(row, column, rows):
    """Where each row's entries begin, their columns, and their order."""
    order = torch.argsort(row, stable=True)
    row, column = row.index_select(0, order), column.index_select(0, order)
    return torch._convert_indices_from_coo_to_csr(row, rows), column, order
