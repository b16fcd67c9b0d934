"""The images of ``scipy.misc``, which SciPy dropped in 1.2: by Pillow, as there.

Values that are no bytes are stretched over 0 to 255 before they become an image (``bytescale``),
``imresize`` of floats included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Numbers of Pillow's ways to interpolate.
_WAYS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "cubic": 3}


def _pillow() -> Any:
    from PIL import Image

    return Image


def bytescale(
    data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0
) -> np.ndarray:
    """Values stretched to bytes; bytes stay what they are.

    Args:
      data: an array.
      cmin, cmax: what becomes ``low`` and ``high``; default is the smallest and largest value.
      high, low: the range of the result.

    Raises:
      ValueError: for a range that is none of bytes.

    >>> bytescale(np.array([0.0, 0.5, 2.0]))
    array([  0,  64, 255], dtype=uint8)
    """
    data = np.asarray(data)
    if data.dtype == np.uint8:
        kept: np.ndarray = data
        return kept
    if not 0 <= low <= high <= 255:
        raise ValueError(f"`low` and `high` must be 0 <= low <= high <= 255, not {low}, {high}")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    if cmax < cmin:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scaled = (data - cmin) * (float(high - low) / ((cmax - cmin) or 1)) + low
    made: np.ndarray = (scaled.clip(low, high) + 0.5).astype(np.uint8)
    return made


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """An image's values.

    Args:
      im: an image of Pillow.
      flatten: whether colors become gray, as float32.
      mode: Pillow's name of the form it is to have first.
    """
    if mode is not None:
        im = im.convert(mode) if mode != im.mode else im
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Any:
    """An image of Pillow with these values, stretched to bytes unless they are.

    Args:
      arr: of shape [height, width], or with an axis of 3 or 4 colors.
      high, low, cmin, cmax: as for ``bytescale``.
      mode: "F" keeps the values of a gray image as float32.
      channel_axis: which axis has the colors; default is the first of 3, else the first of 4.

    Raises:
      ValueError: for another shape.
    """
    data = np.asarray(arr)
    if data.ndim == 2 and mode == "F":
        return _pillow().fromarray(data.astype(np.float32))
    if data.ndim == 2 and mode in (None, "L"):
        return _pillow().fromarray(bytescale(data, cmin, cmax, high, low))
    axes = [axis for size in (3, 4) for axis in range(data.ndim) if data.shape[axis] == size]
    axis = channel_axis if channel_axis is not None else next(iter(axes), None)
    if data.ndim != 3 or axis not in axes or mode not in (None, "RGB", "RGBA"):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    return _pillow().fromarray(
        np.ascontiguousarray(np.moveaxis(bytescale(data, cmin, cmax, high, low), axis, 2))
    )


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """The values of an image file; ``flatten`` and ``mode`` as for ``fromimage``."""
    with _pillow().open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes values as an image file, stretched to bytes unless they are.

    Args:
      name: the file.
      arr: of shape [height, width] or [height, width, colors].
      format: default is by the file's name.
    """
    toimage(arr, channel_axis=2 if np.ndim(arr) == 3 else None).save(name, format)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """An image in another size, as bytes.

    Args:
      arr: as for ``toimage``.
      size: a whole number is percent, another number a factor, a pair the height and width.
      interp: nearest, lanczos, bilinear, bicubic or cubic.
      mode: as for ``toimage``.
    """
    image = toimage(arr, mode=mode)
    if np.ndim(size) == 0:
        factor = size / 100.0 if isinstance(size, int | np.integer) else size
        wanted = tuple(int(side * factor) for side in image.size)
    else:
        wanted = (size[1], size[0])
    return fromimage(image.resize(wanted, resample=_WAYS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """An image turned counter-clockwise about its center, in the size that it has.

    Args:
      arr: as for ``toimage``.
      angle: degrees.
      interp: nearest, bilinear or bicubic.
    """
    return fromimage(toimage(arr).rotate(angle, resample=_WAYS[interp]))
