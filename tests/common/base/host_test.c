#include "common/base/host.h"
#include "common/base/memory.h"

#include "tests/support/test.h"

#include <unistd.h>

static void the_host_has_cores_and_memory(void **state)
{
    (void)state;
    assert_true(host_core_count() >= 1 && host_core_count() < 100000);
    const uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(host_memory_bytes() > 1 << 20 && host_memory_bytes() <= physical);
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
        cmocka_unit_test(what_is_touched_is_resident),
        cmocka_unit_test(usage_counts_time_and_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
