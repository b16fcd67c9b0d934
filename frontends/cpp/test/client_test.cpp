// Run with a server's target: each check that fails is said, and counts.

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "penstock/ops.hpp"
#include "penstock/session.hpp"

using namespace penstock;

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  if (!holds) std::printf("failed: %s\n", what);
  failures += !holds;
}

int code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const StepError& error) {
    return error.code;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Graph graph;
  Session session(graph, argv[1]);
  session.reset();
  auto constant = [&](const Tensor& value) {
    return Const(graph, {.value = value, .dtype = value.dtype()});
  };
  auto floats = [&](const Output& wanted, const Feed& feed = {}) {
    return values<float>(session.run({wanted}, {}, feed).at(0));
  };

  const auto a = constant(tensor<float>({1, 2, 3, 4}, {2, 2}));
  const auto again = constant(scalar(1.0f));
  check(a.op->name() == "Const" && again.op->name() == "Const_1", "names are unique");
  check(floats(MatMul(graph, a, a, {.transpose_b = true})) == std::vector<float>{5, 11, 11, 25},
        "attrs have options");
  const auto one = constant(scalar<std::int32_t>(1));
  check(floats(ConcatV2(graph, {a, a}, one)) == std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4},
        "inputs that are lists");
  check(floats(AddN(graph, {a, a, a})) == std::vector<float>{3, 6, 9, 12}, "one input that is a list");
  check(Equal(graph, a, a).dtype == tensorflow::DT_BOOL, "types of outputs");
  const auto wide = Cast(graph, a, {.DstT = tensorflow::DT_INT64});
  check(values<std::int64_t>(session.run({wide})[0]) == std::vector<std::int64_t>{1, 2, 3, 4},
        "types that options tell");
  const auto text = session.run({constant(strings({"a", "\xff"}, {2}))})[0];
  check(text.string_val(0) == "a" && text.string_val(1) == "\xff", "strings");

  bool refused = false;
  try {
    Add(graph, a, one);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused, "inputs of one attr have one type");
  refused = false;
  try {
    Placeholder(graph, {});
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  check(refused, "attrs without a default must be given");

  const auto v = VarHandleOp(
      graph, {.name = "v", .shared_name = "v", .dtype = tensorflow::DT_FLOAT, .shape = Dims{}});
  session.run({}, {AssignVariableOp(graph, v, constant(scalar(3.0f)))});
  const auto read = ReadVariableOp(graph, v, {.dtype = tensorflow::DT_FLOAT});
  const auto* twice = AssignVariableOp(graph, v, Mul(graph, read, constant(scalar(2.0f))));
  check(floats(ReadVariableOp(graph, v, {.after = {twice}, .dtype = tensorflow::DT_FLOAT})) ==
            std::vector<float>{6},
        "state stays, nodes run after others");

  const auto x = Placeholder(graph, {.dtype = tensorflow::DT_FLOAT, .shape = Dims{-1}});
  check(floats(Sqrt(graph, x), {{x, tensor<float>({4, 9}, {2})}}) == std::vector<float>{2, 3}, "feeds");
  check(code_of([&] { session.run({x}); }) == 3, "what is not fed is an invalid argument");
  check(code_of([&] { Session(graph, argv[1]).run({x}, {}, {{x, scalar(1.0f)}}); }) == 3,
        "a shape that does not fit is an invalid argument");
  check(!session.devices().empty(), "devices");
  session.close();
  std::printf("%d failed\n", failures);
  return failures != 0;
}
