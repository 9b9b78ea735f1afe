# ratchet_from_pkg_config(TARGET PREFIX MODULE): defines TARGET, and PREFIX_VERSION, by pkg-config: of a library that ships
# no CMake config on Debian. A macro, so that the version is seen outside.
macro(ratchet_from_pkg_config target prefix module)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET GLOBAL ${module})
  add_library(${target} ALIAS PkgConfig::${prefix})
endmacro()
