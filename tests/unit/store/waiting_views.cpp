// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/open/read_only.hpp"
#include "unit/store/waiting_support.hpp"

/// What readers see of waiting events.
namespace ratchet {
namespace {

using store_support::at_second;
using store_support::must;
using store_support::waiting_at;
using store_support::waiting_fixture;

using seen_events = std::vector<std::pair<std::string, waiting_event>>;

class a_view_of_what_waits : public waiting_fixture {
 protected:
  static seen_events events(const store_view& view, const std::optional<waiting_place>& after = {},
                            std::size_t most = 100) {
    seen_events out;
    must(view.waiting(view.streams().assume_value().at(0).id, after,
                      [&](std::string_view aggregate, const waiting_event& e) {
                        out.emplace_back(aggregate, e);
                        return out.size() < most;
                      }));
    return out;
  }
};

TEST_F(a_view_of_what_waits, lists_events_by_aggregate_and_number_from_any_place_on) {
  auto s = open();
  const std::string zero{"a\0", 2};
  write(*s, {{"b", {waiting_at(seq(5)), waiting_at(seq(1, 2))}, {}},
             {zero, {waiting_at(seq(300))}, {}},
             {"a", {waiting_at(seq(256)), waiting_at(seq(255))}, {}}});
  const auto view = must(s->view());
  const seen_events all{{"a", waiting_at(seq(255))},
                        {"a", waiting_at(seq(256))},
                        {zero, waiting_at(seq(300))},
                        {"b", waiting_at(seq(5))},
                        {"b", waiting_at(seq(1, 2))}};
  EXPECT_EQ(events(*view), all);
  EXPECT_EQ(events(*view, {}, 2), (seen_events{all.begin(), all.begin() + 2}));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const waiting_place place{all[i].first, all[i].second.head.sequence};
    EXPECT_EQ(events(*view, place),
              (seen_events{all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()}))
        << i;
  }
  EXPECT_EQ(events(*view, waiting_place{"a", seq(9, 9)}).size(), 3U) << "a place where nothing is";
  EXPECT_TRUE(events(*view, waiting_place{"c", seq(0)}).empty());
}

TEST_F(a_view_of_what_waits, shows_backlogs_and_the_oldest_gap) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  EXPECT_EQ(must(must(s->view())->oldest_gap(stream)), std::nullopt);
  const auto gap_at = [](std::int64_t second) {
    return [second](backlog& b) { b.gap_since = at_second(second); };
  };
  write(*s, {{"b", {waiting_at(seq(5))}, {}, gap_at(3)}, {"a", {waiting_at(seq(5))}, {}, gap_at(9)}});
  const auto view = must(s->view());
  write(*s, {{"b", {}, {seq(5)}}});
  std::vector<std::string> names;
  must(view->backlogs(stream, [&](std::string_view aggregate, const backlog& b) {
    names.emplace_back(aggregate);
    EXPECT_EQ(b.parked, 1U);
    return true;
  }));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  names.clear();
  must(view->backlogs(stream, [&](std::string_view aggregate, const backlog&) {
    names.emplace_back(aggregate);
    return false;
  }));
  EXPECT_EQ(names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(must(view->oldest_gap(stream)), "b");
  EXPECT_EQ(must(view->backlog_of(stream, "a")), now("a").log);
  EXPECT_TRUE(must(view->backlog_of(stream, "b"))) << "as of its step";
  EXPECT_EQ(must(view->backlog_of(stream, "c")), std::nullopt);
  const auto later = must(s->view());
  EXPECT_EQ(must(later->oldest_gap(stream)), "a");
  EXPECT_EQ(must(later->backlog_of(stream, "b")), std::nullopt);
  EXPECT_EQ(events(*later).size(), 1U);
}

TEST_F(a_view_of_what_waits, hides_the_rows_of_which_nothing_was_applied) {
  auto s = open();
  const stream_id stream = s->id_of("payments");
  write(*s, {{"a", {waiting_at(seq(5))}, {}, {}, seq(2)},
             {"b", {waiting_at(seq(5))}, {}},
             {"c", {}, {}, {}, seq(1)}});
  const auto view = must(s->view());
  EXPECT_EQ(view->get(stream, "b").error(), make_error_code(errc::not_found));
  EXPECT_TRUE(must(view->get(stream, "a")).waits);
  EXPECT_EQ(must(view->get(stream, "a")).last, seq(2));
  std::vector<std::string> names;
  must(view->scan(stream, [&](const scanned_row& r) {
    names.emplace_back(r.aggregate);
    return true;
  }));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "c"}));
  // Its own first event shows it.
  write(*s, {{"b", {}, {seq(5)}, {}, seq(5)}});
  EXPECT_EQ(must(must(s->view())->get(stream, "b")).last, seq(5));
}

TEST_F(a_view_of_what_waits, is_the_same_of_a_directory_that_is_read_alone) {
  {
    auto s = open();
    write(*s, {{"a", {waiting_at(seq(5))}, {}, [](backlog& b) { b.gap_since = at_second(1); }}});
  }
  const auto s = must(open_store_read_only(path()));
  const auto view = must(s->view());
  EXPECT_EQ(events(*view), (seen_events{{"a", waiting_at(seq(5))}}));
  EXPECT_EQ(must(view->oldest_gap(s->streams()[0].id)), "a");
}

}  // namespace
}  // namespace ratchet
