"""The half of `test_interchange.py` that runs in a TensorFlow's own environment.

::

    interchange_peer.py run FOLDER program ...      run the GraphDefs that Penstock left there
    interchange_peer.py carry FOLDER program ...    leave GraphDefs and losses there
    interchange_peer.py nodes FOLDER program ...    leave the lines of the programs' graphs there
"""

import json
import os
import pickle
import sys

import tensorflow

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import program


def main(verb, folder, names):
    tf = tensorflow.compat.v1
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_eager_execution()
    target, result = "losses.json", {}
    for name in names:
        path = os.path.join(folder, name + ".pickle")
        if verb == "run":
            with open(path, "rb") as file:
                result[name] = program.run_carried(tf, pickle.load(file))
        elif verb == "carry":
            carried, result[name] = program.carry(tensorflow, name)
            with open(path, "wb") as file:
                pickle.dump(carried, file, protocol=4)
        else:
            target = "nodes.json"
            result[name] = program.graph_lines(tensorflow, name)
    with open(os.path.join(folder, target), "w") as out:
        json.dump(result, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
