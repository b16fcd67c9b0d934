// Sessions on a server, by TensorFlow's MasterService.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "messages.grpc.pb.h"
#include "penstock/graph.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

// What a server says is wrong: a canonical code (3 is an invalid argument) and a message.
class StepError : public std::runtime_error {
 public:
  StepError(int code, const std::string& message) : std::runtime_error(message), code(code) {}
  const int code;
};

using Feed = std::vector<std::pair<Output, Tensor>>;

// Runs steps of a graph; the server gets what it lacks of the graph before each.  Steps may run in
// several threads; the graph must not grow meanwhile.
class Session {
 public:
  // The target is "grpc://host:port".
  Session(const Graph& graph, const std::string& target) : graph_(graph), target_(target) {
    const std::string scheme = "grpc://";
    auto address = target.rfind(scheme, 0) == 0 ? target.substr(scheme.size()) : target;
    grpc::ChannelArguments options;
    options.SetMaxReceiveMessageSize(-1);
    options.SetMaxSendMessageSize(-1);
    stub_ = tensorflow::MasterService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), options));
  }

  // The values of outputs, after the nodes of `targets` have run too.
  std::vector<Tensor> run(const std::vector<Output>& fetches,
                          const std::vector<const Operation*>& targets = {}, const Feed& feed = {},
                          std::chrono::milliseconds time = {}) {
    grow();
    tensorflow::RunStepRequest request;
    request.set_session_handle(handle_);
    request.set_store_errors_in_response_body(true);
    request.mutable_options()->set_timeout_in_ms(time.count());
    for (const auto& [output, value] : feed) {
      auto* made = request.add_feed();
      made->set_name(output.name());
      *made->mutable_tensor() = value;
    }
    for (const auto& each : fetches) request.add_fetch(each.name());
    for (const auto* each : targets) request.add_target(each->name());
    tensorflow::RunStepResponse response;
    call(&tensorflow::MasterService::Stub::RunStep, request, &response);
    if (response.status_code() != 0) {
      throw StepError(response.status_code(), response.status_error_message());
    }
    std::vector<Tensor> found;
    for (auto& each : *response.mutable_tensor()) found.push_back(std::move(*each.mutable_tensor()));
    return found;
  }

  std::vector<std::string> devices() {
    grow();
    tensorflow::ListDevicesRequest request;
    request.set_session_handle(handle_);
    tensorflow::ListDevicesResponse response;
    call(&tensorflow::MasterService::Stub::ListDevices, request, &response);
    std::vector<std::string> found;
    for (const auto& each : response.local_device()) found.push_back(each.name());
    for (const auto& each : response.remote_device()) found.push_back(each.name());
    return found;
  }

  // Ends the session; state stays with the server.
  void close() {
    if (handle_.empty()) return;
    tensorflow::CloseSessionRequest request;
    request.set_session_handle(std::exchange(handle_, ""));
    tensorflow::CloseSessionResponse response;
    call(&tensorflow::MasterService::Stub::CloseSession, request, &response);
  }

  // Drops all state of the server's cluster, and ends all sessions there.
  void reset() {
    tensorflow::ResetResponse response;
    call(&tensorflow::MasterService::Stub::Reset, tensorflow::ResetRequest(), &response);
    handle_.clear();
    sent_ = 0;
  }

 private:
  void grow() {
    std::lock_guard<std::mutex> one_at_a_time(growing_);
    const auto count = graph_.operations().size();
    if (handle_.empty()) {
      tensorflow::CreateSessionRequest request;
      *request.mutable_graph_def() = graph_.message(0);
      request.set_target(target_);
      tensorflow::CreateSessionResponse response;
      call(&tensorflow::MasterService::Stub::CreateSession, request, &response);
      handle_ = response.session_handle();
      version_ = response.graph_version();
    } else if (count != sent_) {
      tensorflow::ExtendSessionRequest request;
      request.set_session_handle(handle_);
      *request.mutable_graph_def() = graph_.message(sent_);
      request.set_current_graph_version(version_);
      tensorflow::ExtendSessionResponse response;
      call(&tensorflow::MasterService::Stub::ExtendSession, request, &response);
      version_ = response.new_graph_version();
    }
    sent_ = count;
  }

  template <class Method, class Request, class Response>
  void call(Method method, const Request& request, Response* response) {
    grpc::ClientContext context;
    const auto status = (stub_.get()->*method)(&context, request, response);
    if (!status.ok()) throw StepError(status.error_code(), status.error_message());
  }

  const Graph& graph_;
  const std::string target_;
  std::unique_ptr<tensorflow::MasterService::Stub> stub_;
  std::mutex growing_;
  std::string handle_;
  std::int64_t version_ = 0;
  std::size_t sent_ = 0;
};

}  // namespace penstock
