"""Device names: parsing, printing and merging as TensorFlow 1.15 does them."""

from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from penstock.foundation.base import devices
from penstock.foundation.base.devices import DeviceSpec

specs = st.builds(
    DeviceSpec,
    job=st.sampled_from([None, "ps", "worker"]),
    replica=st.sampled_from([None, 0, 3]),
    task=st.sampled_from([None, 0, 12]),
    device_type=st.sampled_from(["CPU", "GPU", "TPU"]),
    device_index=st.sampled_from([None, 0, 7]),
)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/gpu:1", "/device:GPU:1"),
        ("/CPU:0", "/device:CPU:0"),
        ("/device:GPU:*", "/device:GPU:*"),
        ("/device:gpu:1", "/device:GPU:1"),
        ("/job:ps/task:1", "/job:ps/task:1"),
        ("/job:ps/replica:0/task:1/device:CPU:0", "/job:ps/replica:0/task:1/device:CPU:0"),
        ("/job:ps/replica:0/task:1/cpu:0", "/job:ps/replica:0/task:1/device:CPU:0"),
        ("/job:ps/cpu", "/job:ps/device:CPU:*"),
        ("/cpu:*", "/device:CPU:*"),
        ("/device:XLA_CPU:0", "/device:XLA_CPU:0"),
        ("cpu:0", "/device:CPU:0"),
        ("job:ps", "/job:ps"),
        ("/job:*", "/job:*"),
        ("/job:a/job:b", "/job:b"),
        ("/task:01", "/task:1"),
        ("", ""),
        ("//", ""),
        (None, ""),
    ],
)
def test_canonical_name(name, canonical):
    assert devices.canonical_name(name) == canonical
    assert DeviceSpec.from_string(name).to_string() == canonical


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/foo:0", "Unknown attribute: 'foo:0'"),
        ("/job:ps/foo", "Unknown attribute: 'foo'"),
        ("/tpu:0", "Unknown attribute: 'tpu:0'"),
        ("/device:CPU", "Unknown attribute: 'device:CPU'"),
        ("/device:GPU:0:1", "Unknown attribute: 'device:GPU:0:1'"),
        ("/device::0", "Unknown attribute"),
        ("/job:", "Unknown attribute: 'job:'"),
        ("/job:a b", "Unknown attribute"),
        ("/task:a", "'a' in 'task:a' is not a whole number"),
        ("/replica:*", "'*' in 'replica:*' is not a whole number"),
        ("/cpu:a", "'a' in 'cpu:a' is not a whole number"),
        ("/cpu:-1", "'-1' in 'cpu:-1' is not a whole number"),
        ("/cpu:", "'' in 'cpu:' is not a whole number"),
        ("/cpu:0/gpu:0", "more than one device type"),
    ],
)
@pytest.mark.parametrize("parse", [DeviceSpec.from_string, devices.merge_device])
def test_malformed_names_say_what_is_allowed(name, why, parse):
    with pytest.raises(ValueError) as caught:
        parse(name)
    message = str(caught.value)
    assert repr(name) in message
    assert why in message
    assert "allowed are parts joined by '/': job:NAME" in message


@pytest.mark.parametrize("bad", [3, b"/cpu:0", ["/cpu:0"]])
def test_other_types_are_refused(bad):
    for parse in (devices.canonical_name, devices.merge_device, DeviceSpec.from_string):
        with pytest.raises(ValueError, match="is not a string or DeviceSpec: allowed"):
            parse(bad)


def test_constructor():
    spec = DeviceSpec(job="ps", task="1", device_type="gpu", device_index=0)
    assert (spec.job, spec.replica, spec.task) == ("ps", None, 1)
    assert (spec.device_type, spec.device_index) == ("GPU", 0)
    assert spec.to_string() == "/job:ps/task:1/device:GPU:0"
    assert DeviceSpec().to_string() == ""
    assert DeviceSpec(device_index=1).to_string() == ""
    for bad in ({"replica": "x"}, {"task": -1}, {"device_index": "*"}):
        with pytest.raises(ValueError, match="must be a whole number or None"):
            DeviceSpec(**bad)


def test_parts_can_be_set_and_replaced():
    spec = DeviceSpec("ps")
    spec.task = 2
    assert spec.to_string() == "/job:ps/task:2"
    assert spec.replace(device_type="cpu").to_string() == "/job:ps/task:2/device:CPU:*"
    assert spec.to_string() == "/job:ps/task:2"
    assert spec.parse_from_string("/gpu:1") is spec
    assert spec.to_string() == "/device:GPU:1"
    with pytest.raises(TypeError, match="color"):
        spec.replace(color=1)


@pytest.mark.parametrize(
    ("outer", "inner", "merged"),
    [
        ("/job:ps/task:0", "/job:worker/cpu:0", "/job:worker/task:0/device:CPU:0"),
        ("/job:ps/gpu:1", "/job:w", "/job:w/device:GPU:1"),
        ("/job:ps/gpu:1", "/gpu:*", "/job:ps/device:GPU:1"),
        ("/gpu:*", "/gpu:1", "/device:GPU:1"),
        ("/job:ps/gpu:1", "/cpu:0", "/job:ps/device:CPU:0"),
        ("/job:ps/gpu:1", "/cpu:*", "/job:ps/device:CPU:1"),
        ("/gpu:1", "", "/device:GPU:1"),
    ],
)
def test_merge(outer, inner, merged):
    spec, other = DeviceSpec.from_string(outer), DeviceSpec.from_string(inner)
    assert spec.make_merged_spec(other).to_string() == merged
    assert spec.to_string() == devices.canonical_name(outer)
    spec.merge_from(other)
    assert spec.to_string() == merged
    function = devices.merge_device(outer)
    assert function.merge(inner) == merged
    assert function(SimpleNamespace(device=inner)) == merged
    assert devices.merge_device(DeviceSpec.from_string(outer)) is function


def test_merge_refuses_a_malformed_node_device():
    with pytest.raises(ValueError, match="malformed device '/foo'"):
        devices.merge_device("/cpu:0")(SimpleNamespace(device="/foo"))


def test_equality():
    assert DeviceSpec("ps") == DeviceSpec("ps")
    assert len({DeviceSpec("ps"), DeviceSpec("ps"), DeviceSpec("w")}) == 2
    assert DeviceSpec("ps") != "/job:ps"
    assert repr(DeviceSpec("ps")) == "<DeviceSpec '/job:ps'>"


@given(specs)
def test_print_and_parse_round_trip(spec):
    assert DeviceSpec.from_string(spec.to_string()) == spec
    assert devices.canonical_name(spec) == spec.to_string()


@given(specs, specs, specs)
def test_merging_is_associative_and_idempotent(a, b, c):
    left = a.make_merged_spec(b).make_merged_spec(c)
    assert left == a.make_merged_spec(b.make_merged_spec(c))
    assert a.make_merged_spec(a) == a


@given(st.text(alphabet="jobtaskcpugdevi:/*0123 ", max_size=20))
def test_any_string_parses_or_is_refused(name):
    try:
        canonical = devices.canonical_name(name)
    except ValueError as error:
        assert "allowed" in str(error)
    else:
        assert devices.canonical_name(canonical) == canonical
