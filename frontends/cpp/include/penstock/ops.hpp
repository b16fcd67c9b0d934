// A function for each op. Written by frontends/generate.py from op definitions.
#pragma once

#include "penstock/graph.hpp"

namespace penstock {

struct AbsOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Abs(Graph& graph, const Output& x, const AbsOptions& options = {}) {
  Node node(graph, "Abs", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct AddOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Add(Graph& graph, const Output& x, const Output& y, const AddOptions& options = {}) {
  Node node(graph, "Add", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct AddNOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output AddN(Graph& graph, const std::vector<Output>& inputs, const AddNOptions& options = {}) {
  Node node(graph, "AddN", options.name, options.device);
  node.inputs(inputs, "N", "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ApplyAdamOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool use_locking = false;
  bool use_nesterov = false;
};
inline Output ApplyAdam(Graph& graph, const Output& var_, const Output& m, const Output& v, const Output& beta1_power, const Output& beta2_power, const Output& lr, const Output& beta1, const Output& beta2, const Output& epsilon, const Output& grad, const ApplyAdamOptions& options = {}) {
  Node node(graph, "ApplyAdam", options.name, options.device);
  node.input(var_, "T");
  node.input(m, "T");
  node.input(v, "T");
  node.input(beta1_power, "T");
  node.input(beta2_power, "T");
  node.input(lr, "T");
  node.input(beta1, "T");
  node.input(beta2, "T");
  node.input(epsilon, "T");
  node.input(grad, "T");
  node.after(options.after);
  node.attribute("use_locking", options.use_locking);
  node.attribute("use_nesterov", options.use_nesterov);
  return node.add({node.type("T")}).outputs[0];
}

struct ApplyGradientDescentOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool use_locking = false;
};
inline Output ApplyGradientDescent(Graph& graph, const Output& var_, const Output& alpha, const Output& delta, const ApplyGradientDescentOptions& options = {}) {
  Node node(graph, "ApplyGradientDescent", options.name, options.device);
  node.input(var_, "T");
  node.input(alpha, "T");
  node.input(delta, "T");
  node.after(options.after);
  node.attribute("use_locking", options.use_locking);
  return node.add({node.type("T")}).outputs[0];
}

struct ApplyMomentumOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool use_locking = false;
  bool use_nesterov = false;
};
inline Output ApplyMomentum(Graph& graph, const Output& var_, const Output& accum, const Output& lr, const Output& grad, const Output& momentum, const ApplyMomentumOptions& options = {}) {
  Node node(graph, "ApplyMomentum", options.name, options.device);
  node.input(var_, "T");
  node.input(accum, "T");
  node.input(lr, "T");
  node.input(grad, "T");
  node.input(momentum, "T");
  node.after(options.after);
  node.attribute("use_locking", options.use_locking);
  node.attribute("use_nesterov", options.use_nesterov);
  return node.add({node.type("T")}).outputs[0];
}

struct ArgMaxOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  DType output_type = tensorflow::DT_INT64;
};
inline Output ArgMax(Graph& graph, const Output& input, const Output& dimension, const ArgMaxOptions& options = {}) {
  Node node(graph, "ArgMax", options.name, options.device);
  node.input(input, "T");
  node.input(dimension, "Tidx");
  node.after(options.after);
  node.attribute("output_type", options.output_type);
  return node.add({node.type("output_type")}).outputs[0];
}

struct AssignOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool validate_shape = true;
  bool use_locking = true;
};
inline Output Assign(Graph& graph, const Output& ref, const Output& value, const AssignOptions& options = {}) {
  Node node(graph, "Assign", options.name, options.device);
  node.input(ref, "T");
  node.input(value, "T");
  node.after(options.after);
  node.attribute("validate_shape", options.validate_shape);
  node.attribute("use_locking", options.use_locking);
  return node.add({node.type("T")}).outputs[0];
}

struct AssignAddOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool use_locking = false;
};
inline Output AssignAdd(Graph& graph, const Output& ref, const Output& value, const AssignAddOptions& options = {}) {
  Node node(graph, "AssignAdd", options.name, options.device);
  node.input(ref, "T");
  node.input(value, "T");
  node.after(options.after);
  node.attribute("use_locking", options.use_locking);
  return node.add({node.type("T")}).outputs[0];
}

struct AssignSubOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool use_locking = false;
};
inline Output AssignSub(Graph& graph, const Output& ref, const Output& value, const AssignSubOptions& options = {}) {
  Node node(graph, "AssignSub", options.name, options.device);
  node.input(ref, "T");
  node.input(value, "T");
  node.after(options.after);
  node.attribute("use_locking", options.use_locking);
  return node.add({node.type("T")}).outputs[0];
}

