# RATCHET_BUNDLED=ON: RocksDB and librdkafka from pinned sources, linked in, in place of the installed ones.
# Defines RatchetRocksDB and RdKafka::rdkafka, and the versions that `ratchet version` prints.
include(FetchContent)
enable_language(C)
if(RATCHET_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${RATCHET_CCACHE})
endif()

# What librdkafka links; and libcurl, of which it only includes a header: it does so even where it is built without
# (2.11 to 2.14, its issue 5135).
find_package(PkgConfig REQUIRED)
pkg_check_modules(RATCHET_BUNDLED_LINKS QUIET libsasl2 zlib liblz4 libzstd libcurl)
if(NOT RATCHET_BUNDLED_LINKS_FOUND)
  message(FATAL_ERROR "RATCHET_BUNDLED: libsasl2, zlib, liblz4, libzstd and libcurl are needed with their headers. "
    "Where they are Debian's:  tools/deps --bundled")
endif()

# ratchet_bundled_source(NAME VERSION URL SHA256): sets NAME_SOURCE_DIR to the unpacked source tree, which is downloaded
# where FETCHCONTENT_SOURCE_DIR_NAME does not name one. RATCHET_NAME_URL names another place of the same archive.
macro(ratchet_bundled_source name version url sha256)
  string(TOUPPER ${name} upper)
  set(archive ${CMAKE_BINARY_DIR}/${name}-${version}.tar.gz)
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND NOT EXISTS ${archive})
    set(from ${url})
    if(RATCHET_${upper}_URL)
      set(from ${RATCHET_${upper}_URL})
    endif()
    message(STATUS "Bundled: downloading ${from}")
    # Not by FetchContent itself, whose failure would not say what to do.
    file(DOWNLOAD ${from} ${archive}.part STATUS download TLS_VERIFY ON INACTIVITY_TIMEOUT 60)
    list(GET download 0 code)
    list(GET download 1 reason)
    if(NOT code EQUAL 0)
      file(REMOVE ${archive}.part)
      message(FATAL_ERROR "RATCHET_BUNDLED: ${from}\ncould not be downloaded: ${reason}\n"
        "Give cmake unpacked source trees of ${name} ${version} and its sibling instead, with\n"
        "  -DFETCHCONTENT_SOURCE_DIR_ROCKSDB=DIR -DFETCHCONTENT_SOURCE_DIR_LIBRDKAFKA=DIR\n"
        "which tools/bundled-sources can get from crates.io and Debian; or another address of the same archive, with\n"
        "  -DRATCHET_${upper}_URL=URL\nor use the installed libraries, with -DRATCHET_BUNDLED=OFF.")
    endif()
    file(RENAME ${archive}.part ${archive})
  endif()
  FetchContent_Declare(${name} URL ${archive} URL_HASH SHA256=${sha256} DOWNLOAD_EXTRACT_TIMESTAMP OFF
    SOURCE_SUBDIR only-unpack)  # what is not there is not added: ratchet_bundled_build does
  FetchContent_MakeAvailable(${name})
endmacro()

# A function, so that none of this reaches our own code, and neither library's options the other's.
function(ratchet_bundled_build name optimized)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # option() and set(CACHE) leave the variables alone that are set here
  set(CMAKE_POLICY_DEFAULT_CMP0126 NEW)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # whoever links the library links what it found, too
  set(CMAKE_C_VISIBILITY_PRESET hidden)
  set(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT OFF)  # else RocksDB moves where all of the project is installed to
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  set(CMAKE_C_FLAGS_${config} "${optimized} ${ratchet_fortify}")  # in every kind of build of ours
  set(CMAKE_CXX_FLAGS_${config} "${optimized} ${ratchet_fortify}")
  foreach(setting ${ARGN})
    string(REGEX MATCH "^([^=]+)=(.*)$" setting ${setting})
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  # Left out of `install`; its headers are a system's, whose warnings are not ours.
  add_subdirectory(${${name}_SOURCE_DIR} ${CMAKE_BINARY_DIR}/bundled/${name} EXCLUDE_FROM_ALL SYSTEM)
