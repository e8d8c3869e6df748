#define _GNU_SOURCE /* sched_setaffinity(). NOLINT(*-reserved-identifier,cert-dcl*) */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "common/files/file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
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
    (void)temp_dir_write(&folder, "memory.limit_in_bytes", "9223372036854771712\n", 20);
    /* version 1 writes "no limit" like this */
    assert_int_equal(host_memory_of_limit(folder.path), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)temp_dir_write(&folder, "memory.max", cases[i].text, strlen(cases[i].text));
        assert_int_equal(host_memory_of_limit(folder.path), cases[i].bytes);
    }
    temp_dir_remove(&folder);
}

static void memory_high_counts_where_it_is_smaller(void **state)
{
    struct temp_dir folder;
    (void)state;
    temp_dir_make(&folder);
    (void)temp_dir_write(&folder, "memory.high", "4096\n", 5);
    (void)temp_dir_write(&folder, "memory.max", "max\n", 4);
    assert_int_equal(host_memory_of_limit(folder.path), 4096);
    (void)temp_dir_write(&folder, "memory.max", "8192\n", 5);
    assert_int_equal(host_memory_of_limit(folder.path), 4096);
    (void)temp_dir_write(&folder, "memory.max", "1024\n", 5);
    assert_int_equal(host_memory_of_limit(folder.path), 1024);
    temp_dir_remove(&folder);
}

/* --- made-up machines: files of /proc and of control groups below a folder --- */

static void write_file(const struct temp_dir *root, const char *folder, const char *name,
                       const char *text)
{
    char path[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(path, &err, "%s%s", root->path, folder), &err);
    assert_ok(file_make_folders(path, &err), &err);
    assert_ok(file_path(path, &err, "%s%s/%s", root->path, folder, name), &err);
    assert_ok(file_replace(path, text, strlen(text), false, &err), &err);
}

/* Writes a limit into a group, and expects this many MiB of memory. */
static void limit_memory(const struct temp_dir *root, const char *group, const char *file,
                         const char *limit, uint64_t mib)
{
    char folder[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(folder, &err, "/sys/fs/cgroup/%s", group), &err);
    write_file(root, folder, file, limit);
    assert_int_equal(host_memory_bytes_below(root->path), mib << 20);
}

static void make_version_1(struct temp_dir *root)
{
    temp_dir_make(root);
    write_file(root, "/proc/self", "mountinfo",
               "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
               "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
               "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
               "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    write_file(root, "/proc/self", "cgroup",
               "4:memory:/batch/job\n1:cpu,cpuacct:/batch\n0::/batch\n");
}

