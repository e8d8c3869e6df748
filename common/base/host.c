#include "common/base/host.h"

#include <stdio.h>
#include <unistd.h>

int host_core_count(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

/* The number a one-line file starts with; 0 when there is none ("max"). */
static uint64_t number_in(const char *path)
{
    unsigned long long value = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu", &value) != 1) // NOLINT(cert-err34-c): 0 is the answer then
        value = 0;
    (void)fclose(file);
    return value;
}

uint64_t host_memory_bytes(void)
{
    static const char *const limit_files[] = {"/sys/fs/cgroup/memory.max",
                                              "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 1ULL << 30;
    for (int i = 0; i < 2; i++) {
        const uint64_t limit = number_in(limit_files[i]);
        if (limit && limit < bytes)
            bytes = limit;
    }
    return bytes;
}

uint64_t host_resident_bytes(void)
{
    unsigned long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &total, &resident) != 2) // NOLINT(cert-err34-c): as above
        resident = 0;
    (void)fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}
