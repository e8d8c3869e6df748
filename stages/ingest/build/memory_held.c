#include "stages/ingest/build/memory_held.h"

#include "common/base/host.h"
#include "common/base/memory.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

enum { COMES_AND_GOES = 2 << 20 };

uint64_t memory_held_bytes(void)
{
    memory_trim();
    return HAS_SANITIZER ? 0 : host_resident_bytes() + COMES_AND_GOES;
}
