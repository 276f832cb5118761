#include "wire/control.h"

#include "wire/codec.h"

namespace bawn::wire {
namespace {

// Text fields are cut, not refused: init reports what it can within its frame.
constexpr size_t kTextBytesMax = 400;
constexpr size_t kLayersMax = 32;

void Put(Writer& w, const std::string& text) { w.Bytes(text.substr(0, kTextBytesMax)); }

void Put(Writer& w, const std::vector<LayerFact>& facts) {
  BAWN_ASSERT(facts.size() <= kLayersMax);
  w.Uint(static_cast<uint32_t>(facts.size()));
  for (const LayerFact& fact : facts) {
    Put(w, fact.name);
    w.Enum(fact.state);
    Put(w, fact.verified_by);
  }
}

std::vector<LayerFact> GetFacts(Reader& r) {
  std::vector<LayerFact> facts(r.Count(9, kLayersMax));
  for (LayerFact& fact : facts) {
    fact.name = r.Bytes(kTextBytesMax);
    fact.state = r.Enum(LayerState::kOff);
    fact.verified_by = r.Bytes(kTextBytesMax);
  }
  return facts;
}

template <class Variant>
Result<Variant> Finished(const Reader& r, Variant message) {
  BAWN_CHECK_OK(r.Finish());
  return message;
}

struct BodyWriter {
  Writer& w;
  void operator()(const Proceed&) {}
  void operator()(const StartJob& m) { w.Uint(m.job); }
  void operator()(const SignalJob& m) { w.Uint(m.job), w.Uint(m.signal); }
  void operator()(const KillJob& m) { w.Uint(m.job); }
  void operator()(const Ready& m) { Put(w, m.layers); }
  void operator()(const SetupFailed& m) { Put(w, m.stage), w.Uint(m.sys_errno), Put(w, m.text); }
  void operator()(const JobStarted& m) { w.Uint(m.job), Put(w, m.canaries); }
  void operator()(const JobFailed& m) {
    w.Uint(m.job), Put(w, m.stage), w.Uint(m.sys_errno), Put(w, m.text);
  }
  void operator()(const JobExited& m) {
    w.Uint(m.job), w.Uint(m.status), w.Uint(m.cpu_us), w.Uint(m.memory_peak_bytes), w.Uint(m.left);
  }
  void operator()(const JobKilled& m) { w.Uint(m.job), w.Bool(m.gone); }
  void operator()(const TreeKilled& m) { w.Uint(m.by); }
};

template <class Variant>
std::string EncodeAny(const Variant& message) {
  Writer w;
  w.Uint(static_cast<uint8_t>(message.index()));
  std::visit(BodyWriter{w}, message);
  BAWN_ASSERT(w.bytes().size() <= kControlFrameBytesMax);
  return w.Take();
}

}  // namespace

std::string Encode(const ToInit& message) { return EncodeAny(message); }
std::string Encode(const FromInit& message) { return EncodeAny(message); }

Result<ToInit> DecodeToInit(std::string_view bytes) {
  Reader r(bytes);
  switch (r.Uint<uint8_t>()) {
    case 0:
      return Finished<ToInit>(r, Proceed{});
    case 1: {
      StartJob m{.job = r.Uint<uint32_t>()};
      return Finished<ToInit>(r, m);
    }
    case 2: {
      SignalJob m;
      m.job = r.Uint<uint32_t>();
      m.signal = r.Uint<uint32_t>();
      return Finished<ToInit>(r, m);
    }
    case 3: {
      KillJob m{.job = r.Uint<uint32_t>()};
      return Finished<ToInit>(r, m);
    }
    default:
      return Fail(ErrorCode::kInternal, "unknown frame to init");
  }
}

Result<FromInit> DecodeFromInit(std::string_view bytes) {
  Reader r(bytes);
  switch (r.Uint<uint8_t>()) {
    case 0: {
      Ready m{.layers = GetFacts(r)};
      return Finished<FromInit>(r, m);
    }
    case 1: {
      SetupFailed m;
      m.stage = r.Bytes(kTextBytesMax);
      m.sys_errno = r.Uint<uint32_t>();
      m.text = r.Bytes(kTextBytesMax);
      return Finished<FromInit>(r, m);
    }
    case 2: {
      JobStarted m;
      m.job = r.Uint<uint32_t>();
      m.canaries = GetFacts(r);
      return Finished<FromInit>(r, m);
    }
    case 3: {
      JobFailed m;
      m.job = r.Uint<uint32_t>();
      m.stage = r.Bytes(kTextBytesMax);
      m.sys_errno = r.Uint<uint32_t>();
      m.text = r.Bytes(kTextBytesMax);
      return Finished<FromInit>(r, m);
    }
    case 4: {
      JobExited m;
      m.job = r.Uint<uint32_t>();
      m.status = r.Uint<uint32_t>();
      m.cpu_us = r.Uint<uint64_t>();
      m.memory_peak_bytes = r.Uint<uint64_t>();
      m.left = r.Uint<uint32_t>();
      return Finished<FromInit>(r, m);
    }
    case 5: {
      JobKilled m;
      m.job = r.Uint<uint32_t>();
      m.gone = r.Bool();
      return Finished<FromInit>(r, m);
    }
    case 6: {
      TreeKilled m{.by = r.Uint<uint32_t>()};
      return Finished<FromInit>(r, m);
    }
    default:
      return Fail(ErrorCode::kInternal, "unknown frame from init");
  }
}

}  // namespace bawn::wire
