// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "config/reader.hpp"
#include "ratchet/config.hpp"

/// Sections of the schema that have a file of their own.
namespace ratchet {

/// `kafka`: brokers, group, properties. Secrets are read where they are referred to.
void read_kafka(const config_value&, kafka_config& out);

/// `streams[].envelope`: a format, and where its fields come from; with what the format knows by itself. What
/// an integer may be depends on the stream's order.
void read_envelope(const config_value&, order, envelope_config& out);

/// `streams[].gap`: what becomes of a gap that does not close.
void read_gap(const config_value&, gap_config& out);
/// `streams[].waiting`: how much may wait.
void read_waiting(const config_value&, waiting_config& out);
/// `streams[].retry`: when an event whose reducer failed is tried again.
void read_retry(const config_value&, retry_config& out);

/// `streams[].rejected`: how much is kept of rejected records.
void read_rejected(const config_value&, rejected_config& out);

/// A topic's name. False where it is no text; a text that is no such name is reported, and read.
bool read_topic(const config_value&, std::string& out);
/// A list of topics.
void read_topics(const config_value&, std::vector<std::string>& out);
/// A list of topics, and of sinks as sink:NAME.
void read_destinations(const config_value&, std::vector<std::string>& out);
/// `sinks`: where messages go that are not for Kafka.
void read_sinks(const config_value&, std::vector<sink_config>& out);
/// Of sinks that no stream names. They are allowed, as what waits for one may have to be sent yet.
void warn_of_unused_sinks(const config_node& root, const config&, config_findings&);
/// A list of types of events; one that is not there means all of them.
void read_types(const config_value&, std::vector<std::string>& out);
/// `streams[].emit`: what is published of the events.
void read_emit(const config_value&, std::vector<emit_config>& out);

/// `replicate`: the log that other instances follow.
void read_replicate(const config_value&, std::optional<replicate_config>& out);

/// `streams[].tables`: read models. A list, or one alone.
void read_tables(const config_value&, std::vector<table_config>& out);

/// `streams[].reducer`: a built-in one.
void read_reducer(const config_value&, reducer_config& out);

}  // namespace ratchet
