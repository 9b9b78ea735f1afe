// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "broker/kafka_fixture.hpp"

/// A broker that asks who one is: listeners with TLS (TLS), with a login (LOGIN) and with both (SAFE), and an
/// authorizer that allows its users nothing but what ACLs grant. Who comes in by the plain listener may do
/// everything: that is the test itself.
namespace ratchet::testing {

/// Certificates in PEM, made by openssl: of the broker (for 127.0.0.1 alone), of the CA that signed it, and
/// of a CA that did not.
class test_certificates {
 public:
  test_certificates() {
    std::string name = (std::filesystem::temp_directory_path() / "ratchet-tls-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"mkdtemp failed"};
    directory_ = name;
    const std::string script =
        "cd '" + name +
        "' && exec >openssl.log 2>&1 && set -e\n"
        "key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out $1; }\n"
        "key ca.key; openssl req -x509 -key ca.key -out ca.pem -days 2 -subj /CN=test-ca\n"
        "key other.key; openssl req -x509 -key other.key -out other-ca.pem -days 2 -subj /CN=other-ca\n"
        "key broker.key; openssl req -new -key broker.key -out broker.csr -subj /CN=broker\n"
        "echo subjectAltName=IP:127.0.0.1 >ext\n"
        "openssl x509 -req -in broker.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out "
        "broker.crt\n"
        "cat broker.key broker.crt >broker.pem\n";
    if (std::system(script.c_str()) != 0) throw std::runtime_error{"openssl failed; see " + name};
  }
  ~test_certificates() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  test_certificates(const test_certificates&) = delete;
  test_certificates& operator=(const test_certificates&) = delete;
  [[nodiscard]] std::string path(const char* name) const { return (directory_ / name).string(); }

 private:
  std::filesystem::path directory_;
};

class secure_broker {
 public:
  static constexpr const char* k_user = "alice";
  static constexpr const char* k_password = "open-sesame-4711";

  secure_broker() : broker_{options(certificates_)} {}

  [[nodiscard]] const test_certificates& certificates() const noexcept { return certificates_; }
  [[nodiscard]] std::string plain() const { return broker_.bootstrap(); }
  /// HOST:PORT of TLS, LOGIN or SAFE.
  [[nodiscard]] std::string address(const std::string& listener) const {
    std::ifstream in{broker_.dir() + "/broker.properties"};
    const std::string begin = "advertised.listeners=";
    for (std::string line; std::getline(in, line);) {
      const auto at = line.find("," + listener + "://");
      if (line.rfind(begin, 0) != 0 || at == std::string::npos) continue;
      const auto from = at + listener.size() + 4;
      return line.substr(from, line.find(',', from) - from);
    }
    throw std::runtime_error{"no listener " + listener};
  }

 private:
  static std::string options(const test_certificates& tls) {
    const std::string login = std::string{"plain.sasl.jaas.config=org.apache.kafka.common.security.plain."} +
                              "PlainLoginModule required user_" + k_user + "=\"" + k_password + "\";'";
    return "--listener TLS:SSL --listener LOGIN:SASL_PLAINTEXT --listener SAFE:SASL_SSL"
           " --set ssl.keystore.type=PEM --set ssl.keystore.location=" +
           tls.path("broker.pem") + " --set sasl.enabled.mechanisms=PLAIN --set 'listener.name.login." +
           login + " --set 'listener.name.safe." + login +
           " --set authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer"
           " --set super.users=User:ANONYMOUS --set connection.failed.authentication.delay.ms=50";
  }

  test_certificates certificates_;
  local_broker broker_;
};

}  // namespace ratchet::testing
