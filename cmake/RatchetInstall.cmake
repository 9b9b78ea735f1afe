# What `cmake --install` puts where: the command, the shared library with its headers, what find_package and
# pkg-config need, the manual page and the completion.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS ratchet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ratchet_library EXPORT ratchet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ratchet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Where the pages for users link to them.
install(FILES ${PROJECT_SOURCE_DIR}/tools/alerts.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools)
install(FILES ${PROJECT_SOURCE_DIR}/tests/alerts/alerts_test.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests/alerts)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/install/payment_view ${PROJECT_SOURCE_DIR}/tests/install/payments_server
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests/install)
if(RATCHET_BUNDLED)
  # What is linked in takes its licences along.
  install(FILES ${rocksdb_SOURCE_DIR}/LICENSE.Apache ${rocksdb_SOURCE_DIR}/LICENSE.leveldb
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/rocksdb)
  install(FILES ${librdkafka_SOURCE_DIR}/LICENSES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/librdkafka)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ratchet)
install(EXPORT ratchet FILE ratchet-targets.cmake NAMESPACE ratchet:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ratchet-config.cmake.in
  ${PROJECT_BINARY_DIR}/ratchet-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ratchet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ratchet-config.cmake ${PROJECT_BINARY_DIR}/ratchet-config-version.cmake
        DESTINATION ${package_dir})

# Relative to where the file lies, so that the prefix may be chosen when it is installed.
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ratchet.pc.in ${PROJECT_BINARY_DIR}/ratchet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ratchet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Both are written by the command itself, from the definitions that its --help prints.
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/ratchet.1 ${PROJECT_BINARY_DIR}/ratchet.bash
  COMMAND ratchet manual > ${PROJECT_BINARY_DIR}/ratchet.1
  COMMAND ratchet completion bash > ${PROJECT_BINARY_DIR}/ratchet.bash
  DEPENDS ratchet VERBATIM)
add_custom_target(ratchet_manual ALL DEPENDS ${PROJECT_BINARY_DIR}/ratchet.1 ${PROJECT_BINARY_DIR}/ratchet.bash)
install(FILES ${PROJECT_BINARY_DIR}/ratchet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/ratchet.bash RENAME ratchet
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
