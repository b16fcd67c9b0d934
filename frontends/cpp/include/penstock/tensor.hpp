// Tensors: TensorProto messages made of values, and values of them.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/graph.hpp"

namespace penstock {

using Tensor = tensorflow::TensorProto;

template <class Value>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<Value, float>) return tensorflow::DT_FLOAT;
  else if constexpr (std::is_same_v<Value, double>) return tensorflow::DT_DOUBLE;
  else if constexpr (std::is_same_v<Value, std::int32_t>) return tensorflow::DT_INT32;
  else if constexpr (std::is_same_v<Value, std::int64_t>) return tensorflow::DT_INT64;
  else if constexpr (std::is_same_v<Value, std::uint8_t>) return tensorflow::DT_UINT8;
  else static_assert(sizeof(Value) == 0, "no tensors of this type");
}

// A tensor of values in the order of rows, on a machine whose numbers are little-endian.
template <class Value>
Tensor tensor(const std::vector<Value>& values, const Dims& shape) {
  std::size_t count = 1;
  for (auto size : shape) count *= static_cast<std::size_t>(size);
  if (count != values.size()) throw std::invalid_argument("the shape has another number of values");
  Tensor made;
  made.set_dtype(dtype_of<Value>());
  made.mutable_tensor_shape();
  fill(shape, made.mutable_tensor_shape());
  made.set_tensor_content(values.data(), values.size() * sizeof(Value));
  return made;
}

template <class Value>
Tensor scalar(Value value) {
  return tensor(std::vector<Value>{value}, {});
}

inline Tensor strings(const std::vector<std::string>& values, const Dims& shape) {
  Tensor made;
  made.set_dtype(tensorflow::DT_STRING);
  fill(shape, made.mutable_tensor_shape());
  for (const auto& each : values) made.add_string_val(each);
  return made;
}

// The values of a tensor that a server has sent.
template <class Value>
std::vector<Value> values(const Tensor& given) {
  if (given.dtype() != dtype_of<Value>()) throw std::invalid_argument("a tensor of another type");
  const auto& content = given.tensor_content();
  std::vector<Value> made(content.size() / sizeof(Value));
  std::memcpy(made.data(), content.data(), made.size() * sizeof(Value));
  return made;
}

}  // namespace penstock
