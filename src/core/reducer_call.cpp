// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "core/reducer_call.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "core/result_size.hpp"
#include "core/tables.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

namespace {

constexpr const char* k_correct_traits = "correct the traits of the reducer, or what it does";

void stop(reducer_call& call, errc why, const char* remedy = "") {
  call.how = ending::stop;
  call.remedy = remedy;
  call.cause = make_error_code(why);
}

/// Whatever it says of itself: its text may be empty.
void failed_by_exception(reducer_call& call, const char* text) {
  call.how = ending::retry;
  call.cause = make_error_code(errc::reducer_failed);
  call.thrown = text;
}

/// A reducer may end with a code that is none, or one whose text is empty: that is a failure all the same,
/// and whoever reads of it must not read "Success", or nothing.
void name_the_unnamed(reducer_call& call) {
  if (call.how == ending::done) return;
  const bool tells = !call.thrown.empty() || (call.cause && !call.cause.message().empty());
  if (!tells) call.thrown = "the reducer gave no reason";
  if (!call.cause) call.cause = make_error_code(errc::reducer_failed);
}

/// The beginning of a key that may be long, or no text.
std::string shown(std::string_view key) {
  constexpr std::size_t k_most = 64;
  std::string out;
  for (const char c : key.substr(0, k_most)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool readable = byte >= 0x20 && byte < 0x7F;
    out += readable ? c : '?';
  }
  return key.size() > k_most ? out + "..." : out;
}

/// About what a broker counts of the message.
std::uint64_t bytes_of(const owned_output& o, const event& e) {
  constexpr std::uint64_t k_rest = 512;  // names of headers, and those that are of one length
  const std::uint64_t key = o.key ? o.key->size() : 0;
  return k_rest + 2 * key + (o.payload ? o.payload->size() : 0) + o.type.size() + o.content_type.size() +
         e.aggregate.size() + e.stream.size();
}

/// What it published must have been announced: superseding goes by the traits, and what the brokers and
/// their rights are checked for at the start, by the config. A message that no broker would take is better
/// met here, where its event can wait, than behind the write.
void take_outputs(reducer_call& call, const reducer& reduce, const output_rules& rules, const event& e,
                  effects&& fx) {
  if (call.how != ending::done || fx.outputs().empty()) return;
  if (!reduce.traits().has_effects) {
    call.thrown =
        "it published to `" + fx.outputs().front().topic + "`, but its traits have has_effects = false";
    return stop(call, errc::output_undeclared, k_correct_traits);
  }
  const auto& topics = rules.topics;
  for (const owned_output& o : fx.outputs()) {
    if (topics && std::find(topics->begin(), topics->end(), o.topic) == topics->end()) {
      call.thrown = "it published to `" + o.topic + "`, which is not among the `outputs` of its stream";
      return stop(call, errc::output_undeclared,
                  "add the topic to `outputs` of the stream, or correct the reducer");
    }
    const std::uint64_t bytes = bytes_of(o, e);
    if (bytes <= rules.message_bytes) continue;
    call.thrown = "its message to `" + o.topic + "` has " + std::to_string(bytes) +
                  " bytes, and outbox.message_bytes is " + std::to_string(rules.message_bytes);
    call.how = ending::give_up;
    call.cause = make_error_code(errc::output_too_large);
    return;
  }
  call.outputs = std::move(fx).take_outputs();
}

/// As what is published: announced, and in a form that the table can hold.
void take_table_changes(reducer_call& call, const reducer& reduce, const output_rules& rules, effects& fx) {
  if (call.how != ending::done || fx.table_changes().empty()) return;
  if (!reduce.traits().has_effects) {
    call.thrown = "it wrote to the table `" + fx.table_changes().front().table +
                  "`, but its traits have has_effects = false";
    return stop(call, errc::table_undeclared, k_correct_traits);
  }
  std::vector<owned_table_change> changes = std::move(fx).take_table_changes();
  for (owned_table_change& c : changes) {
    const table_config* declared = rules.tables ? find_table(*rules.tables, c.table) : nullptr;
    if (rules.tables && declared == nullptr) {
      call.thrown = "it wrote to the table `" + c.table + "`, which is not among the `tables` of its stream";
      return stop(call, errc::table_undeclared,
                  "add the table to `tables` of the stream, or correct the reducer");
    }
    const key_encoding encoding = declared != nullptr ? declared->key : key_encoding::bytes;
    auto stored = encode_table_key(encoding, c.key);
    if (!stored) {
      call.thrown = "its key `" + shown(c.key) + "` does not fit the table `" + c.table +
                    "`, whose keys are " + name_of(encoding) + ": " + shape_of(encoding);
      return stop(call, errc::table_key_invalid);
    }
    c.key = std::move(*stored);
  }
  call.tables = std::move(changes);
}

/// It is kept with an event that waits, and written again with each attempt; a reducer may put a whole
/// payload into it.
void cut_error(std::string& text) {
  constexpr std::size_t k_most = 4096;
  if (text.size() <= k_most) return;
  const std::size_t bytes = text.size();
  std::size_t end = k_most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not inside a character
  text.resize(end);
  text += "... (" + std::to_string(bytes) + " bytes)";
}

/// A reply is kept beside the id, so that its size is bounded as a message's is.
void take_reply(reducer_call& call, const output_rules& rules, replies allowed, const effects& fx) {
  if (call.how != ending::done || !fx.replied()) return;
  if (allowed == replies::refused) {
    call.thrown = "it called fx.reply outside of a transaction: only transact() has a caller";
    return stop(call, errc::output_undeclared);
  }
  if (fx.replied()->size() <= rules.message_bytes) {
    call.reply = *fx.replied();
    return;
  }
  call.thrown = "its reply has " + std::to_string(fx.replied()->size()) +
                " bytes, and outbox.message_bytes is " + std::to_string(rules.message_bytes);
  call.how = ending::give_up;
  call.cause = make_error_code(errc::output_too_large);
}

}  // namespace

std::string reducer_call::error() const {
  return thrown.empty() ? cause.message() : thrown;
}

reducer_call call_reducer(const reducer& reduce, const output_rules& rules, const event& e, state& s,
                          replies allowed) {
  effects fx;
  reducer_call out;
  try {
    outcome ended = reduce.apply(e, s, fx);
    out.how = ended.how;
    out.cause = ended.code;
    if (ended.how != ending::done) out.thrown = std::move(ended.text);
  } catch (const std::exception& failure) {
    failed_by_exception(out, failure.what());
  } catch (...) {
    failed_by_exception(out, "an exception that is not a std::exception");
  }
  cut_error(out.thrown);
  if (out.how == ending::done) limit_results(out, rules.snapshot_bytes, s, fx);
  take_table_changes(out, reduce, rules, fx);
  take_reply(out, rules, allowed, fx);
  take_outputs(out, reduce, rules, e, std::move(fx));
  if (out.how != ending::done) out.tables.clear();
  name_the_unnamed(out);
  return out;
}

}  // namespace ratchet
