// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of consumer_session that lives where no stream has topics.
#include <utility>
#include <vector>

#include "consumer/consumer_session.hpp"
#include "pipeline/audit_rows.hpp"
#include "ports/error_class.hpp"

namespace ratchet {

namespace {

/// Nothing but transactions feeds such an instance, and they can go on without brokers.
constexpr std::chrono::milliseconds k_topics_patience{5'000};

}  // namespace

turn_result<> consumer_session::start_alone() {
  if (const std::vector<std::string> wanted = output_topics(deps_.streams); !wanted.empty()) {
    const auto found = deps_.source.partitions(wanted, k_topics_patience);
    if (!found && classify(found.error()) == error_class::away) {
      tell(deps_.log, log_kind::brokers_away,
           "cannot check the output topics: {}; messages wait until the brokers answer",
           found.error().message());
    } else if (!found) {
      return questions_.topics_failed(found.error(), wanted, topic_use::written);
    }
  }
  RATCHET_TRY(ownership_.sign());
  RATCHET_TRY(accept_start());
  const auto copy = deps_.store.copy();
  if (copy || deps_.store.has_unwritten_start()) {
    store_change change;
    change.lift_copy_mark = copy.has_value();
    std::vector<audit_row> audits;
    if (copy) audits.push_back(audit_of_copy(*copy, false, deps_.clock.now()));
    if (const auto entered = pipeline_.enter_positions({}, {}, std::move(audits), std::move(change));
        !entered) {
      return store_failed(entered.error());
    }
    RATCHET_TRY(stored(deps_.store.sync()));
  }
  RATCHET_TRY(stored(pipeline_.leave_out_unread(pipeline::plain_files::are_not_read)));
  for (const auto& s : deps_.streams) deps_.status.set_assigned(s->config.name, {});
  deps_.status.set_ready(true);
  tell(deps_.log, log_kind::waiting_for_transactions,
       "no stream has topics, so nothing is read: waiting messages are sent, waiting events are tried again, "
       "and transactions are accepted");
  if (options_.resume.option != resume_option::none && !options_.resume.was_used) {
    tell(deps_.log, log_kind::resume_option_unused,
         "`--resume {}` had nothing to do: it chooses where to resume reading, and no stream has topics",
         name_of(options_.resume.option));
  }
  ownership_.take_alone();
  assigned_at_ = deps_.clock.steady();
  deps_.meter.assigned();
  return go_on();
}

}  // namespace ratchet
