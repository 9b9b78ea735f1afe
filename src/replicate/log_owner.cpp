// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "replicate/log_owner.hpp"

#include <algorithm>
#include <utility>

#include "core/assert.hpp"
#include "replicate/chain.hpp"

namespace ratchet::replicate {

log_owner::log_owner(owner_options options, const log_position& from)
    : options_{std::move(options)}, reader_{options_.reading, from} {
  RATCHET_ASSERT(options_.chunk_bytes > 0 && options_.chunk_bytes <= k_chunk_bytes);
  made_step_ = from.step;
}

void log_owner::stop(refusal why) {
  (void)reader_.refuse(why);
  drop();
  phase_ = owner_phase::stopped;
}

/// What was made and not confirmed is nobody's any more: only the log can tell which of it counts.
void log_owner::drop() {
  const std::uint64_t confirmed = reader_.position().step;
  if (!pending_.empty()) {
    const std::uint64_t first = pending_.front().number;
    const std::uint64_t last = pending_.back().number;
    pending_.clear();
    pending_bytes_ = 0;
    if (options_.dropped) options_.dropped(first, last);
  }
  chunks_.clear();
  made_step_ = confirmed;
  epoch_ = {};
  writer_ = 0;
  look_to_ = -1;
  proof_offset_.reset();
}

void log_owner::end_attempt() {
  drop();
  reader_.go_back();
  claimed_ = false;
  choose();
}

/// Where the log's generation is the assignment's or above, only the group can say that this instance is not
/// late. The log may be read on meanwhile, so this is asked again behind each record.
void log_owner::choose() {
  if (!generation_) {
    phase_ = owner_phase::standby;
  } else if (next_epoch(reader_.position().epoch, *generation_).generation == k_generations_end) {
    stop(refusal::epochs_used_up);
  } else if (claimed_ || *generation_ > reader_.position().epoch.generation) {
    phase_ = owner_phase::must_fence;
  } else {
    phase_ = owner_phase::claiming;
  }
}

void log_owner::assigned(std::uint32_t generation) {
  if (phase_ == owner_phase::stopped) return;
  generation_ = generation;
  end_attempt();
}

void log_owner::unassigned() {
  if (phase_ == owner_phase::stopped) return;
  generation_.reset();
  end_attempt();
}

void log_owner::claim_answered(bool accepted) {
  if (phase_ != owner_phase::claiming) return;
  claimed_ = accepted;
  phase_ = accepted ? owner_phase::must_fence : owner_phase::late;
}

record_head log_owner::head_of(record_kind kind) const {
  const std::optional<hash128>& read = reader_.position().lineage;
  record_head head;
  head.kind = kind;
  head.lineage = read ? *read : options_.reading.lineage.value_or(options_.new_lineage);
  head.epoch = epoch_;
  head.writer = writer_;
  head.layout = options_.layout;
  return head;
}

fence_body log_owner::fence() const {
  return {reader_.position().step, options_.meaning, options_.instance, options_.advertise};
}

append_request log_owner::make_fence(std::uint64_t writer) {
  RATCHET_ASSERT(phase_ == owner_phase::must_fence && generation_);
  epoch_ = next_epoch(reader_.position().epoch, *generation_);
  writer_ = writer;
  claimed_ = false;
  fence_acknowledged_ = fence_met_ = false;
  fence_offset_.reset();
  phase_ = owner_phase::fencing;
  append_request request{{writer_, 0, 0}, {}};
  append_fence(request.record, head_of(record_kind::fence), fence());
  return request;
}

append_request log_owner::make_proof() {
  RATCHET_ASSERT(phase_ == owner_phase::leading);
  log_record record;
  record.head = head_of(record_kind::fence);
  record.fence = fence();
  append_request request{{writer_, 0, 0}, {}};
  append_fence(request.record, record.head, record.fence);
  proof_offset_.reset();
  chunks_.push_back({record, {}, false, {}});
  return request;
}

append_request log_owner::make_note(log_record note) {
  RATCHET_ASSERT(phase_ == owner_phase::leading);
  RATCHET_ASSERT(note.head.kind == record_kind::point || note.head.kind == record_kind::digest);
  note.head = head_of(note.head.kind);
  if (++notes_ == 0) ++notes_;  // a proof is called 0
  append_request request{{writer_, 0, notes_}, {}};
  append_record(request.record, note);
  pending_chunk waiting;
  waiting.record.head = note.head;
  waiting.record.chunk.number = notes_;
  waiting.note = request.record;
  chunks_.push_back(std::move(waiting));
  return request;
}

/// An instance leads where its fence is in the log, all before it was read, and no higher one is known.
void log_owner::check_fence() {
  if (phase_ != owner_phase::fencing || !fence_acknowledged_) return;
  if (!fence_met_) {
    // The brokers kept it at an offset that was read, and it was not there.
    if (fence_offset_ && *fence_offset_ <= known_to()) stop(refusal::offset_back);
    return;
  }
  if (reader_.leads(epoch_, writer_)) {
    lead();
  } else {
    end_attempt();
  }
}

void log_owner::lead() {
  phase_ = owner_phase::leading;
  made_step_ = reader_.position().step;
  made_chain_ = reader_.position().chain;
}

bool log_owner::append_step(std::string rows, std::vector<append_request>& to) {
  RATCHET_ASSERT(phase_ == owner_phase::leading);
  if (rows.size() > k_step_bytes || rows.size() / options_.chunk_bytes > UINT16_MAX) return false;
  made_chain_ = next_chain(made_chain_, rows);
  ++made_step_;
  pending_bytes_ += rows.size();
  pending_.push_back({made_step_, made_chain_, std::move(rows)});
  std::string_view rest = pending_.back().rows;
  std::uint16_t number = 0;
  do {
    log_record record;
    record.head = head_of(record_kind::step);
    record.head.last = rest.size() <= options_.chunk_bytes;
    record.chunk = {made_step_, number++, reader_.position().step, {}, rest.substr(0, options_.chunk_bytes)};
    if (record.head.last) record.chunk.chain = made_chain_;
    rest.remove_prefix(record.chunk.rows.size());
    append_request request{{writer_, made_step_, record.chunk.number}, {}};
    append_chunk(request.record, record.head, record.chunk);
    to.push_back(std::move(request));
    chunks_.push_back({record, {}, false, {}});
  } while (!rest.empty());
  return true;
}

bool log_owner::is_of_attempt(const append_ticket& ticket) const {
  return ticket.writer == writer_ && epoch_ != log_epoch{};
}

void log_owner::acknowledged(const append_ticket& ticket, std::optional<std::int64_t> offset) {
  if (!is_of_attempt(ticket)) return;
  const bool is_proof = ticket.step == 0 && ticket.chunk == 0;
  if (is_proof && phase_ == owner_phase::leading) proof_offset_ = offset;
  if (ticket.step == 0 && phase_ != owner_phase::leading) {
    if (phase_ != owner_phase::fencing) return;
    fence_acknowledged_ = true;
    fence_offset_ = offset;
    check_fence();
    return;
  }
  // One that was met in the log before its report came is not among them any more.
  const auto chunk = std::find_if(chunks_.begin(), chunks_.end(), [&](const pending_chunk& each) {
    return each.record.chunk.step == ticket.step && each.record.chunk.number == ticket.chunk;
  });
  if (chunk == chunks_.end()) return;
  chunk->acknowledged = true;
  chunk->offset = offset;
  settle();
}

bool log_owner::failed(const append_ticket& ticket) {
  if (!is_of_attempt(ticket)) return false;
  end_attempt();
  return true;
}

bool log_owner::front_is_known() const {
  return !chunks_.empty() && chunks_.front().acknowledged && chunks_.front().offset == known_to() + 1;
}

/// The confirm rule. Own records whose acknowledged offsets follow what is known without a gap count:
/// nobody's record is between them, so nobody has fenced. Where there is a gap, wants() asks for it first.
void log_owner::settle() {
  while (phase_ == owner_phase::leading && front_is_known()) {
    const pending_chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    note(chunk.note.empty() ? reader_.take_own(*chunk.offset, chunk.record)
                            : reader_.take(*chunk.offset, chunk.note),
         chunk.note);
  }
  if (phase_ != owner_phase::leading || chunks_.empty()) return;
  const pending_chunk& front = chunks_.front();
  if (front.acknowledged && front.offset && *front.offset <= known_to()) stop(refusal::offset_back);
}

/// A point or a digest changes nothing here. Whoever is told of it finds the store as of the steps before it.
void log_owner::tell_note(std::string_view bytes) const {
  log_record record;
  if (!options_.noted || decode_record(bytes, record) != record_fault::none) return;
  const bool own = phase_ == owner_phase::leading && reader_.leads(epoch_, writer_);
  options_.noted({record, reader_.position().step, known_to(), own});
}

/// What the reader said of the record that it took last.
void log_owner::note(fate f, std::string_view bytes) {
  if (f == fate::refused) {
    stop(*reader_.refused());
    return;
  }
  if (f == fate::point || f == fate::digest) return tell_note(bytes);
  if (f != fate::step) return;
  const bool own = phase_ == owner_phase::leading && reader_.leads(epoch_, writer_);
  if (own && (pending_.empty() || pending_.front().chain != reader_.position().chain)) {
    stop(refusal::other_chain);
    return;
  }
  options_.apply({reader_.position(), reader_.rows(), own, reader_.layout()});
  if (!own) return;
  pending_bytes_ -= pending_.front().rows.size();
  pending_.pop_front();
}

std::optional<read_range> log_owner::wants() const {
  const std::int64_t first = reader_.next_offset();
  if (phase_ == owner_phase::stopped) return std::nullopt;
  if (phase_ == owner_phase::fencing) return read_range{first, fence_offset_};
  if (phase_ != owner_phase::leading) return read_range{first, std::nullopt};
  if (!chunks_.empty() && chunks_.front().acknowledged) {
    const auto& offset = chunks_.front().offset;
    return read_range{first, offset ? std::optional{*offset - 1} : std::nullopt};
  }
  if (look_to_ >= first) return read_range{first, look_to_};
  return std::nullopt;
}

bool log_owner::is_wanted(std::int64_t offset) const {
  const auto wanted = wants();
  return wanted && offset == wanted->first && (!wanted->last || offset <= *wanted->last);
}

bool log_owner::is_front(const log_record& record, std::string_view bytes) const {
  if (chunks_.empty()) return false;
  const pending_chunk& front = chunks_.front();
  if (!front.note.empty()) return bytes == front.note;
  return record.head.kind == front.record.head.kind && record.chunk.step == front.record.chunk.step &&
         record.chunk.number == front.record.chunk.number;
}

std::optional<fate> log_owner::read(std::int64_t offset, std::string_view bytes) {
  if (!is_wanted(offset)) return std::nullopt;
  const bool led = phase_ == owner_phase::leading;
  log_record record;
  const bool mine = epoch_ != log_epoch{} && decode_record(bytes, record) == record_fault::none &&
                    record.head.epoch == epoch_ && record.head.writer == writer_;
  // An own record that is met in the log is known to be there, whatever its report will say.
  if (led && mine && is_front(record, bytes)) chunks_.pop_front();
  const fate f = reader_.take(offset, bytes);
  note(f, bytes);
  if (phase_ == owner_phase::stopped) return f;
  if (phase_ == owner_phase::fencing) {
    fence_met_ = fence_met_ || (mine && record.head.kind == record_kind::fence);
    check_fence();
  } else if (led) {
    // A higher fence ends the attempt, and so does a step of its own that nobody will ever take.
    if (!reader_.leads(epoch_, writer_) || (mine && f == fate::gap)) {
      end_attempt();
    } else {
      settle();
    }
  } else if (phase_ != owner_phase::late) {
    choose();
  }
  return f;
}

void log_owner::read_through(std::int64_t first, std::int64_t last) {
  if (!is_wanted(first) || last < first) return;
  reader_.skip_to(std::min(last, wants()->last.value_or(last)) + 1);
  if (reader_.refused()) {
    stop(*reader_.refused());
  } else if (phase_ == owner_phase::fencing) {
    check_fence();
  } else if (phase_ == owner_phase::leading) {
    settle();
  }
}

void log_owner::look(std::int64_t known, std::int64_t first_offset, std::int64_t end_offset) {
  if (phase_ == owner_phase::stopped) return;
  reader_.check_bounds(known, first_offset, end_offset);
  if (reader_.refused()) {
    stop(*reader_.refused());
  } else if (phase_ == owner_phase::leading && chunks_.empty()) {
    look_to_ = end_offset - 1;
  }
}

void log_owner::read_again() {
  if (phase_ == owner_phase::stopped) return;
  const bool late = phase_ == owner_phase::late;
  end_attempt();
  if (late) phase_ = owner_phase::late;
}

}  // namespace ratchet::replicate
