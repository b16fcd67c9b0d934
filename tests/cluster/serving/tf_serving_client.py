"""TensorFlow Serving's own client, run by the peers' Python: prints what a server answers, as JSON.

``python tf_serving_client.py ADDRESS`` asks the models of ``models_of_tests`` by the stubs and
messages of the package tensorflow-serving-api.
"""

import json
import sys

import grpc
import tensorflow as tf
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)


def example(**features):
    made = tf.train.Example()
    for name, value in features.items():
        made.features.feature[name].float_list.value.append(value)
    return made


def main(address):
    channel = grpc.insecure_channel(address)
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    found = {}

    request = predict_pb2.PredictRequest()
    request.model_spec.name = "scaled"
    request.model_spec.version.value = 1
    request.inputs["x"].CopyFrom(tf.make_tensor_proto([[1.0, 2.0, 3.0]]))
    answer = stub.Predict(request, 60)
    found["predict"] = {k: tf.make_ndarray(v).tolist() for k, v in answer.outputs.items()}
    found["version"] = answer.model_spec.version.value

    words = predict_pb2.PredictRequest()
    words.model_spec.name, words.model_spec.signature_name = "examples", "words"
    words.inputs["words"].CopyFrom(tf.make_tensor_proto([b"a", b"b"]))
    words.output_filter.append("joined")
    answer = stub.Predict(words, 60)
    found["words"] = {
        k: [one.decode() for one in tf.make_ndarray(v).tolist()] for k, v in answer.outputs.items()
    }

    classify = classification_pb2.ClassificationRequest()
    classify.model_spec.name = "examples"
    classify.input.example_list.examples.append(example(v=0.25))
    classes = stub.Classify(classify, 60).result.classifications[0].classes
    found["classify"] = [[c.label, c.score] for c in classes]

    regress = regression_pb2.RegressionRequest()
    regress.model_spec.name, regress.model_spec.signature_name = "examples", "value"
    some = regress.input.example_list_with_context
    some.context.CopyFrom(example(b=0.5))
    some.examples.append(example(v=0.25))
    found["regress"] = [r.value for r in stub.Regress(regress, 60).result.regressions]

    several = inference_pb2.MultiInferenceRequest(input=classify.input)
    task = several.tasks.add(method_name="tensorflow/serving/regress")
    task.model_spec.name, task.model_spec.signature_name = "examples", "value"
    answer = stub.MultiInference(several, 60)
    found["several"] = [r.value for r in answer.results[0].regression_result.regressions]

    metadata = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    metadata.model_spec.name = "scaled"
    signatures = get_model_metadata_pb2.SignatureDefMap()
    stub.GetModelMetadata(metadata, 60).metadata["signature_def"].Unpack(signatures)
    found["metadata"] = sorted(signatures.signature_def["serving_default"].outputs)

    status = get_model_status_pb2.GetModelStatusRequest()
    status.model_spec.name = "scaled"
    answer = model_service_pb2_grpc.ModelServiceStub(channel).GetModelStatus(status, 60)
    (row,) = answer.model_version_status
    state = get_model_status_pb2.ModelVersionStatus.State.Name(row.state)
    found["status"] = [row.version, state, row.status.error_code]

    request.model_spec.version.value = 7
    try:
        stub.Predict(request, 60)
    except grpc.RpcError as error:
        found["error"] = error.code().name
    print(json.dumps(found))


main(sys.argv[1])
