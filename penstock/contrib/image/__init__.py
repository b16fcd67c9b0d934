"""``tf.contrib.image``: images that are moved, bent and taken apart.

``moving`` has projective transforms, ``warping`` what moves each pixel by its own way, ``spline``
the interpolation between scattered points, ``regions`` components and pairs; ``distorting`` has
changes of colours.
"""

from penstock.contrib.image import python as python
from penstock.contrib.image.moving import (
    angles_to_projective_transforms as angles_to_projective_transforms,
    compose_transforms as compose_transforms,
    rotate as rotate,
    translate as translate,
    translations_to_projective_transforms as translations_to_projective_transforms,
)
from penstock.contrib.image.regions import (
    bipartite_match as bipartite_match,
    connected_components as connected_components,
)
from penstock.contrib.image.spline import interpolate_spline as interpolate_spline
from penstock.contrib.image.warping import (
    dense_image_warp as dense_image_warp,
    sparse_image_warp as sparse_image_warp,
)
from penstock.foundation.base import public_names
from penstock.ops.image.image_projective import (
    flat_transforms_to_matrices as flat_transforms_to_matrices,
    matrices_to_flat_transforms as matrices_to_flat_transforms,
    transform as transform,
)

__dir__ = public_names.listing(__name__)
