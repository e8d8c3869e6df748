#include "stages/core_type.h"

#include "common/base/stop_signal.h"
#include "common/math/bf16_product.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char variable[] = "OPENBLAS_CORETYPE";
const char core_type_portable[] = "Haswell";

enum { FAMILY_ZEN3_ZEN4 = 0x19, FAMILY_ZEN5 = 0x1A };

struct processor processor_of_host(void)
{
    struct processor p = {0};
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(p.vendor, &b, sizeof b);
        memcpy(p.vendor + 4, &d, sizeof d);
        memcpy(p.vendor + 8, &c, sizeof c);
    }
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        const uint32_t base = a >> 8 & 0xF, extended = a >> 20 & 0xFF;
        p.family = base == 0xF ? base + extended : base;
    }
    /* asks the system too: registers that it does not save are of no use */
    p.has_avx2 = __builtin_cpu_supports("avx2");
    p.has_avx512 = __builtin_cpu_supports("avx512f");
    p.has_bf16 = bf16_product_is_possible();
#endif
    return p;
}

const char *core_type_rule(const struct processor *processor, const char **why)
{
    const bool is_amd = strcmp(processor->vendor, "AuthenticAMD") == 0;
    if (is_amd && processor->family == FAMILY_ZEN3_ZEN4 && processor->has_avx512) {
        *why = "Zen 4 is faster with AVX2 kernels than with AVX-512 ones";
        return "Haswell";
    }
    *why = is_amd && processor->family == FAMILY_ZEN5
               ? "OpenBLAS's own pick, which is the fastest on Zen 5"
               : "no rule for this processor: OpenBLAS's own pick";
    return NULL;
}

static void restart_with(const char *core, char **argv)
{
    stop_signal_hold(); /* handlers do not outlive the exec */
    if (setenv(variable, core, 1) == 0)
        (void)execv("/proc/self/exe", argv);
    stop_signal_install();
}

void core_type_settle(char **argv)
{
    const struct processor processor = processor_of_host();
    const char *why = NULL;
    const char *core = core_type_rule(&processor, &why);
    if (core && !getenv(variable))
        restart_with(core, argv);
}

void core_type_settle_portable(char **argv)
{
    const char *pinned = getenv(variable);
    if (!pinned || strcmp(pinned, core_type_portable) != 0)
        restart_with(core_type_portable, argv);
}
