// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
// Ends with 0 where this machine has what it was compiled for; or dies of it. See RatchetMarch.cmake.
int main() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#if defined(__SSE4_2__)
  if (!__builtin_cpu_supports("sse4.2")) return 1;
#endif
#if defined(__PCLMUL__)
  if (!__builtin_cpu_supports("pclmul")) return 1;
#endif
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) return 1;
#endif
#if defined(__BMI2__)
  if (!__builtin_cpu_supports("bmi2")) return 1;
#endif
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) return 1;
#endif
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) return 1;
#endif
#endif
  return 0;
}
