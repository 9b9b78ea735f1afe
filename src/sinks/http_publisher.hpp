// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "ports/publisher.hpp"
#include "ratchet/config.hpp"
#include "ratchet/error.hpp"

namespace ratchet {

/// Sends each message as one HTTP/1.1 request, on a thread of its own, up to `concurrency` at a time over
/// connections that are kept open. Rows come with the headers of a published message.
///
/// The body is the payload as it stands; the headers are a CloudEvent's in binary mode and
/// `Idempotency-Key: "<id>"`. What the answer means: http_answers.hpp. Where no answer comes in time, or the
/// connection or TLS fails, it is `again`; a connection that was kept open and turns out to be closed is
/// replaced once without a word. Of an answer 128 KiB are read at most and 200 bytes of its body told of. An
/// exception on its thread, as where memory is short, breaks off what is under way, which is `again` then.
/// The end breaks off what is under way. A name that is being resolved at that moment is waited for. Errors:
/// config_invalid (the URL); io, where the certificates cannot be read.
[[nodiscard]] reported<std::unique_ptr<publisher>> make_http_publisher(const std::string& sink,
                                                                       const http_sink_config&);

/// Why a file does not do as `http.ca`, in OpenSSL's words where it is read; none: it does.
[[nodiscard]] std::optional<std::string> refusal_of_certificates(const std::filesystem::path&);

}  // namespace ratchet
