// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
/// Its link is the test: see CMakeLists.txt.
int main() {}
