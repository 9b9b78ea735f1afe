// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/beast/http/serializer.hpp>
#include <string>

#include "fuzz/fuzz_input.hpp"
#include "sinks/http_request.hpp"

/// Messages that are written as requests: whatever their texts hold, either there is one request, with the
/// headers that it was given and no others, or words that say why there is none.

using namespace ratchet;

namespace {

/// Maybe long: the limit of a header is far above what an input holds.
std::string text_of(fuzz::fuzz_input& in) {
  const std::string_view piece = in.text();
  const std::size_t times = in.flag() ? std::size_t{in.u8()} * 4 : 1;
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

std::string bytes_of(const http_request& r) {
  namespace http = boost::beast::http;
  http::serializer<true, http::string_body, http::fields> from{r};
  std::string out;
  while (!from.is_done()) {
    boost::system::error_code failed;
    from.next(failed, [&](boost::system::error_code&, const auto& buffers) {
      std::size_t size = 0;
      for (auto at = boost::asio::buffer_sequence_begin(buffers);
           at != boost::asio::buffer_sequence_end(buffers); ++at) {
        const boost::asio::const_buffer piece{*at};
        out.append(static_cast<const char*>(piece.data()), piece.size());
        size += piece.size();
      }
      from.consume(size);
    });
    RATCHET_FUZZ_CHECK(!failed);
  }
  return out;
}

/// Read by hand: not by the library that wrote it.
void check_bytes(std::string_view bytes, std::size_t headers, std::string_view body) {
  const std::size_t end = bytes.find("\r\n\r\n");
  RATCHET_FUZZ_CHECK(end != std::string_view::npos);
  RATCHET_FUZZ_CHECK(bytes.substr(end + 4) == body);
  std::string_view head = bytes.substr(0, end + 2);
  std::size_t lines = 0;
  std::size_t lengths = 0;
  while (!head.empty()) {
    const std::size_t size = head.find("\r\n");
    const std::string_view line = head.substr(0, size);
    RATCHET_FUZZ_CHECK(line.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos);
    if (lines == 0) RATCHET_FUZZ_CHECK(line == "POST /in HTTP/1.1");
    if (lines > 0) RATCHET_FUZZ_CHECK(line.find(": ") != std::string_view::npos && line.find(": ") > 0);
    if (line.starts_with("Content-Length: ")) {
      ++lengths;
      RATCHET_FUZZ_CHECK(line.substr(16) == std::to_string(body.size()));
    }
    RATCHET_FUZZ_CHECK(!line.starts_with("Transfer-Encoding"));
    ++lines;
    head.remove_prefix(size + 2);
  }
  RATCHET_FUZZ_CHECK(lines == headers + 1 && lengths == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::fuzz_input in{data, size};
  http_request_form form;
  form.url = *parse_http_url("http://a.example/in");
  // Host, User-Agent, Content-Length, and what follows.
  std::size_t headers = 3;
  if (in.flag()) {
    form.headers.emplace("X-Own", text_of(in));
    ++headers;
  }
  output_row row;
  for (const char* name : {"ce_id", "ce_type", "ce_subject"}) {
    row.headers.emplace_back(name, text_of(in));
    headers += std::string_view{name} == "ce_id" ? 2U : 1U;  // with Idempotency-Key
  }
  const std::string type = text_of(in);
  row.headers.emplace_back("content-type", type);
  if (in.flag()) {
    row.value = std::string{in.rest()};
    ++headers;
  }
  std::string why;
  const auto written = write_request(form, row, why);
  if (!written) {
    RATCHET_FUZZ_CHECK(!why.empty() && why.size() < 500);
    RATCHET_FUZZ_CHECK(std::all_of(why.begin(), why.end(), [](char c) { return c >= ' ' && c < 0x7f; }));
    return 0;
  }
  if (row.value) RATCHET_FUZZ_CHECK(is_media_type(type));
  check_bytes(bytes_of(*written), headers, row.value.value_or(""));
  return 0;
}
