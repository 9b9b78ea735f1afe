// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "consumer/access.hpp"

#include "core/typed_command.hpp"
#include "text/quoted.hpp"
#include "text/units.hpp"

namespace ratchet {

namespace {

std::string property_of(const kafka_config& kafka, const char* name, const char* alias = "") {
  for (const char* known : {name, alias}) {
    if (const auto at = kafka.properties.find(known); at != kafka.properties.end()) return at->second;
  }
  return {};
}

/// "user `alice`"; a certificate's name is known to the brokers alone.
std::string who(const kafka_config& kafka) {
  const std::string user = property_of(kafka, "sasl.username");
  return user.empty() ? "this user" : "user `" + user + "`";
}

/// As the principal is written in an ACL.
std::string principal(const kafka_config& kafka) {
  const std::string user = property_of(kafka, "sasl.username");
  return "User:" + (user.empty() ? "NAME" : user);
}

std::string acl_command(const kafka_config& kafka, const std::string& resource,
                        const std::string& right = "Read") {
  return "kafka-acls.sh --bootstrap-server " + kafka.brokers.front() + " --add --allow-principal " +
         shell_word(principal(kafka)) + " --operation " + right + " " + resource;
}

problem refused_login(const std::string& text, const kafka_config& kafka) {
  std::string mechanism = property_of(kafka, "sasl.mechanisms", "sasl.mechanism");
  if (mechanism.empty()) mechanism = "GSSAPI";
  return {
      errc::access_denied,
      names_of_brokers(kafka) + " refuse the login of " + who(kafka) + " (SASL " + mechanism + "): " + text,
      "check `sasl.mechanisms`, `sasl.username` and `sasl.password` in `kafka.properties`, and that this "
      "user exists on the brokers; then start again",
      {}};
}

problem refused_tls(const std::string& text, const kafka_config& kafka) {
  const bool unverified = text.find("certificate verify failed") != std::string::npos;
  const bool no_tls = text.find("unexpected eof") != std::string::npos ||
                      text.find("wrong version number") != std::string::npos;
  std::string hint =
      "check the `ssl.*` properties in `kafka.properties`, and what the brokers require of clients";
  if (unverified) {
    hint =
        "either `ssl.ca.location` does not name the CA that signed the brokers' certificates, or "
        "`kafka.brokers` names hosts that are not in these certificates: `openssl s_client -connect " +
        kafka.brokers.front() + " -showcerts` shows them";
  } else if (no_tls) {
    hint =
        "the port seems to have no TLS: name the TLS port in `kafka.brokers`, or correct `security.protocol`";
  }
  return {errc::access_denied, "no TLS connection to " + names_of_brokers(kafka) + ": " + text, hint, {}};
}

}  // namespace

std::string names_of_brokers(const kafka_config& kafka) {
  std::string all;
  for (const std::string& b : kafka.brokers) all += (all.empty() ? "" : ",") + b;
  return all;
}

problem describe_refusal(access_kind kind, const std::string& text, const kafka_config& kafka,
                         std::span<const std::string> topics, const std::string& topic) {
  if (!topic.empty()) topics = std::span{&topic, 1};
  switch (kind) {
    case access_kind::login:
      return refused_login(text, kafka);
    case access_kind::tls:
      return refused_tls(text, kafka);
    case access_kind::topic:
      return describe_refused_topics(topic_use::read, text, kafka, topics);
    case access_kind::group:
      return {errc::access_denied,
              who(kafka) + " may not use the consumer group `" + kafka.group + "`: " + text,
              "an ACL must allow Read (which includes Describe): " +
                  acl_command(kafka, "--group " + shell_word(kafka.group)),
              {}};
    case access_kind::cluster:
      return {errc::access_denied,
              who(kafka) + " may not use the cluster: " + text,
              "ask the administrator of the brokers' ACLs",
              {}};
  }
  return {errc::access_denied, text, "", {}};
}

problem describe_refused_topics(topic_use use, const std::string& text, const kafka_config& kafka,
                                std::span<const std::string> topics) {
  const bool reads = use == topic_use::read;
  const std::string right = reads ? "Read" : "Write";
  std::string options;
  for (const std::string& topic : topics)
    options += (options.empty() ? "--topic " : " --topic ") + shell_word(topic);
  return {errc::access_denied,
          who(kafka) + (reads ? " may not read " : " may not write to ") +
              (topics.size() == 1 ? "the topic " : "the topics ") + quoted(topics) + ": " + text,
          "an ACL must allow " + right + " (which includes Describe): " + acl_command(kafka, options, right),
          {}};
}

problem describe_unreachable(const std::optional<complaint>& said, const kafka_config& kafka) {
  // Not every version of librdkafka says what a closed connection may mean.
  const bool closed = said && said->text.find("Disconnected") != std::string::npos;
  return {errc::source_unavailable,
          "no broker of " + names_of_brokers(kafka) + " answered within " +
              format_duration(kafka.connect_timeout) +
              (said ? ": " + said->text : std::string{"; the Kafka client gives no reason"}),
          std::string{"check `kafka.brokers`, the network, and `security.protocol` in `kafka.properties`"} +
              (closed ? "; a port with TLS or a login closes the connections of clients without them" : "") +
              "; then start again",
          {}};
}

}  // namespace ratchet
