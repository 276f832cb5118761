// service/worker_client.h
// Runs bawn-worker for one session. The worker parses what the payload wrote, in a process of its
// own; this side only reads JSON under limits (wire/worker.h).
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "service/context.h"

namespace bawn::service {

// `confirm` is asked with the Prepared answer of publish and apply; false ends the session with
// nothing done (kFailedPrecondition "not confirmed"). `text_fd` is the worker's descriptor 1,
// `objects_fd` its descriptor 4.
Result<Json> CallWorker(const Caller& caller, JsonObject request, int text_fd,
                        const std::function<bool(const Json&)>& confirm = {}, int objects_fd = -1);

}  // namespace bawn::service
