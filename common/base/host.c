#define _GNU_SOURCE /* sched_getaffinity(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/base/host.h"

#include "common/base/control_group.h"
#include "common/base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static const uint64_t no_limit_from = 1ULL << 60;

/* Returns the number of cores in the affinity mask; 0 if the scheduler does not tell. It refuses a
 * set that is too small for the machine's cores. */
static int cores_of_affinity(void)
{
    for (size_t cores = CPU_SETSIZE; cores <= (size_t)CPU_SETSIZE << 8; cores *= 2) {
        const size_t size = CPU_ALLOC_SIZE(cores);
        cpu_set_t *set = CPU_ALLOC(cores);
        if (!set)
            return 0;
        const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        const bool too_small = count == 0 && errno == EINVAL;
        CPU_FREE(set);
        if (!too_small)
            return count;
    }
    return 0;
}

/* Opens the file `name` in `folder`; NULL on failure. */
static FILE *open_in(const char *folder, const char *name)
{
    char path[4096];
    const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    return size > 0 && (size_t)size < sizeof path ? fopen(path, "re") : NULL;
}

int host_cores_of_quota(const char *folder)
{
    long long quota = 0, period = 0;
    FILE *both = open_in(folder, "cpu.max"); /* "150000 100000", or "max 100000" */
    FILE *one = both ? NULL : open_in(folder, "cpu.cfs_quota_us"); /* -1: there is no quota */
    FILE *other = both ? NULL : open_in(folder, "cpu.cfs_period_us");
    /* NOLINTNEXTLINE(cert-err34-c): what is no number is no quota */
    const bool found = both ? fscanf(both, "%lld %lld", &quota, &period) == 2
                            : one && other && fscanf(one, "%lld", &quota) == 1 && // NOLINT
                                  fscanf(other, "%lld", &period) == 1;            // NOLINT
    FILE *const files[] = {both, one, other};
    for (int i = 0; i < 3; i++)
        if (files[i])
            (void)fclose(files[i]);
    if (!found || quota <= 0 || period <= 0 || quota / period >= INT_MAX)
        return 0;
    return (int)((quota + period - 1) / period);
}

static int fewer(int count, int limit)
{
    return limit > 0 && limit < count ? limit : count;
}

static void take_quota(void *context, const char *folder, int depth)
{
    int *count = context;
    (void)depth;
    *count = fewer(*count, host_cores_of_quota(folder));
}

int host_core_count_below(const char *root)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    int count = fewer(online > 0 && online < INT_MAX ? (int)online : 1, cores_of_affinity());
    control_group_visit(root, "cpu", take_quota, &count);
    return count;
}

int host_core_count(void)
{
    return host_core_count_below("");
}

void host_processor_name(char *text, size_t size)
{
    static const char field[] = "model name";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    (void)snprintf(text, size, "an unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (!value || strncmp(line, field, strlen(field)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(text, size, "%s", value + 1 + strspn(value + 1, " "));
        break;
    }
    if (file)
        (void)fclose(file);
}

/* Reads the number at the start of a file; 0 if there is no number ("max") or a negative one.
 * Closes the file. */
static uint64_t number_of(FILE *file)
{
    long long value = 0;
    /* NOLINTNEXTLINE(cert-err34-c): what is no number is 0 */
    const bool found = fscanf(file, "%lld", &value) == 1 && value > 0;
    (void)fclose(file);
    return found ? (uint64_t)value : 0;
}

static uint64_t less(uint64_t bytes, uint64_t limit)
{
    return limit && limit < bytes ? limit : bytes;
}

/* Reads the number in a file of the group; 0: there is none. */
static uint64_t number_in(const char *folder, const char *name)
{
    FILE *file = open_in(folder, name);
    return file ? number_of(file) : 0;
}

uint64_t host_memory_of_limit(const char *folder)
{
    const uint64_t most = number_in(folder, "memory.max"), high = number_in(folder, "memory.high");
    const uint64_t limit = most ? less(most, high) : high;
    const uint64_t bytes = limit ? limit : number_in(folder, "memory.limit_in_bytes");
    return bytes >= no_limit_from ? 0 : bytes; /* version 1 writes a number for "no limit" */
}

static void take_limit(void *context, const char *folder, int depth)
{
    uint64_t *bytes = context;
    (void)depth;
    *bytes = less(*bytes, host_memory_of_limit(folder));
}

