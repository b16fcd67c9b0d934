"""Programs of ``tf.image``, to be built and run by Penstock and by TensorFlow 1.15 alike.

Each takes the package as ``tf`` and returns tensors, or a dict of them with a feed; the nodes and
the values are what is compared (only shapes and dtypes where numbers are drawn, ``DRAWN``).  The
file runs under Python 3.7 as well.
"""

import numpy as np

PROGRAMS = {}
DRAWN = set()
# Static shapes that TensorFlow knows more of: through ShapeN, cut and joined.
VAGUER = {"similarity_at_scales"}
# The gradient of Mean leaves nodes behind in TensorFlow that nobody uses.
OTHER_NODES = {"similarity_gradient"}


def program(function, name=None):
    PROGRAMS[name or function.__name__] = function
    return function


def pixels(*shape, seed=0, low=0, high=256, dtype="uint8"):
    values = np.random.RandomState(seed).uniform(low, high, shape)
    return values.astype(dtype)


def real(*shape, seed=0):
    return pixels(*shape, seed=seed, high=1, dtype="float32")


def fed(tf, value, shape=None, name="x"):
    """A placeholder of ``shape`` with a value to feed."""
    return tf.placeholder(value.dtype, shape, name=name), value


# ---- element types, colours, adjustments ---------------------------------------------------------

TYPES = ("uint8", "int8", "int16", "uint16", "int32", "int64", "float16", "float32", "float64")


def _convert(source, target, saturate):
    def build(tf):
        high = 1.5 if source.startswith("float") else min(np.iinfo(source).max, 10**9)
        low = -0.5 if source.startswith("float") else max(np.iinfo(source).min, -(10**9))
        x = tf.constant(pixels(3, 4, 3, low=low, high=high, dtype=source))
        return tf.image.convert_image_dtype(x, target, saturate=saturate)

    program(build, f"convert_{source}_{target}_{saturate}")


# What is beyond an integer type after rounding is not defined without saturation.
for _source in TYPES:
    for _target in TYPES:
        _convert(_source, _target, True)
        if _source.startswith("float") <= _target.startswith("float"):
            _convert(_source, _target, False)

for _dtype in ("uint8", "float32", "float16", "float64", "int16"):

    def _adjust(tf, dtype=_dtype):
        x = tf.constant(pixels(2, 5, 6, 3, high=256 if "int" in dtype else 1, dtype=dtype))
        image = tf.image
        made = [
            image.adjust_brightness(x, 0.2),
            image.adjust_gamma(x, 1.7, 0.8),
            image.per_image_standardization(x),
            image.rgb_to_grayscale(x),
            image.grayscale_to_rgb(x[..., :1]),
        ]
        if dtype != "float16":  # 1.15 has no kernels of these
            made += [
                image.adjust_contrast(x, 1.8),
                image.adjust_hue(x, -0.3),
                image.adjust_saturation(x, 1.7),
            ]
        return made

    program(_adjust, "adjust_" + _dtype)

    def _random_adjust(tf, dtype=_dtype):
        tf.set_random_seed(4)
        x = tf.constant(pixels(5, 6, 3, high=256 if "int" in dtype else 1, dtype=dtype))
        image = tf.image
        return [
            image.random_brightness(x, 0.2),
            image.random_contrast(x, 0.2, 1.8, seed=3),
            image.random_hue(x, 0.3),
            image.random_saturation(x, 0.2, 1.8),
        ]

    if _dtype != "float16":
        program(_random_adjust, "random_adjust_" + _dtype)
        DRAWN.add("random_adjust_" + _dtype)


@program
def spaces(tf):
    x = tf.constant(real(2, 3, 4, 3))
    image = tf.image
    made = [f(x) for f in (image.rgb_to_yiq, image.yiq_to_rgb, image.rgb_to_yuv, image.yuv_to_rgb)]
    return made + [image.rgb_to_hsv(x), image.hsv_to_rgb(x), image.rgb_to_hsv(x, name="hsv")]


