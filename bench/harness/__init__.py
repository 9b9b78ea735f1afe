# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of this folder share: a broker, runs of `ratchet bench`, and what is said of the machine."""