struct AssignVariableOpOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline const Operation* AssignVariableOp(Graph& graph, const Output& resource, const Output& value, const AssignVariableOpOptions& options = {}) {
  Node node(graph, "AssignVariableOp", options.name, options.device);
  node.input(resource, nullptr);
  node.input(value, "dtype");
  node.after(options.after);
  return &node.add({});
}

struct BiasAddOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::string data_format = "NHWC";
};
inline Output BiasAdd(Graph& graph, const Output& value, const Output& bias, const BiasAddOptions& options = {}) {
  Node node(graph, "BiasAdd", options.name, options.device);
  node.input(value, "T");
  node.input(bias, "T");
  node.after(options.after);
  node.attribute("data_format", options.data_format);
  return node.add({node.type("T")}).outputs[0];
}

struct BiasAddGradOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::string data_format = "NHWC";
};
inline Output BiasAddGrad(Graph& graph, const Output& out_backprop, const BiasAddGradOptions& options = {}) {
  Node node(graph, "BiasAddGrad", options.name, options.device);
  node.input(out_backprop, "T");
  node.after(options.after);
  node.attribute("data_format", options.data_format);
  return node.add({node.type("T")}).outputs[0];
}

struct CastOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<DType> DstT = {};
  bool Truncate = false;
};
inline Output Cast(Graph& graph, const Output& x, const CastOptions& options) {
  Node node(graph, "Cast", options.name, options.device);
  node.input(x, "SrcT");
  node.after(options.after);
  node.attribute("DstT", options.DstT);
  node.attribute("Truncate", options.Truncate);
  return node.add({node.type("DstT")}).outputs[0];
}

struct ConcatV2Options {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output ConcatV2(Graph& graph, const std::vector<Output>& values, const Output& axis, const ConcatV2Options& options = {}) {
  Node node(graph, "ConcatV2", options.name, options.device);
  node.inputs(values, "N", "T");
  node.input(axis, "Tidx");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ConstOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<tensorflow::TensorProto> value = {};
  std::optional<DType> dtype = {};
};
inline Output Const(Graph& graph, const ConstOptions& options) {
  Node node(graph, "Const", options.name, options.device);
  node.after(options.after);
  node.attribute("value", options.value);
  node.attribute("dtype", options.dtype);
  return node.add({node.type("dtype")}).outputs[0];
}

struct Conv2DOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<std::vector<std::int64_t>> strides = {};
  bool use_cudnn_on_gpu = true;
  std::optional<std::string> padding = {};
  std::vector<std::int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<std::int64_t> dilations = {1, 1, 1, 1};
};
inline Output Conv2D(Graph& graph, const Output& input, const Output& filter, const Conv2DOptions& options) {
  Node node(graph, "Conv2D", options.name, options.device);
  node.input(input, "T");
  node.input(filter, "T");
  node.after(options.after);
  node.list("strides", options.strides);
  node.attribute("use_cudnn_on_gpu", options.use_cudnn_on_gpu);
  node.attribute("padding", options.padding);
  node.list("explicit_paddings", options.explicit_paddings);
  node.attribute("data_format", options.data_format);
  node.list("dilations", options.dilations);
  return node.add({node.type("T")}).outputs[0];
}