@program
def gray_of_unknown_shape(tf):
    x, value = fed(tf, real(2, 3, 4, 1), [None, None, None, None])
    y, other = fed(tf, real(3, 4, 1), None, "y")
    made = [tf.image.grayscale_to_rgb(x, name="color"), tf.image.grayscale_to_rgb(y)]
    return made, {x: value, y: other}


@program
def gamma_of_tensor(tf):
    x, value = fed(tf, real(3, 4, 3), [3, 4, 3])
    g, other = fed(tf, np.float32(2.5), [], "g")
    return tf.image.adjust_gamma(x, g), {x: value, g: other}


@program
def standardization_of_unknown_shape(tf):
    x, value = fed(tf, pixels(3, 4, 3), [None, None, 3])
    y, other = fed(tf, real(3, 4, 3), None, "y")
    made = [tf.image.per_image_standardization(v) for v in (x, y)]
    return made, {x: value, y: other}


@program
def jpeg_questions(tf):
    x, value = fed(tf, np.array(b"\xff\xd8\xff more", object), [])
    return tf.image.is_jpeg(x), {x: value}


@program
def jpeg_quality(tf):
    x = tf.constant(pixels(16, 16, 3, low=100, high=110))
    made = tf.image.adjust_jpeg_quality(x, 90), tf.image.random_jpeg_quality(x, 80, 95, seed=1)
    return list(made)


DRAWN.add("jpeg_quality")


# ---- turned, cut, padded, resized ----------------------------------------------------------------


def _every_rank(name, functions):
    """One program a function: of one image, a batch, and shapes known in part or not at all."""

    def build(tf, function):
        feed = {}
        made = []
        for number, shape in enumerate(([3, 4, 2], [2, 3, 4, 2], [None, None, 2], None)):
            value = real(*[d or 5 for d in shape or [4, 3, 2]], seed=number)
            x, feed_value = fed(tf, value, shape, f"x{number}")
            feed[x] = feed_value
            made.append(function(tf, x))
        return made, feed

    for number, function in enumerate(functions):
        program(lambda tf, f=function: build(tf, f), f"{name}_{number}")


_every_rank(
    "turn",
    [
        lambda tf, x: tf.image.flip_left_right(x),
        lambda tf, x: tf.image.flip_up_down(x),
        lambda tf, x: tf.image.transpose(x),
        lambda tf, x: tf.image.transpose_image(x, name="swap"),
        lambda tf, x: tf.image.rot90(x) if x.shape.ndims is not None else x + 0.0,
        lambda tf, x: tf.image.rot90(x, 3, name="turn") if x.shape.ndims is not None else x + 0.0,
        lambda tf, x: tf.image.rot90(x, -2) if x.shape.ndims is not None else x + 0.0,
    ],
)
_every_rank(
    "random_flip",
    [
        lambda tf, x: tf.image.random_flip_left_right(x, seed=5),
        lambda tf, x: tf.image.random_flip_up_down(x, seed=5),
    ],
)
DRAWN |= {"random_flip_0", "random_flip_1"}
_every_rank(
    "cut",
    [
        lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 8, 9),
        lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 0, 2, 3),
        lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 4, 3),
        lambda tf, x: tf.image.resize_with_crop_or_pad(x, 2, 7),
        lambda tf, x: tf.image.resize_with_crop_or_pad(x, tf.constant(2), tf.constant(7)),
        lambda tf, x: tf.image.resize_image_with_pad(x, 7, 6),
        lambda tf, x: tf.image.resize_image_with_pad(x, 2, 6, tf.image.ResizeMethod.AREA),
        lambda tf, x: tf.image.resize_image_with_pad(x, 2, 4, 1, align_corners=True),
        lambda tf, x: tf.image.central_crop(x, 0.5) if x.shape.ndims is not None else x + 0.0,
        lambda tf, x: tf.image.central_crop(x, 0.87) if x.shape.ndims is not None else x + 0.0,
    ],
)


