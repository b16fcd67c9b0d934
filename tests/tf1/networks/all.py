"""All networks by their names."""

from tests.tf1.networks import estimator, keras, layers, recurrent, slim

NETWORKS = {
    module.__name__.rpartition(".")[2] + "." + name: function
    for module in (layers, slim, keras, recurrent, estimator)
    for name, function in module.NETWORKS.items()
}
