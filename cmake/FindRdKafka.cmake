# Defines RdKafka::rdkafka. Tries librdkafka's own CMake config, then pkg-config (Debian ships only the latter).
find_package(RdKafka QUIET CONFIG)
if(NOT TARGET RdKafka::rdkafka)
  ratchet_from_pkg_config(RdKafka::rdkafka RDKAFKA rdkafka>=2.0)
endif()
set(RdKafka_FOUND TRUE)
