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
        beside: Other packages that it imports.
        mixins: Files of ``mixins`` that make test cases of the mix-ins that it ships.
        left_out: Parts of the paths of test files that are not run, each with the reason.
    """

    name: str
    version: str
    module: str
    ships_tests: bool = False
    beside: tuple[str, ...] = ()
    mixins: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


PACKAGES = (
    Package("keras", "2.3.1", "keras"),
    Package("tf-slim", "1.1.0", "tf_slim", ships_tests=True),
    Package("dm-sonnet", "1.36", "sonnet"),
    Package("tensorflow-probability", "0.8.0", "tensorflow_probability"),
    Package(
        "tensor2tensor",
        "1.15.7",
        "tensor2tensor",
        ships_tests=True,
        beside=("tensorflow-probability", "tensorflow-hub"),
    ),
    Package(
        "tensorflow-estimator",
        "1.15.1",
        "tensorflow_estimator",
        ships_tests=True,
        mixins=("deep_estimators_test.py", "linear_estimators_test.py"),
    ),
    Package("tensorflow-hub", "0.6.0", "tensorflow_hub"),
    Package("bert-tensorflow", "1.0.4", "bert", ships_tests=True),
    Package("tensorpack", "0.11", "tensorpack", ships_tests=True),
    Package("stable-baselines", "2.10.1", "stable_baselines"),
)

# What the packages name, of no version in particular where none is said.
NEEDED = (
    "six absl-py h5py keras-applications keras-preprocessing semantic-version contextlib2 wrapt"
    " decorator cloudpickle tabulate termcolor msgpack msgpack-numpy pyzmq tqdm nose future psutil"
    " sympy mpmath pyyaml gast==0.2.2"
    # tensor2tensor imports these where it is imported, or its tests do.
    " gym==0.17.2 mesh-tensorflow==0.1.13 tensorflow-gan==2.0.0 gin-config==0.3.0"
    " dopamine-rl==3.0.1 kfac==0.2.0 bz2file pypng mock attrs dill promise requests"
    " tensorflow-datasets==3.1.0 tensorflow-metadata==1.17.2 opencv-python-headless"
    " google-api-python-client==1.7.12 oauth2client==4.1.3 httplib2==0.18.1 uritemplate==3.0.1"
    " pyasn1==0.4.8 pyasn1-modules==0.2.8 rsa==4.7"
    # requests needs these four, and whatever asks for pkg_resources a setuptools that has it and
    # runs under Python 3.12.
    " urllib3 idna certifi charset-normalizer setuptools==75.8.0"
    " matplotlib kiwisolver cycler contourpy fonttools pyparsing packaging"
    # And stable-baselines these; its environments are gymnasium's.
    " pandas python-dateutil pytz joblib gymnasium farama-notifications"
).split()
# TensorFlow 1.15's environment has six, absl, wrapt and termcolor already; Keras reads files by
# what h5py gave before version 3. With NumPy 1.20 and later it cannot make many of
# tensorflow-probability's shapes.
NEEDED_37 = (
    "semantic-version contextlib2 decorator cloudpickle tabulate msgpack msgpack-numpy pyzmq tqdm"
    " nose future psutil sympy mpmath pyyaml h5py==2.10.0"
    " numpy==1.18.5"
    # For tensor2tensor, as above.
    " scipy==1.5.4 Pillow==8.4.0 gym==0.17.2 mesh-tensorflow==0.1.13"
    " tensorflow-gan==2.0.0 gin-config==0.3.0 dopamine-rl==3.0.1 kfac==0.2.0 bz2file pypng mock"
    " attrs dill promise requests urllib3==1.26.18 idna chardet certifi tf-slim==1.1.0"
    " tensorflow-hub==0.8.0 tensorflow-datasets==3.1.0 tensorflow-metadata==0.21.2"
    " googleapis-common-protos opencv-python-headless==4.2.0.34 pyglet==1.5.0"
    " google-api-python-client==1.7.12 oauth2client==4.1.3 httplib2==0.18.1 uritemplate==3.0.1"
    " pyasn1==0.4.8 pyasn1-modules==0.2.8 rsa==4.7"
    " matplotlib==3.5.3 kiwisolver==1.4.4 cycler==0.11.0 fonttools==4.38.0 pyparsing==3.1.4"
    " packaging==24.0 python-dateutil==2.8.2"
    # And for stable-baselines.
    " pandas==1.3.5 pytz joblib"
).split()


def by_name(name: str) -> Package:
    """The package of this name."""
    return next(p for p in PACKAGES if p.name == name)
