# RATCHET_MARCH: the processors that everything is compiled for, as -march takes them; empty: any.
set(march_default "")
if(RATCHET_BUNDLED AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(march_default x86-64-v3)  # Haswell (2013), Zen (2017), and all since
endif()
set(RATCHET_MARCH "${march_default}" CACHE STRING "What -march takes (x86-64-v3, native ...); empty: for any processor")

if(RATCHET_MARCH)
  set(march_flags -march=${RATCHET_MARCH})
  if(RATCHET_MARCH MATCHES "^x86-64-v[34]$")
    list(APPEND march_flags -mpclmul)  # in no level, and in every such processor; RocksDB's fast CRC32C needs it
  endif()
  if(NOT CMAKE_CROSSCOMPILING AND NOT RATCHET_MARCH_RUNS STREQUAL RATCHET_MARCH)
    unset(march_run CACHE)
    unset(march_compiled CACHE)
    try_run(march_run march_compiled ${CMAKE_BINARY_DIR}/march ${CMAKE_CURRENT_LIST_DIR}/march_runs.cpp
            COMPILE_DEFINITIONS ${march_flags} COMPILE_OUTPUT_VARIABLE march_output)
    if(NOT march_compiled)
      message(FATAL_ERROR "RATCHET_MARCH: the compiler does not take \"${march_flags}\":\n${march_output}")
    endif()
    if(NOT march_run STREQUAL "0")
      message(FATAL_ERROR "RATCHET_MARCH: this machine cannot run what \"${march_flags}\" makes.\n"
        "-DRATCHET_MARCH=native is for this machine, -DRATCHET_MARCH= for any.")
    endif()
    set(RATCHET_MARCH_RUNS "${RATCHET_MARCH}" CACHE INTERNAL "The last RATCHET_MARCH that was seen to run here")
  endif()
  list(JOIN march_flags " " march_flags)
  string(APPEND CMAKE_CXX_FLAGS " ${march_flags}")
  string(APPEND CMAKE_C_FLAGS " ${march_flags}")
endif()
