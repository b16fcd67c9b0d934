"""Programs of ``tf.contrib.image`` and ``tf.contrib.resampler`` (``recorded``)."""

from importlib import import_module

import numpy as np

from tests.contrib.recorded import nodes, refused, values

_RNG = np.random.RandomState(5)
IMAGES = _RNG.uniform(0, 255, size=[2, 6, 7, 3]).round(1).astype("float32")
ANGLES = [0.3, -1.2]
KINDS = ("uint8", "int32", "int64", "float16", "float32", "float64")


def _distort(tf):
    if tf.__name__ == "tensorflow":
        return import_module("tensorflow.contrib.image.python.ops.distort_image_ops")
    return tf.contrib.image.python.ops.distort_image_ops


def case_rotate(tf):
    image = tf.contrib.image
    made = [image.rotate(IMAGES, ANGLES, kind) for kind in ("NEAREST", "bilinear")]
    made += [image.rotate(IMAGES[0, :, :, 0], 0.5, "BILINEAR"), image.rotate(IMAGES[0], np.pi / 2)]
    return [t.name for t in made] + values(tf, made)


def case_rotate_nodes(tf):
    tf.contrib.image.rotate(tf.placeholder(tf.float32, [None, 6, 7, 3]), ANGLES, name="turned")
    tf.contrib.image.rotate(tf.placeholder(tf.uint8, [4, 4]), 0.1)
    return nodes(tf)


def case_translate(tf):
    image = tf.contrib.image
    moves = [[1.0, -2.0], [0.5, 3.25]]
    made = [image.translate(IMAGES.astype(kind), moves) for kind in KINDS]
    made += [image.translate(IMAGES.astype(kind), moves, "BILINEAR") for kind in KINDS]
    made.append(image.translate(IMAGES[0], [1.0, 0.0]))
    return [t.name for t in made] + values(tf, made)


def case_translate_nodes(tf):
    tf.contrib.image.translate(tf.placeholder(tf.float32, [2, 6, 7, 3]), tf.zeros([2, 2]))
    tf.contrib.image.translations_to_projective_transforms([1.0, 2.0], name="own")
    return nodes(tf)


def case_transform(tf):
    image = tf.contrib.image
    rows = np.array([[1.1, 0.2, -1, 0.1, 0.9, 1, 0.01, 0.02], [1, 0, 0, 0, 1, 0, 0, -0.5]], "f4")
    made = [image.transform(IMAGES, rows, kind) for kind in ("NEAREST", "BILINEAR")]
    made.append(image.transform(IMAGES, rows[0], output_shape=[3, 9]))
    made.append(image.transform(IMAGES, rows, "BILINEAR", output_shape=tf.constant([8, 2])))
    fed = tf.placeholder(tf.float32, [None, None, None, 3])
    open_shapes = [image.transform(fed, rows).shape.as_list()]
    open_shapes.append(image.transform(fed, rows, output_shape=[3, 9]).shape.as_list())
    return [t.name for t in made] + open_shapes + values(tf, made)


def case_transform_gradients(tf):
    x = tf.constant(IMAGES)
    turned = [tf.contrib.image.rotate(x, ANGLES, kind) for kind in ("NEAREST", "BILINEAR")]
    weights = tf.constant(IMAGES[::-1] / 255)
    grads = [tf.gradients(t * weights, x)[0] for t in turned]
    found = nodes(tf)
    return [found[-60:]] + values(tf, grads)


def case_transforms(tf):
    image = tf.contrib.image
    turns = image.angles_to_projective_transforms(ANGLES, 6.0, 7.0)
    moves = image.translations_to_projective_transforms([[1.0, 2.0], [3.0, -1.0]])
    made = [turns, moves, image.compose_transforms(turns, moves), image.compose_transforms(turns)]
    made += [image.flat_transforms_to_matrices(turns)]
    made += [image.matrices_to_flat_transforms(2 * made[-1])]
    return nodes(tf) + values(tf, made)


def case_refusals(tf):
    image = tf.contrib.image
    one = tf.ones([3, 3])
    return [
        refused(lambda: image.rotate(tf.ones([3]), 1.0), "rank between 2 and 4"),
        refused(lambda: image.transform(one, tf.ones([1, 2, 8])), "should have rank 1 or 2"),
        refused(lambda: image.transform(tf.ones([3, 3], tf.int8), tf.ones([8])), "Invalid dtype"),
        refused(lambda: image.transform(one, tf.ones([8]), output_shape=[3]), "must be a 1-D"),
        refused(lambda: image.transform(tf.placeholder(tf.float32), tf.ones([8])), "statically"),
        refused(lambda: image.flat_transforms_to_matrices(tf.ones([1, 2, 8])), "Transforms should"),
        refused(lambda: image.flat_transforms_to_matrices(tf.ones([1, 7]))),
        refused(lambda: image.compose_transforms(), "cannot be empty"),
        refused(lambda: image.connected_components(tf.ones([3])), "images should have rank 2"),
        refused(lambda: image.translations_to_projective_transforms(tf.ones([1, 1, 2])), "rank 1"),
        refused(lambda: image.angles_to_projective_transforms(tf.ones([1, 1]), 1.0, 2.0), "rank 0"),
        refused(lambda: values(tf, image.transform(tf.ones([2, 3, 3, 1]), tf.ones([3, 8]))),
                "Input transform should be num_images x 8 or 1 x 8"),
    ]  # fmt: skip


