#include "stages/engine/address_budget.h"

#include "common/base/host.h"
#include "common/base/log.h"

#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { PRODUCT_MIB = 130, BESIDE_MIB = 64 };

void address_budget_begin(void)
{
#ifdef __GLIBC__
    static const uint64_t few = 4ULL << 30;
    if (host_address_limit() && host_address_limit() < few)
        (void)mallopt(M_ARENA_MAX, 1);
#endif
}

enum error_code address_budget_fit(uint64_t left, bool multiplies, int *threads,
                                   uint64_t *memory_bytes, struct error *err)
{
    const uint64_t mib = left >> 20;
    const uint64_t each = multiplies ? PRODUCT_MIB : 0;
    if (left == UINT64_MAX)
        return ERROR_NONE;
    if (mib < each + BESIDE_MIB)
        return error_set(err, ERROR_NO_MEMORY,
                         "no memory: %" PRIu64 " MiB of addresses are left of a limit of %" PRIu64
                         " MiB (ulimit -v), expected at least %" PRIu64 " MiB: " ADVICE
                         "raise the limit to %" PRIu64 " MiB",
                         mib, host_address_limit() >> 20, each + BESIDE_MIB,
                         (host_address_limit() >> 20) + each + BESIDE_MIB - mib);
    /* The buffers of products may take at most half of what is left. */
    const uint64_t fit = each && mib / 2 > each ? mib / 2 / each : 1;
    if (multiplies && (uint64_t)*threads > fit) {
        log_info("threads: %" PRIu64 " instead of %d: %" PRIu64
                 " MiB of addresses are left (ulimit -v)",
                 fit, *threads, mib);
        *threads = (int)fit;
    }
    const uint64_t products = each * (uint64_t)*threads;
    const uint64_t budget = (mib - products) / 2;
    if (*memory_bytes >> 20 > budget) {
        log_info("memory: %" PRIu64 " MiB instead of %" PRIu64 " MiB: %" PRIu64
                 " MiB of addresses are left (ulimit -v)",
                 budget, *memory_bytes >> 20, mib);
        *memory_bytes = budget << 20;
    }
    return ERROR_NONE;
}
