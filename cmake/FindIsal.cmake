# Defines Isal::isal from pkg-config: Intel's ISA-L, which ships no CMake config.
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET GLOBAL libisal>=2.20)
if(NOT TARGET Isal::isal)
  add_library(Isal::isal ALIAS PkgConfig::ISAL)
endif()
set(Isal_FOUND TRUE)
