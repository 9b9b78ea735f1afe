// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// The part of the schema that tells of sinks, and of where messages go.
#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "config/schema.hpp"
#include "config/secret.hpp"
#include "config/sections.hpp"
#include "core/output.hpp"
#include "sinks/http_limits.hpp"
#include "sinks/http_publisher.hpp"
#include "sinks/http_url.hpp"
#include "streams/stream_definition.hpp"
#include "text/values.hpp"

namespace ratchet {

namespace {

constexpr known_key k_sink_keys[] = {{"name"}, {"http"}, {"callback"}, {"discard"}, {"retry"}};
constexpr known_key k_http_keys[] = {{"url"}, {"method"}, {"timeout"}, {"concurrency"}, {"headers"}, {"ca"}};
constexpr known_key k_retry_keys[] = {{"first"}, {"most"}};
constexpr std::size_t k_longest_sink_name = 64;
constexpr std::string_view k_own_headers[] = {
    "host",    "content-length", "content-type", "transfer-encoding", "connection", "keep-alive", "te",
    "trailer", "upgrade",        "expect",       "idempotency-key"};

[[nodiscard]] std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// RFC 9110, section 5.6.2.
[[nodiscard]] bool is_header_name(const std::string& text) {
  constexpr std::string_view k_others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return c < 0x80 &&
           (std::isalnum(c) != 0 || k_others.find(static_cast<char>(c)) != std::string_view::npos);
  });
}