@program
def box_of_tensors(tf):
    x, value = fed(tf, real(6, 5, 2), [6, 5, 2])
    n, two = fed(tf, np.int32(2), [], "n")
    image = tf.image
    made = [
        image.pad_to_bounding_box(x, n, n, 9, 9),
        image.pad_to_bounding_box(x, 1, 1, n + 7, n + 7),
        image.crop_to_bounding_box(x, n, 1, n, 3),
        image.resize_image_with_crop_or_pad(x, n, 8),
    ]
    return made, {x: value, n: two}


for _method in range(4):
    for _corners in (False, True):

        def _resize(tf, method=_method, corners=_corners):
            resize = tf.image.resize_images
            x = tf.constant(real(2, 5, 7, 3))
            y, value = fed(tf, pixels(4, 6, 3), [None, None, 3])
            made = [
                resize(x, [3, 9], method, corners),
                resize(x, [5, 7], method, corners),
                resize(x[0], tf.constant([8, 4]), method, corners),
                resize(x, [4, 4], method, corners, preserve_aspect_ratio=True),
                resize(y, [8, 3], method, corners, preserve_aspect_ratio=True, name="fit"),
                tf.image.resize(y, [8, 3], method, corners),
            ]
            return made, {y: value}

        program(_resize, f"resize_{_method}_{_corners}")


@program
def single_resizers(tf):
    x = tf.constant(real(2, 5, 7, 3))
    image = tf.image
    made = [image.resize_area(x, [3, 9], name="area")]
    for f in (image.resize_bilinear, image.resize_bicubic, image.resize_nearest_neighbor):
        made += [f(x, [3, 9]), f(x, [3, 9], half_pixel_centers=True, name="half")]
    return made


@program
def resize_gradients(tf):
    x = tf.constant(real(2, 5, 7, 3))
    made = []
    for method in range(3):
        y = tf.image.resize_images(x, [3, 9], method)
        made += tf.gradients(tf.reduce_sum(y * y), x)
    return made


# ---- boxes ---------------------------------------------------------------------------------------


def _some_boxes(n, seed=0):
    state = np.random.RandomState(seed)
    middle, reach = state.uniform(0.2, 0.8, (n, 2)), state.uniform(0.05, 0.2, (n, 2))
    return np.concatenate((middle - reach, middle + reach), 1).astype("float32")


@program
def suppression(tf):
    image = tf.image
    boxes, scores = tf.constant(_some_boxes(30)), tf.constant(real(30, seed=2))
    overlaps = tf.constant(np.maximum(real(30, 30), np.eye(30, dtype="float32")))
    made = [
        image.non_max_suppression(boxes, scores, 10),
        image.non_max_suppression(boxes, scores, 10, 0.3, 0.4, name="nms"),
        image.non_max_suppression_overlaps(overlaps, scores, 10, 0.9),
    ]
    made += image.non_max_suppression_padded(boxes, scores, 40, 0.3, pad_to_max_output_size=True)
    made += image.non_max_suppression_with_scores(boxes, scores, 40, 0.5, 0.1, soft_nms_sigma=0.4)
    many = tf.stack([boxes, boxes * 1.3])[:, :, None]
    combined = image.combined_non_max_suppression(
        many, tf.constant(real(2, 30, 4, seed=7)), 5, 12, 0.4, 0.2
    )
    return made + list(combined)


@program
def drawn_boxes(tf):
    x = tf.constant(real(2, 9, 11, 3))
    boxes = tf.constant(np.stack([_some_boxes(3), _some_boxes(3, 1)]))
    draw = tf.image.draw_bounding_boxes
    return [draw(x, boxes), draw(x, boxes, name="two", colors=real(2, 4))]


@program
def crops(tf):
    x = tf.constant(real(2, 9, 11, 3))
    boxes = tf.constant(_some_boxes(4))
    crop = tf.image.crop_and_resize
    made = [
        crop(x, boxes, [0, 1, 1, 0], [4, 5]),
        crop(x, boxes, box_indices=[0, 1, 1, 0], crop_size=[1, 1], method="nearest", name="c"),
    ]
    return made + tf.gradients(made[0] * made[0], [x, boxes])


