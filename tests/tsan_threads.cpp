// Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>

/// For programs under ThreadSanitizer only: the C11 threads of librdkafka, made of POSIX ones.
/// ThreadSanitizer follows pthread_create() and knows nothing of thrd_create(): a thread from there crashes
/// in the first call that it intercepts, and the locks of such threads would not be seen. These definitions,
/// in the program itself, go before those of the C library for every library that it loads. In glibc mtx_t,
/// cnd_t and thrd_t are their POSIX counterparts under another name.
namespace {

static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) && alignof(mtx_t) >= alignof(pthread_mutex_t));
static_assert(sizeof(cnd_t) >= sizeof(pthread_cond_t) && alignof(cnd_t) >= alignof(pthread_cond_t));
static_assert(sizeof(thrd_t) == sizeof(pthread_t));

struct start {
  thrd_start_t function;
  void* argument;
};

void* run(void* given) {
  const std::unique_ptr<start> from{static_cast<start*>(given)};
  const auto function = from->function;
  void* const argument = from->argument;
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(function(argument)));
}

int to_c11(int code) {
  switch (code) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* of(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}

pthread_cond_t* of(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int thrd_create(thrd_t* thread, thrd_start_t function,
                                                       void* argument) {
  auto from = std::make_unique<start>(start{function, argument});
  const int code = pthread_create(thread, nullptr, run, from.get());
  if (code == 0) (void)from.release();  // run() frees it
  return to_c11(code);
}

__attribute__((visibility("default"))) int thrd_join(thrd_t thread, int* result) {
  void* value = nullptr;
  const int code = pthread_join(thread, &value);
  if (code == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return to_c11(code);
}

__attribute__((visibility("default"))) int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int code = pthread_mutex_init(of(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return to_c11(code);
}

__attribute__((visibility("default"))) int mtx_lock(mtx_t* mutex) {
  return to_c11(pthread_mutex_lock(of(mutex)));
}

__attribute__((visibility("default"))) int mtx_unlock(mtx_t* mutex) {
  return to_c11(pthread_mutex_unlock(of(mutex)));
}

__attribute__((visibility("default"))) void mtx_destroy(mtx_t* mutex) {
  pthread_mutex_destroy(of(mutex));
}

__attribute__((visibility("default"))) int cnd_init(cnd_t* condition) {
  return to_c11(pthread_cond_init(of(condition), nullptr));
}

__attribute__((visibility("default"))) int cnd_signal(cnd_t* condition) {
  return to_c11(pthread_cond_signal(of(condition)));
}

__attribute__((visibility("default"))) int cnd_broadcast(cnd_t* condition) {
  return to_c11(pthread_cond_broadcast(of(condition)));
}

__attribute__((visibility("default"))) int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return to_c11(pthread_cond_wait(of(condition), of(mutex)));
}

__attribute__((visibility("default"))) int cnd_timedwait(cnd_t* condition, mtx_t* mutex,
                                                         const timespec* until) {
  return to_c11(pthread_cond_timedwait(of(condition), of(mutex), until));
}

__attribute__((visibility("default"))) void cnd_destroy(cnd_t* condition) {
  pthread_cond_destroy(of(condition));
}
}