static void make_version_2(struct temp_dir *root)
{
    temp_dir_make(root);
    write_file(
        root, "/proc/self", "mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    write_file(root, "/proc/self", "cgroup", "0::/system.slice/batch/job\n");
}

static void every_level_of_version_1_counts(void **state)
{
    struct temp_dir root;
    (void)state;
    make_version_1(&root);
    const uint64_t machine = host_memory_bytes_below(root.path);
    const int cores = host_core_count_below(root.path);
    limit_memory(&root, "memory/batch/job", "memory.limit_in_bytes", "33554432\n", 32);
    limit_memory(&root, "memory/batch", "memory.limit_in_bytes", "16777216\n", 16);
    limit_memory(&root, "memory", "memory.limit_in_bytes", "8388608\n", 8);
    limit_memory(&root, "memory/other", "memory.limit_in_bytes", "4096\n", 8);
    write_file(&root, "/sys/fs/cgroup/cpu,cpuacct/batch", "cpu.cfs_quota_us", "50000\n");
    write_file(&root, "/sys/fs/cgroup/cpu,cpuacct/batch", "cpu.cfs_period_us", "100000\n");
    assert_int_equal(host_core_count_below(root.path), 1);
    assert_true(machine > 64 << 20 && cores >= 1);
    temp_dir_remove(&root);
}

static void every_level_of_version_2_counts(void **state)
{
    struct temp_dir root;
    (void)state;
    make_version_2(&root);
    write_file(&root, "/sys/fs/cgroup/system.slice/batch/job", "memory.max", "max\n");
    assert_true(host_memory_bytes_below(root.path) > 64 << 20);
    limit_memory(&root, "system.slice/batch", "memory.max", "33554432\n", 32);
    limit_memory(&root, "system.slice", "memory.high", "16777216\n", 16);
    write_file(&root, "/sys/fs/cgroup/system.slice", "cpu.max", "10000 100000\n");
    assert_int_equal(host_core_count_below(root.path), 1);
    temp_dir_remove(&root);
}

/* Docker without a namespace mounts its group at the top, but /proc has the name of the host's
 * group. */
static void a_mount_of_a_part_of_the_hierarchy_is_read(void **state)
{
    struct temp_dir root;
    (void)state;
    make_version_1(&root);
    write_file(&root, "/proc/self", "mountinfo",
               "35 31 0:32 /docker/1f /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    write_file(&root, "/proc/self", "cgroup", "4:memory:/docker/1f/job\n");
    limit_memory(&root, "memory", "memory.limit_in_bytes", "33554432\n", 32);
    limit_memory(&root, "memory/job", "memory.limit_in_bytes", "16777216\n", 16);
    write_file(&root, "/proc/self", "cgroup", "4:memory:/../elsewhere\n");
    assert_int_equal(host_memory_bytes_below(root.path), 32 << 20);
    temp_dir_remove(&root);
}

static void kills_are_counted_in_our_own_group_first(void **state)
{
    uint64_t kills = 0;
    struct temp_dir root;
    (void)state;
    make_version_1(&root);
    assert_false(host_oom_kills_below(root.path, &kills));
    write_file(&root, "/proc", "vmstat", "pgfault 12\noom_kill 7\n");
    assert_true(host_oom_kills_below(root.path, &kills));
    assert_int_equal(kills, 7);
    write_file(&root, "/sys/fs/cgroup/memory/batch", "memory.oom_control", "oom_kill 5\n");
    assert_true(host_oom_kills_below(root.path, &kills));
    assert_int_equal(kills, 7); /* the kills of the group above may be those of others */
    write_file(&root, "/sys/fs/cgroup/memory/batch/job", "memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\noom_kill 42\n");
    assert_true(host_oom_kills_below(root.path, &kills));
    assert_int_equal(kills, 42);
    temp_dir_remove(&root);
    make_version_2(&root);
    write_file(&root, "/sys/fs/cgroup/system.slice/batch/job", "memory.events",
               "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\noom_group_kill 0\n");
    assert_true(host_oom_kills_below(root.path, &kills));
    assert_int_equal(kills, 1);
    temp_dir_remove(&root);
}

static void limits_of_the_process_count(void **state)
{
    char note[HOST_NOTE_SIZE] = "x";
    struct rlimit before, limited;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    if (before.rlim_cur == RLIM_INFINITY) {
        host_address_note(note);
        assert_string_equal(note, "");
        assert_true(host_addresses_left() == UINT64_MAX);
    }
    limited = before;
    limited.rlim_cur = (rlim_t)900 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &limited), 0);
    const uint64_t memory = host_memory_bytes(), left = host_addresses_left();
    host_address_note(note);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(memory <= (uint64_t)900 << 20);
    assert_true(left < (uint64_t)900 << 20);
    assert_string_equal(note, "; this process may have 900 MiB of addresses (ulimit -v)");
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
        cmocka_unit_test(memory_high_counts_where_it_is_smaller),
        cmocka_unit_test(every_level_of_version_1_counts),
        cmocka_unit_test(every_level_of_version_2_counts),
        cmocka_unit_test(a_mount_of_a_part_of_the_hierarchy_is_read),
        cmocka_unit_test(kills_are_counted_in_our_own_group_first),
        cmocka_unit_test(limits_of_the_process_count),
        cmocka_unit_test(what_is_touched_is_resident),
        cmocka_unit_test(usage_counts_time_and_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