@program
def gradient_of_crops_of_unknown_shape(tf):
    x, value = fed(tf, real(2, 9, 11, 3), [None, None, None, 3])
    made = tf.image.crop_and_resize(x, _some_boxes(4), [0, 1, 1, 0], [4, 5])
    return tf.gradients(made, x), {x: value}


@program
def windows(tf):
    x = tf.constant(real(2, 9, 11, 3))
    image = tf.image
    made = [
        image.extract_glimpse(x, [3, 4], [[0.1, 0.2], [0.3, -0.3]]),
        image.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
        image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 2, 2, 1], "VALID", name="p"),
    ]
    return made


@program
def sampled_windows(tf):
    boxes = tf.constant(_some_boxes(4)[None])
    sample = tf.image.sample_distorted_bounding_box
    made = list(sample([50, 40, 3], boxes))
    made += sample(
        tf.constant([50, 40, 3], tf.int64), boxes, seed=3, seed2=4, min_object_covered=0.5,
        aspect_ratio_range=(0.5, 2.0), area_range=[0.1, 0.5], max_attempts=20,
        use_image_if_no_bounding_boxes=True, name="window",
    )  # fmt: skip
    return made + [tf.image.random_crop(tf.constant(real(5, 6, 3)), [3, 3, 3], seed=1)]


DRAWN.add("sampled_windows")

# ---- quality -------------------------------------------------------------------------------------


@program
def signal_to_noise(tf):
    x, y = tf.constant(pixels(3, 8, 9, 3)), tf.constant(pixels(3, 8, 9, 3, seed=1))
    z, value = fed(tf, real(8, 9, 3), None)
    made = [tf.image.psnr(x, y, 255), tf.image.psnr(z, z * 0.9, 1.0, name="ratio")]
    return made, {z: value}


@program
def similarity(tf):
    x = pixels(3, 20, 17, 3)
    noise = np.random.RandomState(3).randint(-9, 9, x.shape)
    y = np.clip(x.astype(int) + noise, 0, 255).astype("uint8")
    small = tf.image.ssim(
        tf.constant(real(14, 15, 2)), tf.constant(real(14, 15, 2, seed=1)), 1.0, filter_size=5,
        filter_sigma=0.9, k1=0.02, k2=0.05,
    )  # fmt: skip
    return [tf.image.ssim(tf.constant(x), tf.constant(y), 255), small]


@program
def similarity_at_scales(tf):
    x, y = fed(tf, real(2, 50, 49, 2), [2, None, None, 2])
    made = tf.image.ssim_multiscale(x, x * 0.9 + 0.01, 1.0, (0.3, 0.3, 0.4), 5, 1.0)
    return made, {x: y}


@program
def similarity_gradient(tf):
    x, y = tf.constant(real(14, 15, 2)), tf.constant(real(14, 15, 2, seed=1))
    return tf.gradients(tf.image.ssim(x, y, 1.0, filter_size=5), x)


@program
def roughness(tf):
    x = tf.constant(real(2, 5, 6, 3))
    image = tf.image
    made = [image.total_variation(x), image.total_variation(x[0], name="rough")]
    return made + list(image.image_gradients(x)) + [image.sobel_edges(x)]


# ---- errors --------------------------------------------------------------------------------------