[[nodiscard]] bool is_header_value(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

[[nodiscard]] bool is_secret_header(const std::string& name) {
  constexpr std::string_view k_parts[] = {"auth", "bearer",  "cookie", "credential", "hmac", "jwt",  "key",
                                          "pass", "private", "secret", "session",    "sign", "token"};
  return std::any_of(std::begin(k_parts), std::end(k_parts),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

void read_header(const config_value& value, const config_node& key, std::map<std::string, std::string>& out) {
  const std::string name = lower(key.text);
  config_findings& findings = value.findings();
  if (!is_header_name(name))
    return findings.add(key.at, value.path(), "is not a header's name", "as in X-Tenant");
  if (name.starts_with("ce-") ||
      std::find(std::begin(k_own_headers), std::end(k_own_headers), name) != std::end(k_own_headers)) {
    return findings.add(key.at, value.path(), "is a header that Ratchet sets itself", "leave it out");
  }
  std::string text;
  if (value.node().kind == config_node::kind_of::map) {
    if (!read_secret(value, text)) return;
  } else {
    if (!value.text(text)) return;
    const bool on_command_line = value.node().at.line == 0;
    if (is_secret_header(name) && on_command_line) {
      return value.error("is a secret, and every user of this machine can read a command line",
                         "name {file: PATH} or {env: NAME}; or write it into the config");
    }
    if (is_secret_header(name)) findings.plain_secrets.push_back(value.path());
  }
  if (std::max(name.size(), text.size()) > k_longest_http_field) {
    return value.error(
        "is longer than a header, which has at most " + std::to_string(k_longest_http_field) + " bytes",
        "move long content into the messages");
  }
  if (!is_header_value(text)) {
    return value.error("has a control character, such as a line feed", "a header's value is one line");
  }
  out.insert_or_assign(key.text, std::move(text));
}

void read_method(const config_value& value, std::string& out) {
  constexpr std::string_view k_names[] = {"POST", "PUT"};
  if (const int at = value.word(k_names); at >= 0) out = k_names[at];
}

void read_http(const config_value& value, http_sink_config& out) {
  const config_map map{value, k_http_keys};
  if (!map.valid()) return;
  if (const auto url = map.require("url", "as in url: https://pay.example/receipts")) {
    if (url->text(out.url) && !parse_http_url(out.url)) {
      url->error("is not an HTTP URL", "as in https://pay.example/receipts: no user (use a header) and no #");
    }
  }
  if (const auto method = map.get("method")) read_method(*method, out.method);
  if (const auto timeout = map.get("timeout")) {
    constexpr std::chrono::milliseconds k_least{10};
    constexpr std::chrono::milliseconds k_most{std::chrono::minutes{10}};
    if (timeout->duration(out.timeout) && (out.timeout < k_least || out.timeout > k_most))
      timeout->error(timeout->node().text + " is out of range", "it goes from 10ms to 10m");
  }
  if (const auto concurrency = map.get("concurrency")) {
    constexpr std::uint64_t k_most = 256;
    std::uint64_t number = 0;
    if (concurrency->number(number, 1, k_most)) out.concurrency = static_cast<std::uint32_t>(number);
  }
  if (const auto headers = map.get("headers")) {
    const config_map given{*headers, {}};
    if (!given.valid()) return;
    for (const config_node& key : headers->node().keys) {
      if (const auto header = given.get(key.text)) read_header(*header, key, out.headers);
    }
  }
  if (const auto ca = map.get("ca")) {
    std::string path;
    if (ca->text(path) && path.empty()) ca->error("is empty", "a file of certificates in PEM");
    if (!path.empty() && ca->findings().reads_secrets) {
      if (const auto why = refusal_of_certificates(path))
        ca->error("cannot read the certificates in " + path + ": " + *why,
                  "name a file of certificates in PEM");
    }
    out.ca = path;
  }
}

/// Once more, as a map's keys are read one by one: `callback: true`, and nothing else.
void read_flag(const config_value& value, const char* key) {
  if (!value.is_word("true"))
    value.error("must be `true`", std::string{"remove the key if the sink is not a "} + key);
}

void read_retry(const config_value& value, sink_config& out) {
  const config_map map{value, k_retry_keys};
  if (!map.valid()) return;
  constexpr std::chrono::milliseconds k_least{10};
  constexpr std::chrono::milliseconds k_most{std::chrono::hours{1}};
  const auto read = [&](const char* key, std::chrono::milliseconds& to) {
    const auto pause = map.get(key);
    if (pause && pause->duration(to) && (to < k_least || to > k_most))
      pause->error(pause->node().text + " is out of range", "it goes from 10ms to 1h");
  };
  read("first", out.first_pause);
  read("most", out.most_pause);
  if (out.first_pause > out.most_pause)
    value.error("begins above its `most`", "as in {first: 500ms, most: 30s}");
}

void read_one(const config_value& value, sink_config& out) {
  const config_map map{value, k_sink_keys};
  if (!map.valid()) return;
  if (const auto name = map.require("name", "streams publish to it as sink:NAME")) {
    if (name->text(out.name) && (!is_topic_name(out.name) || out.name.size() > k_longest_sink_name))
      name->error("is not a sink's name", "1 to 64 of a-z A-Z 0-9 . _ -");
    else if (out.name == k_topics_name)
      name->error("is what `ratchet sinks` calls Kafka's topics", "choose another name");
  }
  const auto http = map.get("http");
  const auto callback = map.get("callback");
  const auto discard = map.get("discard");
  const int kinds = (http ? 1 : 0) + (callback ? 1 : 0) + (discard ? 1 : 0);
  if (kinds != 1) {
    value.error(kinds == 0 ? "has no kind" : "has more than one kind",
                "http: {url: ...}, callback: true (a program adds it), or discard: true");
  }
  if (http) read_http(*http, out.http);
  if (callback) {
    out.kind = sink_config::kind_of::callback;
    callback->warn("is added by a program that embeds Ratchet; the command `ratchet` cannot run it",
                   "leave it to that program, or use an http sink");
    read_flag(*callback, "callback");
  }
  if (discard) {
    out.kind = sink_config::kind_of::discard;
    read_flag(*discard, "sink that discards messages");
  }
  if (const auto retry = map.get("retry")) read_retry(*retry, out);
}

}  // namespace

void warn_of_unused_sinks(const config_node& root, const config& read, config_findings& findings) {
  if (!findings.clean("sinks")) return;
  std::set<std::string, std::less<>> used;
  for (const stream_config& s : read.streams) {
    for (const std::string& to : topics_published_to(s)) used.emplace(sink_of(to));
  }
  const config_node* sinks = root.find("sinks");
  for (std::size_t i = 0; i < read.sinks.size(); ++i) {
    const sink_config& sink = read.sinks[i];
    if (sink.kind == sink_config::kind_of::discard || used.contains(sink.name)) continue;
    findings.warn(
        sinks->items[i].at, "sinks[" + std::to_string(i) + "]", "no stream publishes to " + sink.name,
        "name it in `emit` or `outputs` of a stream; or remove the sink once no message waits for it");
  }
}

void read_sinks(const config_value& value, std::vector<sink_config>& out) {
  for (const config_value& item : value.list("sinks")) {
    read_one(item, out.emplace_back());
  }
}

void read_destinations(const config_value& value, std::vector<std::string>& out) {
  for (const config_value& item : value.list("topics")) {
    const bool is_sink = item.node().text.starts_with(k_sink_prefix);
    (void)(is_sink ? item.text(out.emplace_back()) : read_topic(item, out.emplace_back()));
  }
}

}  // namespace ratchet
