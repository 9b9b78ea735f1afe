// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The row of a state that was read from another cluster.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/resume.hpp"
#include "unit/core/resume_rows.hpp"

namespace ratchet {
namespace {

struct cluster_case {
  const char* name;
  std::optional<std::int64_t> committed;
  commit_owner owner;
  last record;
  bool knows_repeats;
  resume_option option;
  resume_decision want;
};

// S is 500, of another cluster.
// clang-format off
constexpr cluster_case k_of_other_cluster[] = {
    {"asks",                   none, owner::none,         last::not_checked, true,  option::none,     end(row::other_cluster, action::refuse)},
    {"no_copy",                500,  owner::ours_unknown, last::same,        true,  option::takeover, end(row::other_cluster, action::refuse)},
    {"rebuild",                500,  owner::other_store,  last::other,       false, option::rebuild,  end(row::other_cluster, action::rebuild)},

    {"cluster",                none, owner::none,         last::not_checked, true,  option::cluster,  go(row::other_cluster, 100, true)},
    {"cluster_any_log",        none, owner::none,         last::other,       true,  option::cluster,  go(row::other_cluster, 100, true)},
    {"cluster_foreign",        700,  owner::foreign,      last::same,        true,  option::cluster,  go(row::other_cluster, 100, true)},
    {"cluster_mirrored_mark",  700,  owner::ours,         last::same,        true,  option::cluster,  go(row::other_cluster, 100, true)},
    {"cluster_of_a_copy",      700,  owner::ours_unknown, last::same,        true,  option::cluster,  taken(go(row::other_cluster, 100))},
    {"cluster_other_store",    700,  owner::other_store,  last::same,        true,  option::cluster,  end(row::other_store, action::refuse)},
    {"cluster_harms",          700,  owner::ours,         last::same,        false, option::cluster,  end(row::other_cluster, action::refuse)},

    {"kafka",                  700,  owner::foreign,      last::other,       true,  option::kafka,    skip(row::other_cluster, 700, 100, 700)},
    {"kafka_harms_nothing",    700,  owner::ours,         last::other,       false, option::kafka,    skip(row::other_cluster, 700, 100, 700)},
    {"kafka_below_start",      50,   owner::foreign,      last::other,       true,  option::kafka,    skip(row::other_cluster, 100, 100, 100)},
    {"kafka_past_end",         950,  owner::foreign,      last::other,       true,  option::kafka,    skip(row::other_cluster, 900, 100, 900)},
    {"kafka_without_offset",   none, owner::none,         last::other,       true,  option::kafka,    go(row::other_cluster, 100, true)},
    {"kafka_without_harms",    none, owner::none,         last::other,       false, option::kafka,    end(row::other_cluster, action::refuse)},
    {"kafka_other_store",      700,  owner::other_store,  last::other,       true,  option::kafka,    end(row::other_store, action::refuse)},

    {"store",                  none, owner::none,         last::same,        false, option::store,    go(row::other_cluster, 500, true)},
    {"store_foreign",          700,  owner::foreign,      last::same,        false, option::store,    go(row::other_cluster, 500, true)},
    {"store_nothing_to_check", none, owner::none,         last::not_checked, false, option::store,    go(row::other_cluster, 500, true)},
    {"store_other_record",     none, owner::none,         last::other,       true,  option::store,    end(row::other_record, action::stop)},
    {"store_absent",           none, owner::none,         last::absent,      true,  option::store,    end(row::other_cluster, action::refuse)},
    {"store_unknown",          none, owner::none,         last::unknown,     true,  option::store,    end(row::other_cluster, action::refuse)},
    {"store_other_store",      700,  owner::other_store,  last::same,        true,  option::store,    end(row::other_store, action::refuse)},
};
// clang-format on

class of_other_cluster : public ::testing::TestWithParam<cluster_case> {};
TEST_P(of_other_cluster, decides) {
  const cluster_case& c = GetParam();
  resume_facts f{.stored = 500,
                 .committed = c.committed,
                 .owner = c.owner,
                 .log_start = k_start,
                 .log_end = k_end,
                 .last = c.record,
                 .store_is_new = false,
                 .start = start_position::latest,
                 .option = c.option,
                 .other_cluster = true,
                 .knows_repeats = c.knows_repeats};
  EXPECT_EQ(resolve_resume(f), c.want) << name_of(resolve_resume(f).row);
  if (c.option != option::cluster && c.option != option::kafka) return;
  f.stored.reset();  // a partition, or a topic of another name, that the state has not met
  EXPECT_EQ(resolve_resume(f), c.want) << "what it knows of the other cluster's log is no matter";
}
INSTANTIATE_TEST_SUITE_P(design, of_other_cluster, ::testing::ValuesIn(k_of_other_cluster),
                         [](const auto& tested) { return std::string{tested.param.name}; });

TEST(resume, lists_what_answers_where_the_state_is_another_clusters) {
  resume_facts f;
  f.stored = 500;
  f.log_start = k_start;
  f.log_end = k_end;
  f.last = last::same;
  f.other_cluster = true;
  std::vector<resume_option> listed;
  for (const resume_choice& choice : choices_of(f, row::other_cluster, false)) {
    listed.push_back(choice.option);
    EXPECT_EQ(choice.offset, choice.option == option::store ? std::optional<std::int64_t>{500} : none)
        << "of a log that nobody has looked at";
  }
  EXPECT_EQ(listed, (std::vector{option::store, option::kafka, option::rebuild, option::cluster}));
}

}  // namespace
}  // namespace ratchet
