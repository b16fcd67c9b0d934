// Softmax regression on handwritten digits, trained on a server.
//
//     build/softmax grpc://localhost:2222 FOLDER [STEPS]
//
// FOLDER has MNIST's files: train-images-idx3-ubyte and train-labels-idx1-ubyte.  A line of JSON
// tells the loss of each step.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "penstock/ops.hpp"
#include "penstock/session.hpp"

using namespace penstock;

namespace {

constexpr int kBatch = 100;
constexpr float kRate = 0.5f;

struct Idx {
  std::vector<std::size_t> sizes;
  std::vector<unsigned char> bytes;
};

Idx read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<unsigned char> all{std::istreambuf_iterator<char>(file), {}};
  Idx made;
  const std::size_t rank = all.at(3);
  for (std::size_t n = 0; n < rank; ++n) {
    const auto* at = &all.at(4 + 4 * n);
    made.sizes.push_back(std::size_t{at[0]} << 24 | at[1] << 16 | at[2] << 8 | at[3]);
  }
  made.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(4 + 4 * rank), all.end());
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string target = argc > 1 ? argv[1] : "grpc://localhost:2222";
  const std::string folder = argc > 2 ? argv[2] : ".";
  const int steps = argc > 3 ? std::stoi(argv[3]) : 100;
  const auto images = read(folder + "/train-images-idx3-ubyte");
  const auto labels = read(folder + "/train-labels-idx1-ubyte");
  const auto count = images.sizes[0], pixels = images.sizes[1] * images.sizes[2];
  const auto wide = static_cast<std::int64_t>(pixels);

  Graph graph;
  auto constant = [&](const Tensor& value) {
    return Const(graph, {.value = value, .dtype = value.dtype()});
  };
  auto zeros = [&](const std::vector<std::int32_t>& shape) {
    return Fill(graph, constant(tensor(shape, {static_cast<std::int64_t>(shape.size())})),
                constant(scalar(0.0f)));
  };
  const auto x = Placeholder(graph, {.name = "x", .dtype = tensorflow::DT_FLOAT, .shape = Dims{-1, wide}});
  const auto y = Placeholder(graph, {.name = "y", .dtype = tensorflow::DT_FLOAT, .shape = Dims{-1, 10}});
  const auto w = VariableV2(graph, {.name = "w", .shape = Dims{wide, 10}, .dtype = tensorflow::DT_FLOAT});
  const auto b = VariableV2(graph, {.name = "b", .shape = Dims{10}, .dtype = tensorflow::DT_FLOAT});
  const auto start_w = Assign(graph, w, zeros({static_cast<std::int32_t>(pixels), 10}));
  const auto start_b = Assign(graph, b, zeros({10}));

  const auto logits = BiasAdd(graph, MatMul(graph, x, w), b);
  const auto both = SoftmaxCrossEntropyWithLogits(graph, logits, y);
  const auto loss = Mean(graph, both[0], constant(tensor<std::int32_t>({0}, {1})));
  // The gradients, which this client writes down itself.
  const auto each = Mul(graph, both[1], constant(scalar(1.0f / kBatch)));
  const auto rate = constant(scalar(kRate));
  const auto train_w =
      ApplyGradientDescent(graph, w, rate, MatMul(graph, x, each, {.transpose_a = true}));
  const auto train_b = ApplyGradientDescent(graph, b, rate, BiasAddGrad(graph, each));

  Session session(graph, target);
  session.run({}, {start_w.op, start_b.op});
  for (int step = 0; step < steps; ++step) {
    std::vector<float> rows(kBatch * pixels), classes(kBatch * 10, 0.0f);
    for (std::size_t row = 0; row < kBatch; ++row) {
      const auto at = (static_cast<std::size_t>(step) * kBatch + row) % count;
      for (std::size_t p = 0; p < pixels; ++p) {
        rows[row * pixels + p] = static_cast<float>(images.bytes[at * pixels + p]) / 255.0f;
      }
      classes[row * 10 + labels.bytes[at]] = 1.0f;
    }
    const auto found = session.run({loss}, {train_w.op, train_b.op},
                                   {{x, tensor(rows, {kBatch, wide})}, {y, tensor(classes, {kBatch, 10})}});
    std::printf("{\"step\": %d, \"loss\": %.9g}\n", step, values<float>(found[0])[0]);
  }
  session.close();
}
