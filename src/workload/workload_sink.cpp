// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include "workload/workload_sink.hpp"

#include <utility>

#include "text/json_writer.hpp"

namespace ratchet {
namespace {

result<void> write_line(std::FILE* file, std::string_view line) {
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size()) return errc::io;
  if (std::fputc('\n', file) == EOF) return errc::io;
  return boost::outcome_v2::success();
}

result<void> flush(std::FILE* file) {
  if (std::fflush(file) != 0 || std::ferror(file) != 0) return errc::io;
  return boost::outcome_v2::success();
}

class line_sink final : public workload_sink {
 public:
  explicit line_sink(std::FILE* file) : file_{file} {}

  result<void> put(const workload_record&, std::string_view, std::string_view value) override {
    return write_line(file_, value);
  }
  result<void> finish() override { return flush(file_); }

 private:
  std::FILE* file_;
};

class record_line_sink final : public workload_sink {
 public:
  record_line_sink(std::FILE* file, const std::string& topic, std::uint32_t partitions)
      : file_{file}, next_offset_(partitions, 0) {
    append_json_string(topic_, topic);
  }

  result<void> put(const workload_record& record, std::string_view key, std::string_view value) override {
    const auto partition = workload_partition(key, static_cast<std::uint32_t>(next_offset_.size()));
    line_ = "{\"topic\":" + topic_ + ",\"partition\":" + std::to_string(partition) +
            ",\"offset\":" + std::to_string(next_offset_[partition]++) +
            ",\"tstype\":\"create\",\"ts\":" + std::to_string(record.time.time_since_epoch().count()) +
            ",\"key\":";
    append_json_string(line_, key);
    line_ += ",\"payload\":";
    append_json_string(line_, value);
    line_ += '}';
    return write_line(file_, line_);
  }
  result<void> finish() override { return flush(file_); }

 private:
  std::FILE* file_;
  std::string topic_;  // with its quotes
  std::vector<std::int64_t> next_offset_;
  std::string line_;
};

}  // namespace

std::unique_ptr<workload_sink> make_line_sink(std::FILE* file) {
  return std::make_unique<line_sink>(file);
}

std::unique_ptr<workload_sink> make_record_line_sink(std::FILE* file, const std::string& topic,
                                                     std::uint32_t partitions) {
  return std::make_unique<record_line_sink>(file, topic, partitions);
}

reported<void> fill(workload_sink& sink, workload_stream& stream, workload_oracle& oracle,
                    const std::function<bool(std::uint64_t)>& go_on) {
  std::string value;
  for (workload_record record; stream.next(record);) {
    value.clear();
    stream.render(record.event, value);
    oracle.observe(record);
    if (const auto put = sink.put(record, workload_stream::key(record.event), value); !put) {
      return problem{put.error(), "cannot write record " + std::to_string(stream.drawn()), {}, {}};
    }
    if (!go_on(stream.drawn())) return problem{errc::aborted, "stopped", {}, {}};
  }
  if (const auto done = sink.finish(); !done) {
    return problem{done.error(), "not every record was taken", {}, {}};
  }
  return BOOST_OUTCOME_V2_NAMESPACE::success();
}

}  // namespace ratchet