endfunction()

set(RocksDB_VERSION 11.8.1)
ratchet_bundled_source(rocksdb ${RocksDB_VERSION}
  https://github.com/facebook/rocksdb/archive/refs/tags/v${RocksDB_VERSION}.tar.gz
  618d9726a7cb1cf4ce034f4cdca49de98aa64867dda06b91371a791ae8921aff)
# No compression, as the store's column families use none. RTTI, as the store and its tests derive from its classes.
ratchet_bundled_build(rocksdb "-O2 -DNDEBUG"
  ROCKSDB_BUILD_SHARED=OFF USE_RTTI=ON PORTABLE=1 FAIL_ON_WARNINGS=OFF WITH_GFLAGS=OFF WITH_LIBURING=OFF
  WITH_TESTS=OFF WITH_TOOLS=OFF WITH_CORE_TOOLS=OFF WITH_BENCHMARK_TOOLS=OFF WITH_TRACE_TOOLS=OFF)
add_library(RatchetRocksDB ALIAS rocksdb)

set(RDKAFKA_VERSION 2.14.2)
ratchet_bundled_source(librdkafka ${RDKAFKA_VERSION}
  https://github.com/confluentinc/librdkafka/archive/refs/tags/v${RDKAFKA_VERSION}.tar.gz
  d7eec9c31c817fa44402f679c252dfbf97e4c338a849a25c3579a31fd127beb8)
# The features of Debian's build: a config that works with one of them works with the other. With assertions, as
# librdkafka's own configure leaves them in.
ratchet_bundled_build(librdkafka "-O2"
  RDKAFKA_BUILD_STATIC=ON RDKAFKA_BUILD_EXAMPLES=OFF RDKAFKA_BUILD_TESTS=OFF ENABLE_LZ4_EXT=ON WITH_CURL=OFF
  WITH_ZLIB=ON WITH_ZSTD=ON WITH_SSL=ON WITH_SASL=ON)
add_library(RdKafka::rdkafka ALIAS rdkafka)
target_include_directories(rdkafka SYSTEM PRIVATE ${RATCHET_BUNDLED_LINKS_INCLUDE_DIRS})  # of curl, above all
# Its CMake files do not say so themselves before 2.15 (its issue 5282): its atomics would be set without being atomic,
# and nobody be told that all brokers are down.
target_compile_definitions(rdkafka PRIVATE HAVE_ATOMICS_32_ATOMIC=1 HAVE_ATOMICS_64_ATOMIC=1)

# For everything, tests too: who included an installed header of another version would build, and then crash.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bundled/include)
file(CREATE_LINK ${librdkafka_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/bundled/include/librdkafka SYMBOLIC)
include_directories(SYSTEM ${rocksdb_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/bundled/include)

# Where the trees are somebody's own, their versions may be others.
file(STRINGS ${rocksdb_SOURCE_DIR}/include/rocksdb/version.h lines REGEX "define ROCKSDB_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" lines "${lines}")
list(JOIN lines . RocksDB_VERSION)
file(STRINGS ${librdkafka_SOURCE_DIR}/src/rdkafka.h line REGEX "define RD_KAFKA_VERSION ")
string(REGEX MATCH "0x(..)(..)(..)" line "${line}")
set(RDKAFKA_VERSION "")
foreach(hex ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
  math(EXPR number "0x${hex}")
  list(APPEND RDKAFKA_VERSION ${number})
endforeach()
list(JOIN RDKAFKA_VERSION . RDKAFKA_VERSION)
message(STATUS "Bundled: RocksDB ${RocksDB_VERSION} of ${rocksdb_SOURCE_DIR}, librdkafka ${RDKAFKA_VERSION} of ${librdkafka_SOURCE_DIR}")