SPIRAL = np.array(
    [[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [1, 1, 1, 0, 1], [1, 0, 2, 0, 1], [1, 1, 1, 1, 1]]
)


def case_connected_components(tf):
    find = tf.contrib.image.connected_components
    kinds = ("uint8", "int8", "int16", "uint16", "int32", "int64", "float16", "float32", "float64")
    made = [find(SPIRAL.astype(kind)) for kind in kinds]
    noise = _RNG.__class__(3).randint(0, 3, size=[3, 9, 8])
    made += [find(noise), find(noise > 0), find(noise + 1), find(np.zeros([2, 3], "int32"))]
    made.append(find(np.array([["a", "a", ""], ["b", "a", ""]])))
    return [t.shape.as_list() for t in made] + values(tf, made)


def case_connected_components_nodes(tf):
    tf.contrib.image.connected_components(tf.placeholder(tf.bool, [2, 4, 5]))
    return nodes(tf)


def case_bipartite_match(tf):
    match = tf.contrib.image.bipartite_match
    distances = np.random.RandomState(0).rand(4, 3).astype("float32")
    made = [match(distances, [count]) for count in (3.0, 4.0, -1.0, 2.0)]
    made += [match(distances, [4.0], top_k=2, name="best"), match(np.ones([2, 2], "f4"), [2.0])]
    return [[t.shape.as_list() for t in pair] for pair in made] + values(tf, made)


def case_hsv_in_yiq(tf):
    distort = _distort(tf)
    x = tf.constant(IMAGES / 255)
    made = [distort.adjust_hsv_in_yiq(x, *amounts) for amounts in
            ((), (0.3,), (-1.0, 0.5, 1.5), (0.0, 0.0, 1.0))]  # fmt: skip
    made.append(distort.adjust_hsv_in_yiq(IMAGES.astype("uint8"), 0.1, 0.9, 0.9))
    drawn = distort.random_hsv_in_yiq(x, 0.2, 0.5, 1.5, 0.5, 1.5)
    found = [nodes(tf), drawn.shape.as_list()] + values(tf, made)
    wrong = ((-0.2,), (0.2, 1.5, 0.5), (0.2, -1.0), (0, 1, 1, 2, 1), (0, 1, 1, -1, 1))
    for amounts in wrong:
        found.append(
            refused(lambda amounts=amounts: distort.random_hsv_in_yiq(x, *amounts), "must be")
        )
    return found


def case_dense_image_warp(tf):
    flow = np.random.RandomState(1).uniform(-4, 4, size=[2, 6, 7, 2]).astype("float32")
    x, by = tf.constant(IMAGES), tf.constant(flow)
    warped = tf.contrib.image.dense_image_warp(x, by)
    grads = tf.gradients(tf.reduce_sum(warped * tf.constant(IMAGES[::-1] / 255)), [x, by])
    small = tf.contrib.image.dense_image_warp(tf.placeholder(tf.float32, [2, 6, 7, 1]), by)
    found = [warped.name, warped.shape.as_list(), small.shape.as_list()]
    warp = tf.contrib.image.dense_image_warp
    low = refused(lambda: values(tf, warp(tf.ones([1, 1, 4, 1]), tf.ones([1, 1, 4, 2]))), "height")
    found.append(low)
    return found + values(tf, [warped] + grads)


def _points():
    rng = np.random.RandomState(0)
    return [rng.rand(2, 6, 2), rng.rand(2, 6, 3), rng.rand(2, 4, 2)]


def case_interpolate_spline(tf):
    made = []
    for order in (1, 2, 3, 4, 5):
        for weight in (0.0, 0.1):
            points, at, query = (tf.constant(p) for p in _points())
            made.append(tf.contrib.image.interpolate_spline(points, at, query, order, weight))
    grads = tf.gradients(made[3], [points, at]) + tf.gradients(made[4], query)
    return [made[0].shape.as_list()] + values(tf, made + [g for g in grads if g is not None])


def case_interpolate_spline_nodes(tf):
    for order in (1, 2, 3, 4):
        points, at, query = (tf.placeholder(tf.float32, p.shape) for p in _points())
        tf.contrib.image.interpolate_spline(points, at, query, order, 0.1)
    return nodes(tf)


def case_sparse_image_warp(tf):
    source = np.array([[[1, 1], [4, 5], [2, 5]], [[1, 2], [4, 1], [3, 5]]], "float64")
    moved = source + np.array([[0.5, -0.5], [1, 0.25], [0, 1]])
    made = []
    for order, weight, border in ((2, 0.0, 1), (1, 0.0, 3), (3, 0.1, 2), (2, 0.0, 0)):
        made += tf.contrib.image.sparse_image_warp(
            IMAGES.astype("float64") / 255, source, moved, order, weight, border
        )
    return [t.shape.as_list() for t in made] + values(tf, made)


def case_resampler(tf):
    data = tf.constant(IMAGES / 255)
    rng = np.random.RandomState(2)
    where = rng.uniform(-2, 8, size=[2, 4, 5, 2]).astype("float32")
    where[0, 0] = [[0, 0], [6, 5], [-1, 2], [6.5, 5.5], [7, 6]]
    warp = tf.constant(where)
    made = tf.contrib.resampler.resampler(data, warp)
    weights = tf.constant(rng.uniform(size=[2, 4, 5, 3]).astype("float32"))
    grads = tf.gradients(made * weights, [data, warp])
    return [nodes(tf), made.shape.as_list()] + values(tf, [made] + grads)