ERRORS = {
    "flip_of_matrix": lambda tf, x: tf.image.flip_left_right(x[0]),
    "flip_of_five": lambda tf, x: tf.image.flip_left_right(x[None, None]),
    "rot_of_matrix": lambda tf, x: tf.image.rot90(x[0]),
    "crop_of_nothing": lambda tf, x: tf.image.central_crop(x, 0.0),
    "crop_of_more": lambda tf, x: tf.image.central_crop(x, 1.1),
    "pad_negative": lambda tf, x: tf.image.pad_to_bounding_box(x, -1, 0, 9, 9),
    "pad_small": lambda tf, x: tf.image.pad_to_bounding_box(x, 0, 0, 2, 9),
    "crop_outside": lambda tf, x: tf.image.crop_to_bounding_box(x, 3, 0, 5, 2),
    "crop_empty": lambda tf, x: tf.image.crop_to_bounding_box(x, 0, 0, 0, 2),
    "crop_or_pad_empty": lambda tf, x: tf.image.resize_image_with_crop_or_pad(x, 0, 2),
    "resize_three": lambda tf, x: tf.image.resize_images(x, [1, 2, 3]),
    "resize_unknown_method": lambda tf, x: tf.image.resize_images(x, [1, 2], 9),
    "resize_floats": lambda tf, x: tf.image.resize_images(x, [1.5, 2.5]),
    "brightness_negative": lambda tf, x: tf.image.random_brightness(x, -1),
    "contrast_empty": lambda tf, x: tf.image.random_contrast(x, 1, 1),
    "contrast_negative": lambda tf, x: tf.image.random_contrast(x, -1, 1),
    "hue_wide": lambda tf, x: tf.image.random_hue(x, 0.7),
    "hue_negative": lambda tf, x: tf.image.random_hue(x, -0.1),
    "saturation_empty": lambda tf, x: tf.image.random_saturation(x, 2, 1),
    "gamma_negative": lambda tf, x: tf.image.adjust_gamma(x, -1),
    "jpeg_range": lambda tf, x: tf.image.random_jpeg_quality(x, 50, 101),
    "jpeg_empty": lambda tf, x: tf.image.random_jpeg_quality(x, 50, 50),
    "gray_of_color": lambda tf, x: tf.image.grayscale_to_rgb(x),
    "psnr_shapes": lambda tf, x: tf.image.psnr(x, x[1:], 1.0),
    "ssim_shapes": lambda tf, x: tf.image.ssim(x, x[:, 1:], 1.0),
    "variation_of_matrix": lambda tf, x: tf.image.total_variation(x[0]),
    "gradients_of_three": lambda tf, x: tf.image.image_gradients(x),
    "hsv_of_two": lambda tf, x: tf.image.rgb_to_hsv(x[..., :2]),
    "crop_two_boxes": lambda tf, x: tf.image.crop_and_resize(
        x[None], [[0.0] * 4], box_ind=[0], box_indices=[0], crop_size=[2, 2]
    ),
    "convert_to_bool": lambda tf, x: tf.image.convert_image_dtype(x, tf.bool),
}


def error_of(tf, function):
    with tf.Graph().as_default():
        x = tf.constant(np.ones((6, 7, 3), "float32"))
        try:
            function(tf, x)
        except Exception as raised:
            return type(raised).__name__
    return None


def plain(op):
    control = sorted(i.name for i in op.control_inputs)
    shapes = [str(o.shape) for o in op.outputs]
    return [op.name, op.type, [i.name for i in op.inputs], control, shapes]


def run(tf, function, drawn):
    """The nodes and values of a program; or why there are none."""
    try:
        return _run(tf, function, drawn)
    except Exception as raised:
        return {"error": f"{type(raised).__name__}: {str(raised)[:300]}"}


def _run(tf, function, drawn):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        made = function(tf)
        made, feed = made if isinstance(made, tuple) and isinstance(made[1], dict) else (made, {})
        made = made if isinstance(made, list) else [made]
        nodes = [plain(op) for op in graph.get_operations()]
        values = [np.asarray(v) for v in session.run(made, feed)]
    shown = [] if drawn else [v.astype("float64").tolist() for v in values]
    return {"nodes": nodes, "kinds": [[str(v.dtype), list(v.shape)] for v in values],
            "values": shown}  # fmt: skip


if __name__ == "__main__":
    import json
    import sys

    import tensorflow

    found = {k: run(tensorflow, v, k in DRAWN) for k, v in PROGRAMS.items()}
    errors = {k: error_of(tensorflow, v) for k, v in ERRORS.items()}
    with open(sys.argv[1], "w") as f:
        json.dump({"programs": found, "errors": errors}, f)
