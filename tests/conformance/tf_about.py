"""Says which TensorFlow the Python that runs this has: ``python tf_about.py``, one line of JSON.

``version``, ``git``, ``compiler``; ``onednn``: whether its oneDNN kernels are on.  Which
instruction sets it was not built for, TensorFlow says itself, to stderr, once it looks at its
devices.  Python 3.7 (TensorFlow 1.15) as well.
"""

import json

import tensorflow

tensorflow.compat.v1.Session().close()
try:
    from tensorflow.python.util import _pywrap_util_port

    onednn = bool(_pywrap_util_port.IsMklEnabled())
except ImportError:  # 1.15
    from tensorflow.python import pywrap_tensorflow

    onednn = bool(pywrap_tensorflow.IsMklEnabled())
about = {
    "version": tensorflow.__version__,
    "git": tensorflow.version.GIT_VERSION,
    "compiler": tensorflow.version.COMPILER_VERSION,
    "onednn": onednn,
}
print(json.dumps(about))
