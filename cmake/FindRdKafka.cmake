# Defines RdKafka::rdkafka. Tries librdkafka's own CMake config, then pkg-config (Debian ships only the latter).
find_package(RdKafka QUIET CONFIG)
if(NOT TARGET RdKafka::rdkafka)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET GLOBAL rdkafka>=2.0)
  add_library(RdKafka::rdkafka ALIAS PkgConfig::RDKAFKA)
endif()
set(RdKafka_FOUND TRUE)
