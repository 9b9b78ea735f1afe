// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/unavailable_columns.hpp"
#include "decode/field_reader.hpp"
#include "decode/log_position.hpp"

namespace ratchet {

/// What the readers of row changes need before they are made: their base is given the tree.
struct change_tree {
  json::pointer_tree tree;
};

/// What the readers of row changes with the row's key as the record's key share.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class keyed_change_reader : protected change_tree, public field_reader {
 protected:
  explicit keyed_change_reader(const decode_rules&);

  /// The aggregate: the key's JSON, byte for byte, or what stands beside a schema in it; with `payload_alone`
  /// what stands as `payload` in any case.
  bool read_key(bool payload_alone);
  /// Whether the key is that of a heartbeat.
  [[nodiscard]] bool is_key_of_heartbeat();
  /// Says of an event with a payload whether some columns of its row are not known. False: a row that is new
  /// or read lacks one, of which nothing can be stored; `column` is its name.
  [[nodiscard]] bool look_for_unavailable(std::string_view operation, std::string_view& column);
  [[nodiscard]] bool is_there(const field& f) const noexcept { return at(f.node).what != json::kind::none; }

 private:
  field key_;
  json::pointer_tree key_tree_;
  json::node_index key_schema_;
  json::node_index key_payload_;
  json::node_index key_server_;
  json::walker key_walker_;
  unavailable_columns unavailable_;
};

/// Reads changes of rows of PostgreSQL that were streamed from the log, as nearly all are, and nothing else.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class postgres_log_reader final : public keyed_change_reader {
 public:
  explicit postgres_log_reader(const decode_rules&);
  /// The record that was read last is for another_change_reader, whatever the event says.
  [[nodiscard]] bool left_it() const noexcept { return left_it_; }

 private:
  /// The fields below the root, or below the `payload` that stands beside a schema.
  struct change_fields {
    change_fields(json::pointer_tree&, const std::string& root, const std::string& payload_from);
    field operation;
    field connector;
    field log_sequence;  ///< [last commit LSN or null, LSN], as JSON within a string
    field lsn;
    field time;
    field after;
    field payload;
    std::vector<whole_array> arrays;  ///< of which the payload is an element
  };

  bool read_all() override;
  bool read_change(const change_fields&);
  bool read_sequence(const change_fields&);

  json::node_index schema_;
  json::node_index wrapped_;
  change_fields bare_fields_;
  change_fields wrapped_fields_;
  bool left_it_{false};
};

/// Two forms of what Debezium's connectors write, each with a reader of its own, so that neither looks for
/// the other's fields.
enum class change_form : std::uint8_t {
  envelope,   ///< operation, source and row
  unwrapped,  ///< a row that ExtractNewRecordState left
};

