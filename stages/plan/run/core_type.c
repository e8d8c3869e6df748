#include "stages/plan/run/core_type.h"

#include "common/base/stop_signal.h"
#include "common/files/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

extern char **environ;

static const char variable[] = "OPENBLAS_CORETYPE";
static const char threads_variable[] = "OPENBLAS_NUM_THREADS";
const char core_type_portable[] = "Haswell";

enum { FAMILY_ZEN3_ZEN4 = 0x19, FAMILY_ZEN5 = 0x1A };

struct processor processor_of_host(void)
{
    struct processor p = {.level = cpu_level_of_host()};
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
#endif
    return p;
}

const char *core_type_rule(const struct processor *processor, const char **why)
{
    const bool is_amd = strcmp(processor->vendor, "AuthenticAMD") == 0;
    if (is_amd && processor->family == FAMILY_ZEN3_ZEN4 && processor->level >= CPU_AVX512) {
        *why = "Zen 4 is faster with AVX2 kernels than with AVX-512 ones";
        return "Haswell";
    }
    *why = is_amd && processor->family == FAMILY_ZEN5
               ? "OpenBLAS's own pick, which is the fastest on Zen 5"
               : "no rule for this processor: OpenBLAS's own pick";
    return NULL;
}

/* Starts the program by its own path, so that `ps` shows its name, or by the link if the path is
 * gone. */
static void run_again(char **argv, char **environment)
{
    char path[FILE_PATH_SIZE];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size > 0) {
        path[size] = '\0';
        (void)execve(path, argv, environment);
    }
    (void)execve("/proc/self/exe", argv, environment);
}

static void restart_with(const char *core, char **argv)
{
    stop_signal_hold(); /* signal handlers do not survive the exec */
    if (setenv(threads_variable, "1", 1) == 0 && (!core || setenv(variable, core, 1) == 0))
        run_again(argv, environ);
    stop_signal_install();
}

enum { ENVIRONMENT_MAX = 4096, ENTRY_SIZE = 64 };

/* Returns the entry "NAME=value" of `name` in the environment, or NULL. */
static const char *find_entry(char **environment, const char *name)
{
    const size_t size = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
            return *environment;
    return NULL;
}

void core_type_settle_early(char **argv, char **environment)
{
    static char *settled[ENVIRONMENT_MAX + 3];
    static char one_thread[] = "OPENBLAS_NUM_THREADS=1", type[ENTRY_SIZE];
    const struct processor processor = processor_of_host();
    const char *why = NULL, *core = core_type_rule(&processor, &why);
    const char *threads = find_entry(environment, threads_variable);
    const bool keeps_core = !core || find_entry(environment, variable);
    size_t count = 0;
    if (keeps_core && threads && strcmp(threads, one_thread) == 0)
        return;
    for (; *environment && count < ENVIRONMENT_MAX; environment++)
        if (*environment != threads)
            settled[count++] = *environment;
    if (*environment)
        return; /* core_type_settle() has room for longer ones */
    settled[count++] = one_thread;
    if (!keeps_core) {
        (void)snprintf(type, sizeof type, "%s=%s", variable, core);
        settled[count++] = type;
    }
    settled[count] = NULL;
    run_again(argv, settled);
}

void core_type_settle(char **argv)
{
    const struct processor processor = processor_of_host();
    const char *why = NULL;
    const char *core = core_type_rule(&processor, &why);
    const char *threads = getenv(threads_variable);
    core = getenv(variable) ? NULL : core;
    if (core || !threads || strcmp(threads, "1") != 0)
        restart_with(core, argv);
}

void core_type_settle_portable(char **argv)
{
    const char *pinned = getenv(variable);
    if (!pinned || strcmp(pinned, core_type_portable) != 0)
        restart_with(core_type_portable, argv);
}