struct EqualOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool incompatible_shape_error = true;
};
inline Output Equal(Graph& graph, const Output& x, const Output& y, const EqualOptions& options = {}) {
  Node node(graph, "Equal", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  node.attribute("incompatible_shape_error", options.incompatible_shape_error);
  return node.add({tensorflow::DT_BOOL}).outputs[0];
}

struct ExpOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Exp(Graph& graph, const Output& x, const ExpOptions& options = {}) {
  Node node(graph, "Exp", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ExpandDimsOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output ExpandDims(Graph& graph, const Output& input, const Output& dim, const ExpandDimsOptions& options = {}) {
  Node node(graph, "ExpandDims", options.name, options.device);
  node.input(input, "T");
  node.input(dim, "Tdim");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct FillOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Fill(Graph& graph, const Output& dims, const Output& value, const FillOptions& options = {}) {
  Node node(graph, "Fill", options.name, options.device);
  node.input(dims, "index_type");
  node.input(value, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct FloorDivOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output FloorDiv(Graph& graph, const Output& x, const Output& y, const FloorDivOptions& options = {}) {
  Node node(graph, "FloorDiv", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct GatherV2Options {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::int64_t batch_dims = 0;
};
inline Output GatherV2(Graph& graph, const Output& params, const Output& indices, const Output& axis, const GatherV2Options& options = {}) {
  Node node(graph, "GatherV2", options.name, options.device);
  node.input(params, "Tparams");
  node.input(indices, "Tindices");
  node.input(axis, "Taxis");
  node.after(options.after);
  node.attribute("batch_dims", options.batch_dims);
  return node.add({node.type("Tparams")}).outputs[0];
}

struct GreaterOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Greater(Graph& graph, const Output& x, const Output& y, const GreaterOptions& options = {}) {
  Node node(graph, "Greater", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({tensorflow::DT_BOOL}).outputs[0];
}

struct IdentityOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Identity(Graph& graph, const Output& input, const IdentityOptions& options = {}) {
  Node node(graph, "Identity", options.name, options.device);
  node.input(input, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct LessOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Less(Graph& graph, const Output& x, const Output& y, const LessOptions& options = {}) {
  Node node(graph, "Less", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({tensorflow::DT_BOOL}).outputs[0];
}

struct LogOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Log(Graph& graph, const Output& x, const LogOptions& options = {}) {
  Node node(graph, "Log", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct MatMulOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool transpose_a = false;
  bool transpose_b = false;
};
inline Output MatMul(Graph& graph, const Output& a, const Output& b, const MatMulOptions& options = {}) {
  Node node(graph, "MatMul", options.name, options.device);
  node.input(a, "T");
  node.input(b, "T");
  node.after(options.after);
  node.attribute("transpose_a", options.transpose_a);
  node.attribute("transpose_b", options.transpose_b);
  return node.add({node.type("T")}).outputs[0];
}

struct MaxOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool keep_dims = false;
};
inline Output Max(Graph& graph, const Output& input, const Output& reduction_indices, const MaxOptions& options = {}) {
  Node node(graph, "Max", options.name, options.device);
  node.input(input, "T");
  node.input(reduction_indices, "Tidx");
  node.after(options.after);
  node.attribute("keep_dims", options.keep_dims);
  return node.add({node.type("T")}).outputs[0];
}

struct MaxPoolOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<std::vector<std::int64_t>> ksize = {};
  std::optional<std::vector<std::int64_t>> strides = {};
  std::optional<std::string> padding = {};
  std::string data_format = "NHWC";
};
inline Output MaxPool(Graph& graph, const Output& input, const MaxPoolOptions& options) {
  Node node(graph, "MaxPool", options.name, options.device);
  node.input(input, "T");
  node.after(options.after);
  node.list("ksize", options.ksize);
  node.list("strides", options.strides);
  node.attribute("padding", options.padding);
  node.attribute("data_format", options.data_format);
  return node.add({node.type("T")}).outputs[0];
}

struct MaximumOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Maximum(Graph& graph, const Output& x, const Output& y, const MaximumOptions& options = {}) {
  Node node(graph, "Maximum", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct MeanOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool keep_dims = false;
};
inline Output Mean(Graph& graph, const Output& input, const Output& reduction_indices, const MeanOptions& options = {}) {
  Node node(graph, "Mean", options.name, options.device);
  node.input(input, "T");
  node.input(reduction_indices, "Tidx");
  node.after(options.after);
  node.attribute("keep_dims", options.keep_dims);
  return node.add({node.type("T")}).outputs[0];
}

struct MinOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool keep_dims = false;
};
inline Output Min(Graph& graph, const Output& input, const Output& reduction_indices, const MinOptions& options = {}) {
  Node node(graph, "Min", options.name, options.device);
  node.input(input, "T");
  node.input(reduction_indices, "Tidx");
  node.after(options.after);
  node.attribute("keep_dims", options.keep_dims);
  return node.add({node.type("T")}).outputs[0];
}

struct MinimumOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Minimum(Graph& graph, const Output& x, const Output& y, const MinimumOptions& options = {}) {
  Node node(graph, "Minimum", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct MulOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Mul(Graph& graph, const Output& x, const Output& y, const MulOptions& options = {}) {
  Node node(graph, "Mul", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct NegOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Neg(Graph& graph, const Output& x, const NegOptions& options = {}) {
  Node node(graph, "Neg", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct NoOpOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline const Operation* NoOp(Graph& graph, const NoOpOptions& options = {}) {
  Node node(graph, "NoOp", options.name, options.device);
  node.after(options.after);
  return &node.add({});
}

struct PackOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::int64_t axis = 0;
};
inline Output Pack(Graph& graph, const std::vector<Output>& values, const PackOptions& options = {}) {
  Node node(graph, "Pack", options.name, options.device);
  node.inputs(values, "N", "T");
  node.after(options.after);
  node.attribute("axis", options.axis);
  return node.add({node.type("T")}).outputs[0];
}

struct PlaceholderOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<DType> dtype = {};
  std::optional<Dims> shape = {};
};
inline Output Placeholder(Graph& graph, const PlaceholderOptions& options) {
  Node node(graph, "Placeholder", options.name, options.device);
  node.after(options.after);
  node.attribute("dtype", options.dtype);
  node.attribute("shape", options.shape);
  return node.add({node.type("dtype")}).outputs[0];
}

struct PowOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Pow(Graph& graph, const Output& x, const Output& y, const PowOptions& options = {}) {
  Node node(graph, "Pow", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct RandomStandardNormalOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::int64_t seed = 0;
  std::int64_t seed2 = 0;
  std::optional<DType> dtype = {};
};
inline Output RandomStandardNormal(Graph& graph, const Output& shape, const RandomStandardNormalOptions& options) {
  Node node(graph, "RandomStandardNormal", options.name, options.device);
  node.input(shape, "T");
  node.after(options.after);
  node.attribute("seed", options.seed);
  node.attribute("seed2", options.seed2);
  node.attribute("dtype", options.dtype);
  return node.add({node.type("dtype")}).outputs[0];
}

struct RandomUniformOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::int64_t seed = 0;
  std::int64_t seed2 = 0;
  std::optional<DType> dtype = {};
};
inline Output RandomUniform(Graph& graph, const Output& shape, const RandomUniformOptions& options) {
  Node node(graph, "RandomUniform", options.name, options.device);
  node.input(shape, "T");
  node.after(options.after);
  node.attribute("seed", options.seed);
  node.attribute("seed2", options.seed2);
  node.attribute("dtype", options.dtype);
  return node.add({node.type("dtype")}).outputs[0];
}

struct ReadVariableOpOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<DType> dtype = {};
};
inline Output ReadVariableOp(Graph& graph, const Output& resource, const ReadVariableOpOptions& options) {
  Node node(graph, "ReadVariableOp", options.name, options.device);
  node.input(resource, nullptr);
  node.after(options.after);
  node.attribute("dtype", options.dtype);
  return node.add({node.type("dtype")}).outputs[0];
}

struct RealDivOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output RealDiv(Graph& graph, const Output& x, const Output& y, const RealDivOptions& options = {}) {
  Node node(graph, "RealDiv", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ReluOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Relu(Graph& graph, const Output& features, const ReluOptions& options = {}) {
  Node node(graph, "Relu", options.name, options.device);
  node.input(features, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ReluGradOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output ReluGrad(Graph& graph, const Output& gradients, const Output& features, const ReluGradOptions& options = {}) {
  Node node(graph, "ReluGrad", options.name, options.device);
  node.input(gradients, "T");
  node.input(features, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ReshapeOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Reshape(Graph& graph, const Output& tensor, const Output& shape, const ReshapeOptions& options = {}) {
  Node node(graph, "Reshape", options.name, options.device);
  node.input(tensor, "T");
  node.input(shape, "Tshape");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct RsqrtOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Rsqrt(Graph& graph, const Output& x, const RsqrtOptions& options = {}) {
  Node node(graph, "Rsqrt", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SelectOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Select(Graph& graph, const Output& condition, const Output& t, const Output& e, const SelectOptions& options = {}) {
  Node node(graph, "Select", options.name, options.device);
  node.input(condition, nullptr);
  node.input(t, "T");
  node.input(e, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct ShapeOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  DType out_type = tensorflow::DT_INT32;
};
inline Output Shape(Graph& graph, const Output& input, const ShapeOptions& options = {}) {
  Node node(graph, "Shape", options.name, options.device);
  node.input(input, "T");
  node.after(options.after);
  node.attribute("out_type", options.out_type);
  return node.add({node.type("out_type")}).outputs[0];
}

struct SigmoidOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Sigmoid(Graph& graph, const Output& x, const SigmoidOptions& options = {}) {
  Node node(graph, "Sigmoid", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SignOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Sign(Graph& graph, const Output& x, const SignOptions& options = {}) {
  Node node(graph, "Sign", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SoftmaxOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Softmax(Graph& graph, const Output& logits, const SoftmaxOptions& options = {}) {
  Node node(graph, "Softmax", options.name, options.device);
  node.input(logits, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SoftmaxCrossEntropyWithLogitsOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline std::vector<Output> SoftmaxCrossEntropyWithLogits(Graph& graph, const Output& features, const Output& labels, const SoftmaxCrossEntropyWithLogitsOptions& options = {}) {
  Node node(graph, "SoftmaxCrossEntropyWithLogits", options.name, options.device);
  node.input(features, "T");
  node.input(labels, "T");
  node.after(options.after);
  return node.add({node.type("T"), node.type("T")}).outputs;
}

struct SparseSoftmaxCrossEntropyWithLogitsOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline std::vector<Output> SparseSoftmaxCrossEntropyWithLogits(Graph& graph, const Output& features, const Output& labels, const SparseSoftmaxCrossEntropyWithLogitsOptions& options = {}) {
  Node node(graph, "SparseSoftmaxCrossEntropyWithLogits", options.name, options.device);
  node.input(features, "T");
  node.input(labels, "Tlabels");
  node.after(options.after);
  return node.add({node.type("T"), node.type("T")}).outputs;
}

struct SqrtOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Sqrt(Graph& graph, const Output& x, const SqrtOptions& options = {}) {
  Node node(graph, "Sqrt", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SquareOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Square(Graph& graph, const Output& x, const SquareOptions& options = {}) {
  Node node(graph, "Square", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SqueezeOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::vector<std::int64_t> squeeze_dims = {};
};
inline Output Squeeze(Graph& graph, const Output& input, const SqueezeOptions& options = {}) {
  Node node(graph, "Squeeze", options.name, options.device);
  node.input(input, "T");
  node.after(options.after);
  node.list("squeeze_dims", options.squeeze_dims);
  return node.add({node.type("T")}).outputs[0];
}

struct SubOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Sub(Graph& graph, const Output& x, const Output& y, const SubOptions& options = {}) {
  Node node(graph, "Sub", options.name, options.device);
  node.input(x, "T");
  node.input(y, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct SumOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  bool keep_dims = false;
};
inline Output Sum(Graph& graph, const Output& input, const Output& reduction_indices, const SumOptions& options = {}) {
  Node node(graph, "Sum", options.name, options.device);
  node.input(input, "T");
  node.input(reduction_indices, "Tidx");
  node.after(options.after);
  node.attribute("keep_dims", options.keep_dims);
  return node.add({node.type("T")}).outputs[0];
}

struct TanhOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Tanh(Graph& graph, const Output& x, const TanhOptions& options = {}) {
  Node node(graph, "Tanh", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct TransposeOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output Transpose(Graph& graph, const Output& x, const Output& perm, const TransposeOptions& options = {}) {
  Node node(graph, "Transpose", options.name, options.device);
  node.input(x, "T");
  node.input(perm, "Tperm");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

struct VarHandleOpOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::string container = "";
  std::string shared_name = "";
  std::optional<DType> dtype = {};
  std::optional<Dims> shape = {};
};
inline Output VarHandleOp(Graph& graph, const VarHandleOpOptions& options) {
  Node node(graph, "VarHandleOp", options.name, options.device);
  node.after(options.after);
  node.attribute("container", options.container);
  node.attribute("shared_name", options.shared_name);
  node.attribute("dtype", options.dtype);
  node.attribute("shape", options.shape);
  return node.add({tensorflow::DT_RESOURCE}).outputs[0];
}

struct VariableV2Options {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
  std::optional<Dims> shape = {};
  std::optional<DType> dtype = {};
  std::string container = "";
  std::string shared_name = "";
};
inline Output VariableV2(Graph& graph, const VariableV2Options& options) {
  Node node(graph, "VariableV2", options.name, options.device);
  node.after(options.after);
  node.attribute("shape", options.shape);
  node.attribute("dtype", options.dtype);
  node.attribute("container", options.container);
  node.attribute("shared_name", options.shared_name);
  return node.add({node.type("dtype")}).outputs[0];
}

struct ZerosLikeOptions {
  std::string name = {};
  std::string device = {};
  std::vector<const Operation*> after = {};
};
inline Output ZerosLike(Graph& graph, const Output& x, const ZerosLikeOptions& options = {}) {
  Node node(graph, "ZerosLike", options.name, options.device);
  node.input(x, "T");
  node.after(options.after);
  return node.add({node.type("T")}).outputs[0];
}

}  // namespace penstock
