// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "reports/id_spelling.hpp"

#include <gtest/gtest.h>

#include "decode/event_id_text.hpp"

namespace ratchet {
namespace {

id_spelling of(const std::string& ids, const std::string& format = "json") {
  named_stream stream;
  stream.meaning = {{"dedup.ids", ids}, {"envelope.format", format}};
  return id_spelling::of(stream);
}

TEST(id_spelling, is_told_by_the_meaning_of_the_stream) {
  EXPECT_EQ(of("uuidv7").kind, id_kind::uuidv7);
  EXPECT_EQ(of("ulid").kind, id_kind::ulid);
  EXPECT_EQ(of("opaque").kind, id_kind::opaque);
  EXPECT_EQ(of("monotonic").kind, id_kind::monotonic);
  EXPECT_FALSE(of("opaque").has_source);
  EXPECT_TRUE(of("opaque", "cloudevents").has_source);
}

TEST(id_spelling, of_opaque_ids_takes_their_text_and_what_is_shown) {
  const id_spelling opaque = of("opaque");
  const event_id id = hash_opaque_id("evt 1").value();
  EXPECT_EQ(read_asked_id(opaque, "evt 1")->stored, id);
  EXPECT_EQ(read_asked_id(opaque, opaque.text(id))->stored, id);
  EXPECT_EQ(read_asked_id(of("opaque", "cloudevents"), "/a evt 1")->stored,
            id_of_source(id_kind::opaque, id, "/a"));
}

/// A number alone does not say of which partition and source it is.
TEST(id_spelling, of_monotonic_ids_takes_what_is_shown_alone) {
  const id_spelling monotonic = of("monotonic");
  const event_id id = id_of_number({"t", partition_id{0}}, "", {0, 17});
  EXPECT_EQ(read_asked_id(monotonic, monotonic.text(id))->stored, id);
  EXPECT_FALSE(read_asked_id(monotonic, "17"));
  EXPECT_FALSE(read_asked_id(monotonic, ""));
}

}  // namespace
}  // namespace ratchet