/* Returns the soft limit; 0: none. */
static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
               ? (uint64_t)limit.rlim_cur
               : 0;
}

uint64_t host_memory_bytes_below(const char *root)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 1ULL << 30;
    control_group_visit(root, "memory", take_limit, &bytes);
    bytes = less(bytes, limit_of(RLIMIT_AS));
    return less(bytes, limit_of(RLIMIT_DATA));
}

uint64_t host_memory_bytes(void)
{
    return host_memory_bytes_below("");
}

uint64_t host_address_limit(void)
{
    return limit_of(RLIMIT_AS);
}

uint64_t host_addresses_left(void)
{
    unsigned long long pages = 0;
    const uint64_t limit = host_address_limit();
    FILE *file = limit ? fopen("/proc/self/statm", "re") : NULL;
    if (!limit)
        return UINT64_MAX;
    if (!file)
        return limit / 2;
    if (fscanf(file, "%llu", &pages) != 1) // NOLINT(cert-err34-c): what is no number is 0
        pages = 0;
    (void)fclose(file);
    const uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return limit > used ? limit - used : 0;
}

void host_address_note(char text[HOST_NOTE_SIZE])
{
    const uint64_t limit = host_address_limit();
    text[0] = '\0';
    if (limit)
        (void)snprintf(text, HOST_NOTE_SIZE,
                       "; this process may have %" PRIu64 " MiB of addresses (ulimit -v)",
                       limit >> 20);
}

/* Finds the number after the word `oom_kill` at the start of a line. */
static bool oom_kills_in(const char *path, uint64_t *count)
{
    unsigned long long value = 0;
    bool found = false;
    char line[128];
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "oom_kill %llu", &value) == 1; // NOLINT(cert-err34-c): as above
    if (file)
        (void)fclose(file);
    *count += value;
    return found;
}

struct kill_search {
    uint64_t count;
    bool found;
};

static void take_kills(void *context, const char *folder, int depth)
{
    static const char *const names[] = {"memory.events", "memory.oom_control"};
    struct kill_search *search = context;
    char path[4096];
    for (int i = 0; depth == 0 && i < 2; i++) {
        const int size = snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (size > 0 && (size_t)size < sizeof path)
            search->found = oom_kills_in(path, &search->count) || search->found;
    }
}

/* The counter of our own group counts every kill of its processes, whichever limit was the cause.
 * The counter of the machine also counts processes of others, so it is read only if our group has
 * none. */
bool host_oom_kills_below(const char *root, uint64_t *count)
{
    char path[4096];
    struct kill_search search = {0};
    control_group_visit(root, "memory", take_kills, &search);
    const int size = snprintf(path, sizeof path, "%s/proc/vmstat", root);
    if (!search.found && size > 0 && (size_t)size < sizeof path)
        search.found = oom_kills_in(path, &search.count);
    *count = search.count;
    return search.found;
}

bool host_oom_kills(uint64_t *count)
{
    return host_oom_kills_below("", count);
}

uint64_t host_random_64(void)
{
    uint64_t value = 0;
    ssize_t size = 0;
    do
        size = getrandom(&value, sizeof value, 0);
    while (size < 0 && errno == EINTR);
    /* Linux 3.17 and later never return fewer for so few bytes */
    must(size == (ssize_t)sizeof value);
    return value;
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

/* Returns the peak of resident memory. It does not use ru_maxrss, which includes the peak of the
 * program that this process was before exec. */
static uint64_t peak_bytes(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1) // NOLINT(cert-err34-c): as above
            break;
    (void)fclose(file);
    return kilobytes * 1024;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

uint64_t host_children_peak_bytes(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (uint64_t)usage.ru_maxrss << 10; /* in KiB */
}

struct host_usage host_usage(void)
{
    enum { BLOCK_BYTES = 512 }; /* unit of the counts on every file system */
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return (struct host_usage){
        .peak_bytes = peak_bytes(),
        .user_seconds = seconds_of(usage.ru_utime),
        .system_seconds = seconds_of(usage.ru_stime),
        .disk_bytes_read = (uint64_t)usage.ru_inblock * BLOCK_BYTES,
        .disk_bytes_written = (uint64_t)usage.ru_oublock * BLOCK_BYTES,
    };
}
