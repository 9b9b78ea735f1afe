# Defines XxHash::xxhash from pkg-config; xxHash ships no CMake config on Debian.
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET GLOBAL libxxhash>=0.8)
if(NOT TARGET XxHash::xxhash)
  add_library(XxHash::xxhash ALIAS PkgConfig::XXHASH)
endif()
set(XxHash_FOUND TRUE)