/// Reads all that Debezium's connectors write of rows, in one form: of each connector whose order is known,
/// and of snapshots. What it cannot read it refuses by name.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class any_change_reader final : public keyed_change_reader {
 public:
  any_change_reader(const decode_rules&, change_form);
  /// The record that was read last is in the other form, whatever the event says.
  [[nodiscard]] bool left_it() const noexcept { return left_it_; }
  /// The record that was read last is one that postgres_log_reader reads, too.
  [[nodiscard]] bool was_plain() const noexcept { return was_plain_; }

 private:
  enum class connector : std::uint8_t { postgresql, binlog, sqlserver, oracle, mongodb, ydb, ticdc };

  /// What tells where in a log a change stands; each connector has some of them.
  struct position_fields {
    position_fields() = default;
    position_fields(json::pointer_tree&, const std::string& prefix);
    field name;    ///< of the connector
    field origin;  ///< the database, of producers that are no connectors
    field snapshot;
    field log_sequence;
    field lsn;
    field file;
    field pos;
    field row;
    field commit_lsn;
    field change_lsn;
    field scn;
    field commit_scn;
    field step;
    field transaction;
    field commit_ts;
    field time;
  };
  struct change_fields {
    change_fields(json::pointer_tree&, change_form, const std::string& root, const std::string& payload_from);
    field whole;
    field operation;
    field origin;
    // of an envelope
    field after;
    field payload;
    std::vector<whole_array> arrays;  ///< of which the payload is an element
    field statement;                  ///< of a change of the schema
    position_fields position;
    // of a row that was unwrapped
    field row_operation;
    field row_deleted;
    field row_payload;
    field time;                           ///< of a heartbeat
    field status;                         ///< of a transaction that begins or ends
    field event_count;                    ///< of it
    position_fields row_position;         ///< add.fields: lsn
    position_fields row_source_position;  ///< add.fields: source.lsn
    position_fields row_mixed_position;   ///< add.fields: lsn,source.sequence
    position_fields row_other_position;   ///< add.fields: source.lsn,sequence
  };

  bool read_all() override;
  bool read_change(const change_fields&);
  bool read_row(const change_fields&);
  bool read_connector(const position_fields&, connector& out);
  [[nodiscard]] bool is_transaction_metadata(const change_fields&);
  [[nodiscard]] bool guess_connector(const position_fields&, connector& out) const noexcept;
  bool read_position(const position_fields&, connector, std::string_view operation);
  bool read_postgres(const position_fields&, bool is_read);
  bool read_log_pair(const field&, std::optional<std::uint64_t>& commit, std::optional<std::uint64_t>& lsn,
                     bool& has_pair);
  bool read_optional_number(const field&, std::optional<std::uint64_t>&);
  bool read_binlog(const position_fields&);
  bool read_sqlserver(const position_fields&, bool is_read);
  bool read_lsn(const field&, std::optional<sqlserver_lsn>&);
  bool read_oracle(const position_fields&, bool is_read);
  bool read_virtual_time(const position_fields&);
  bool read_commit_time(const position_fields&);
  /// How a row came to be in a snapshot; empty: it did not.
  bool read_snapshot(const position_fields&, std::string_view& how);
  bool read_after(const change_fields&, connector);
  bool read_document(const change_fields&, const field_value&);
  bool has_known_columns(const field& payload, std::string_view operation);
  /// The name in a text that lives as long as the reader; where there are too many, or it is too long,
  /// `otherwise`, which must live as long.
  [[nodiscard]] std::string_view kept_name(std::string_view name, std::string_view otherwise);

  change_form form_;
  field schema_;
  field wrapped_;
  change_fields bare_fields_;
  change_fields wrapped_fields_;
  json::pointer_tree pair_tree_;
  json::node_index commit_of_pair_;
  json::node_index lsn_of_pair_;
  json::walker pair_walker_;
  json::pointer_tree document_tree_;  ///< of a row that is JSON within a string
  json::node_index document_payload_;
  std::vector<whole_array> document_arrays_;
  json::walker document_walker_;
  std::set<std::string, std::less<>> names_;
  bool was_plain_{false};
  bool left_it_{false};
};

/// Reads row changes as Debezium's connectors write them, in JSON with or without the schema: the new row is
/// the payload, and deletes are tombstones with a sequence. Truncations, logical messages and Debezium's own
/// tombstones mean nothing. Which of its readers has a record first follows from the record before it, and
/// makes no difference but in time.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class debezium_cdc_reader final : public event_reader {
 public:
  explicit debezium_cdc_reader(const decode_rules&);
  void read(const record&, decoded_event&, text_arena&) override;

 private:
  enum class turn : std::uint8_t { plain, any, row };
  bool by_partition_;
  postgres_log_reader plain_;
  any_change_reader any_;
  any_change_reader row_;
  turn first_{turn::plain};
};

/// Reads a YDB changefeed in JSON with virtual timestamps and new images: the new image is the payload,
/// erased rows are tombstones with a sequence, and barriers (`resolved`) mean nothing.
/// Thread-safety: none. The rules are borrowed for the reader's lifetime.
class ydb_changefeed_reader final : private change_tree, public field_reader {
 public:
  explicit ydb_changefeed_reader(const decode_rules&);
  /// The record that was read last is in Debezium's form, whatever the event says.
  [[nodiscard]] bool left_it() const noexcept { return left_it_; }

 private:
  bool read_all() override;
  bool read_key();
  bool read_sequence();

  field key_;
  field erase_;
  field image_;
  field payload_;
  std::vector<whole_array> arrays_;  ///< of which the payload is an element
  field resolved_;
  field stamp_;
  field step_;
  field transaction_;
  field wrapped_;  ///< of FORMAT = 'DEBEZIUM_JSON'
  bool left_it_{false};
};

/// Reads changefeeds of YDB in both of their JSON formats. Thread-safety: none.
class ydb_reader final : public event_reader {
 public:
  explicit ydb_reader(const decode_rules&);
  void read(const record&, decoded_event&, text_arena&) override;

 private:
  ydb_changefeed_reader plain_;
  any_change_reader debezium_;
};

}  // namespace ratchet
