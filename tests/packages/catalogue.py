"""The packages: their versions, what they need, and the tests that they ship."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """One distribution of the index, and how its own tests are run.

    Attributes:
        name: Of the distribution, and of its folder.
        version: The one that is installed.
        module: The name that programs import.
        ships_tests: Whether test files lie among its modules.
        left_out: Parts of the paths of test files that are not run, each with the reason.
    """

    name: str
    version: str
    module: str
    ships_tests: bool = False
    left_out: tuple[tuple[str, str], ...] = ()


PACKAGES = (
    Package("keras", "2.3.1", "keras"),
    Package("tf-slim", "1.1.0", "tf_slim", ships_tests=True),
    Package("dm-sonnet", "1.36", "sonnet"),
    Package("tensorflow-probability", "0.8.0", "tensorflow_probability"),
    Package("tensor2tensor", "1.15.7", "tensor2tensor", ships_tests=True),
    Package("tensorflow-estimator", "1.15.1", "tensorflow_estimator"),
    Package("tensorflow-hub", "0.6.0", "tensorflow_hub"),
    Package("bert-tensorflow", "1.0.4", "bert", ships_tests=True),
    Package("tensorpack", "0.11", "tensorpack", ships_tests=True),
    Package("stable-baselines", "2.10.1", "stable_baselines"),
)

# Pure Python that the packages name, of no version in particular.
NEEDED = (
    "six absl-py h5py keras-applications keras-preprocessing semantic-version contextlib2 wrapt"
    " decorator cloudpickle tabulate termcolor msgpack msgpack-numpy pyzmq tqdm nose future psutil"
    " sympy mpmath pyyaml gast==0.2.2"
).split()
# TensorFlow 1.15's environment has six, absl, wrapt and termcolor already; Keras reads files by
# what h5py gave before version 3. With NumPy 1.20 and later it cannot make many of
# tensorflow-probability's shapes.
NEEDED_37 = (
    "semantic-version contextlib2 decorator cloudpickle tabulate msgpack msgpack-numpy pyzmq tqdm"
    " nose future psutil sympy mpmath pyyaml h5py==2.10.0"
    " numpy==1.18.5"
).split()


def by_name(name: str) -> Package:
    """The package of this name."""
    return next(p for p in PACKAGES if p.name == name)
