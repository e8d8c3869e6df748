#define _GNU_SOURCE /* sched_setaffinity(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/base/host.h"
#include "common/base/memory.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

static void the_host_has_cores_and_memory(void **state)
{
    (void)state;
    assert_true(host_core_count() >= 1 && host_core_count() < 100000);
    const uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(host_memory_bytes() > 1 << 20 && host_memory_bytes() <= physical);
}

static void only_cores_that_we_may_run_on_count(void **state)
{
    cpu_set_t before, one;
    size_t core = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_true(host_core_count() <= CPU_COUNT(&before));
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(host_core_count(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void a_quota_pays_for_so_many_cores(void **state)
{
    static const struct {
        const char *text;
        int cores;
    } cases[] = {{"max 100000\n", 0},
                 {"100000 100000\n", 1},
                 {"1000 100000\n", 1},
                 {"150000 100000", 2},
                 {"400000 100000\n", 4},
                 {"6400000 50000\n", 128},
                 {"", 0},
                 {"100000", 0},
                 {"-1 100000", 0},
                 {"100000 0", 0},
                 {"99999999999999999 1", 0}};
    struct temp_dir folder;
    (void)state;
    temp_dir_make(&folder);
    assert_int_equal(host_cores_of_quota(folder.path), 0);
    (void)temp_dir_write(&folder, "cpu.cfs_quota_us", "-1\n", strlen("-1\n"));
    assert_int_equal(host_cores_of_quota(folder.path), 0);
    (void)temp_dir_write(&folder, "cpu.cfs_period_us", "100000\n", strlen("100000\n"));
    assert_int_equal(host_cores_of_quota(folder.path), 0);
    (void)temp_dir_write(&folder, "cpu.cfs_quota_us", "250000\n", strlen("250000\n"));
    assert_int_equal(host_cores_of_quota(folder.path), 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)temp_dir_write(&folder, "cpu.max", cases[i].text, strlen(cases[i].text));
        assert_int_equal(host_cores_of_quota(folder.path), cases[i].cores);
    }
    temp_dir_remove(&folder);
}

static void a_group_may_use_so_many_bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"max\n", 0}, {"1073741824\n", 1 << 30}, {"", 0}, {"-1\n", 0}, {"4096", 4096}};
    struct temp_dir folder;
    (void)state;
    temp_dir_make(&folder);
    assert_int_equal(host_memory_of_limit(folder.path), 0);
    (void)temp_dir_write(&folder, "memory.limit_in_bytes", "8192\n", strlen("8192\n"));
    assert_int_equal(host_memory_of_limit(folder.path), 8192);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)temp_dir_write(&folder, "memory.max", cases[i].text, strlen(cases[i].text));
        assert_int_equal(host_memory_of_limit(folder.path), cases[i].bytes);
    }
    temp_dir_remove(&folder);
}

static void what_is_touched_is_resident(void **state)
{
    const size_t bytes = 64 << 20;
    (void)state;
    const uint64_t before = host_resident_bytes();
    char *area = memory_map(bytes);
    assert_non_null(area);
    memset(area, 1, bytes);
    const uint64_t after = host_resident_bytes();
    assert_true(area[bytes - 1] == 1);
    memory_unmap(area, bytes);
    assert_true(before > 0 && after >= before + bytes - (8 << 20));
}

static void usage_counts_time_and_the_peak(void **state)
{
    const size_t bytes = 64 << 20;
    (void)state;
    char *area = memory_map(bytes);
    assert_non_null(area);
    memset(area, 1, bytes);
    memory_unmap(area, bytes);
    const struct host_usage usage = host_usage();
    assert_true(usage.peak_bytes >= bytes && usage.peak_bytes >= host_resident_bytes());
    assert_true(usage.user_seconds + usage.system_seconds > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_has_cores_and_memory),
        cmocka_unit_test(only_cores_that_we_may_run_on_count),
        cmocka_unit_test(a_quota_pays_for_so_many_cores),
        cmocka_unit_test(a_group_may_use_so_many_bytes),
        cmocka_unit_test(what_is_touched_is_resident),
        cmocka_unit_test(usage_counts_time_and_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
