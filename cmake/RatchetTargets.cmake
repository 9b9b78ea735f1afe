# One target per folder of src/. A folder's headers are reached as "folder/name.hpp", and only by targets that
# link it: each folder gets an include root of its own that holds nothing but a link to itself. So the build
# refuses an include against the direction: public types <- core <- ports <- {decode, store, kafka, sinks} <- the rooms of
# the program, from text up to app <- workload <- cli. tools/rooms draws it.

add_library(ratchet_options INTERFACE)
# -Wsign-conversion is part of -Wconversion for Clang only: named, so that both compilers refuse the same code.
target_compile_options(ratchet_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                                 -Wnon-virtual-dtor -Woverloaded-virtual -fno-omit-frame-pointer)
if(RATCHET_WERROR)
  target_compile_options(ratchet_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND RATCHET_SANITIZE)
  # GCC 12 sees uninitialised variables that are not there once a sanitizer rewrites the code.
  target_compile_options(ratchet_options INTERFACE -Wno-maybe-uninitialized)
endif()
if(RATCHET_SANITIZE)
  target_compile_options(ratchet_options INTERFACE -fsanitize=${RATCHET_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(ratchet_options INTERFACE -fsanitize=${RATCHET_SANITIZE})
endif()

add_library(ratchet_public INTERFACE)
target_include_directories(ratchet_public INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(ratchet_public INTERFACE ratchet_options Boost::headers)

# ratchet_include_root(TARGET FOLDER SCOPE): lets those who link TARGET include "FOLDER/...".
function(ratchet_include_root target folder scope)
  set(root ${PROJECT_BINARY_DIR}/include_roots/${folder})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC)
  target_include_directories(${target} ${scope} ${root})
endfunction()

set(ratchet_loud_in_batches shadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND ratchet_loud_in_batches subobject-linkage)
endif()
# ratchet_in_batches(TARGET WARNING...): compiles its files several at a time, where RATCHET_UNITY says so, without these
# warnings. A name of one file may be a parameter's in another's header (shadow); and GCC takes each file of a batch for a
# header, where names of its own would be a mistake (subobject-linkage). A build without batches looks at both.
function(ratchet_in_batches target)
  if(RATCHET_UNITY)
    list(TRANSFORM ARGN REPLACE "(.+)" "#pragma GCC diagnostic ignored \"-W\\1\"" OUTPUT_VARIABLE pragmas)
    list(JOIN pragmas "\n" pragmas)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
                          UNITY_BUILD_CODE_BEFORE_INCLUDE "${pragmas}")
  endif()
endfunction()

# ratchet_folder(NAME SOURCES... LINKS...): the static library ratchet_NAME of this folder; header-only without sources.
function(ratchet_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(arg_SOURCES)
    add_library(ratchet_${name} STATIC ${arg_SOURCES})
    target_link_libraries(ratchet_${name} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
    ratchet_include_root(ratchet_${name} ${name} PUBLIC)
    ratchet_in_batches(ratchet_${name} ${ratchet_loud_in_batches})
  else()
    add_library(ratchet_${name} INTERFACE)
    target_link_libraries(ratchet_${name} INTERFACE ${arg_LINKS})
    ratchet_include_root(ratchet_${name} ${name} INTERFACE)
  endif()
endfunction()

# ratchet_seen_threads(TARGET): a program whose libraries make threads that ThreadSanitizer would not see.
function(ratchet_seen_threads target)
  if(RATCHET_SANITIZE MATCHES "thread")
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/tsan_threads.cpp)
  endif()
endfunction()

# ratchet_test(NAME LABEL SOURCES... LINKS...): a GoogleTest program; every test in it is a CTest test with that label.
function(ratchet_test name label)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  ratchet_seen_threads(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} TEST_PREFIX ${label}. DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT})
endfunction()
