// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/field_reader.hpp"

namespace ratchet {

/// What the readers of row changes need before they are made: their base is given the tree.
struct change_tree {
  json::pointer_tree tree;
};

/// Reads row changes of PostgreSQL as Debezium's connector writes them, in JSON with or without the schema:
/// the new row is the payload, and deletes are tombstones with a sequence. Truncations, logical messages and
/// Debezium's own tombstones mean nothing.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class debezium_cdc_reader final : private change_tree, public field_reader {
 public:
  explicit debezium_cdc_reader(const decode_rules&);

 private:
  /// The fields below the root, or below the `payload` that stands beside a schema.
  struct change_fields {
    change_fields(json::pointer_tree&, const std::string& root, const std::string& payload_from);
    field operation;
    field log_sequence;  ///< [last commit LSN or null, LSN], as JSON within a string
    field lsn;
    field time;
    field after;
    field payload;
  };

  bool read_all() override;
  bool read_change(const change_fields&);
  bool read_key();
  bool read_sequence(const change_fields&);

  field key_;
  json::node_index schema_;
  json::node_index wrapped_;
  change_fields bare_fields_;
  change_fields wrapped_fields_;
  json::pointer_tree key_tree_;
  json::node_index key_schema_;
  json::node_index key_payload_;
  json::walker key_walker_;
  json::pointer_tree pair_tree_;
  json::node_index commit_lsn_;
  json::walker pair_walker_;
};

/// Reads a YDB changefeed in JSON with virtual timestamps and new images: the new image is the payload,
/// erased rows are tombstones with a sequence, and barriers (`resolved`) mean nothing. Thread-safety: none.
/// The rules are borrowed for the reader's lifetime.
class ydb_changefeed_reader final : private change_tree, public field_reader {
 public:
  explicit ydb_changefeed_reader(const decode_rules&);

 private:
  bool read_all() override;
  bool read_key();
  bool read_sequence();

  field key_;
  field erase_;
  field image_;
  field payload_;
  field resolved_;
  field stamp_;
  field step_;
  field transaction_;
};

}  // namespace ratchet
