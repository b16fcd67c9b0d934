// Graphs: nodes with names, inputs and attrs, as a GraphDef has them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "messages.pb.h"

namespace penstock {

using DType = tensorflow::DataType;
// A size of -1 is not known.
using Dims = std::vector<std::int64_t>;

struct Operation;

// One output of a node.
struct Output {
  const Operation* op = nullptr;
  int index = 0;
  DType dtype = tensorflow::DT_INVALID;

  // "node:0", by which it is fed and fetched.
  std::string name() const;
};

// A node; it lives as long as its graph.
struct Operation {
  tensorflow::NodeDef message;
  std::vector<Output> outputs;

  const std::string& name() const { return message.name(); }
};

inline std::string Output::name() const { return op->name() + ":" + std::to_string(index); }

// A graph that grows; nodes do not change.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // In the order in which they were made; their addresses stay.
  const std::deque<Operation>& operations() const { return operations_; }

  // The nodes from one on.
  tensorflow::GraphDef message(std::size_t from) const {
    tensorflow::GraphDef made;
    made.mutable_versions()->set_producer(134);
    for (auto at = from; at < operations_.size(); ++at) *made.add_node() = operations_[at].message;
    return made;
  }

  Operation& add(Operation operation) {
    operations_.push_back(std::move(operation));
    return operations_.back();
  }

  std::string unique(std::string name) {
    for (int& count = taken_[name]; count++ > 0;) return unique(name + "_" + std::to_string(count - 1));
    return name;
  }

 private:
  std::deque<Operation> operations_;
  std::map<std::string, int> taken_;
};

inline void fill(const Dims& shape, tensorflow::TensorShapeProto* message) {
  for (auto size : shape) message->add_dim()->set_size(size);
}

// Makes a node; the functions of ops.hpp use it.
class Node {
 public:
  Node(Graph& graph, const char* type, const std::string& name, const std::string& device)
      : graph_(graph) {
    message().set_op(type);
    message().set_name(graph.unique(name.empty() ? type : name));
    message().set_device(device);
  }

  // An input whose kind is an attr, which its type tells, or a type.
  void input(const Output& given, const char* attr) {
    message().add_input(given.index == 0 ? given.op->name() : given.name());
    if (attr != nullptr) told(attr, given.dtype);
  }

  // `count` inputs of one kind.
  void inputs(const std::vector<Output>& given, const char* count, const char* attr) {
    for (const auto& each : given) input(each, attr);
    attribute(count, static_cast<std::int64_t>(given.size()));
  }

  void after(const std::vector<const Operation*>& given) {
    for (const auto* each : given) message().add_input("^" + each->name());
  }

  void attribute(const char* key, bool value) { at(key).set_b(value); }
  void attribute(const char* key, std::int64_t value) { at(key).set_i(value); }
  void attribute(const char* key, float value) { at(key).set_f(value); }
  void attribute(const char* key, const std::string& value) { at(key).set_s(value); }
  void attribute(const char* key, const Dims& value) { fill(value, at(key).mutable_shape()); }
  void attribute(const char* key, const tensorflow::TensorProto& value) {
    *at(key).mutable_tensor() = value;
  }
  // The type of an input says more than an option.
  void attribute(const char* key, DType value) {
    if (!message().attr().contains(key)) at(key).set_type(value);
  }
  void list(const char* key, const std::vector<std::int64_t>& value) {
    auto* made = at(key).mutable_list();
    for (auto each : value) made->add_i(each);
  }
  template <class Value>
  void attribute(const char* key, const std::optional<Value>& value) {
    if (!value) throw std::invalid_argument(message().op() + " needs " + key);
    attribute(key, *value);
  }
  template <class Value>
  void list(const char* key, const std::optional<Value>& value) {
    if (!value) throw std::invalid_argument(message().op() + " needs " + key);
    list(key, *value);
  }

  DType type(const char* key) { return at(key).type(); }

  // Adds it; one output for each type.
  Operation& add(const std::vector<DType>& types) {
    auto& made = graph_.add(std::move(operation_));
    for (auto each : types) made.outputs.push_back({&made, static_cast<int>(made.outputs.size()), each});
    return made;
  }

 private:
  tensorflow::NodeDef& message() { return operation_.message; }
  tensorflow::AttrValue& at(const char* key) { return (*message().mutable_attr())[key]; }

  void told(const char* attr, DType dtype) {
    auto& value = at(attr);
    if (value.value_case() == tensorflow::AttrValue::kType && value.type() != dtype) {
      throw std::invalid_argument(message().op() + " takes one type for " + attr);
    }
    value.set_type(dtype);
  }

  Graph& graph_;
  Operation operation_;
};

}  // namespace penstock
