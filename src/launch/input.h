// launch/input.h
// The caller's standard input copied into the job's pipe (the payload never holds a descriptor of
// the caller, RT-07), one small chunk at a time and only when the job takes it.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::launch {

class InputStream {
 public:
  // `source` is borrowed; `sink` is our end of the job's pipe or a pty master's duplicate.
  InputStream(int source, UniqueFd sink) : source_(source), sink_(std::move(sink)) {}

  bool wants_source() const { return sink_.valid() && pending_.empty(); }
  bool wants_sink() const { return sink_.valid() && !pending_.empty(); }
  int source() const { return source_; }
  int sink() const { return sink_.get(); }

  // Call when poll says the source is readable, or the sink writable (or either is broken).
  Result<> OnSource();
  Result<> OnSink();
  void Close() { sink_.Reset(); }
  bool moved() const { return moved_; }
  void ResetMoved() { moved_ = false; }

 private:
  int source_;
  UniqueFd sink_;
  std::string pending_;
  bool moved_ = false;
};

}  // namespace bawn::launch
