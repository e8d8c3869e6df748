#include "common/base/clock.h"
#include "store/backends/directory/written_file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PAGE_MIN = 4096, PATIENCE_MS = 10000 };

static enum error_code count_name(void *context, const char *name, struct error *err)
{
    (void)name;
    (void)err;
    (*(int *)context)++;
    return ERROR_NONE;
}

static int open_descriptors(void)
{
    struct error err = {0};
    int count = 0;
    assert_ok(file_list("/proc/self/fd", count_name, &count, &err), &err);
    return count;
}

static void large_files_are_remembered_until_they_are_sent(void **state)
{
    (void)state;
    struct written_files files;
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int before = open_descriptors();
    written_files_init(&files);
    written_files_add(&files, fd, WRITTEN_BYTES_MIN - 1);
    assert_int_equal(files.count, 0);
    for (int i = 0; i < WRITTEN_COUNT + 2; i++)
        written_files_add(&files, fd, WRITTEN_BYTES_MIN);
    assert_int_equal(files.count, WRITTEN_COUNT);
    assert_int_equal(open_descriptors(), before + WRITTEN_COUNT);
    written_files_send(&files); /* a device does not accept this call, which does no harm */
    assert_int_equal(files.count, 0);
    assert_int_equal(open_descriptors(), before);
    written_files_add(&files, fd, WRITTEN_BYTES_MIN);
    written_files_close(&files);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(close(fd), 0);
}

static int resident_pages(int fd)
{
    unsigned char page[SIZE / PAGE_MIN] = {0};
    int count = 0;
    void *data = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(data, MAP_FAILED);
    assert_int_equal(mincore(data, SIZE, page), 0);
    for (size_t i = 0; i < sizeof page; i++)
        count += page[i] & 1;
    assert_int_equal(munmap(data, SIZE), 0);
    return count;
}

static bool lies_on_a_disk(const char *path)
{
    struct statfs status;
    assert_int_equal(statfs(path, &status), 0);
    return status.f_type != TMPFS_MAGIC && status.f_type != RAMFS_MAGIC;
}

static void a_file_that_was_sent_leaves_memory_and_keeps_its_bytes(void **state)
{
    static char value[SIZE], found[SIZE];
    const struct temp_dir *dir = *state;
    struct written_files files;
    if (!lies_on_a_disk(dir->path)) {
        print_message("skipped: %s keeps its files in memory alone\n", dir->path);
        skip();
    }
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (char)(i * 31 / 7);
    const char *path = temp_dir_write(dir, "record", value, sizeof value);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && resident_pages(fd) > 0);
    written_files_init(&files);
    written_files_add(&files, fd, sizeof value);
    written_files_send(&files);
    for (int ms = 0; resident_pages(fd) > 0 && ms < PATIENCE_MS; ms += 10) {
        written_file_let_go(path);
        clock_sleep_ms(10);
    }
    assert_int_equal(resident_pages(fd), 0);
    assert_int_equal(pread(fd, found, sizeof found, 0), SIZE);
    assert_memory_equal(found, value, sizeof value);
    written_files_close(&files);
    assert_int_equal(close(fd), 0);
}

static void letting_go_of_nothing_is_fine(void **state)
{
    (void)state;
    const int before = open_descriptors();
    written_file_let_go("/nowhere/at/all");
    written_file_let_go("/dev/null");
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_files_are_remembered_until_they_are_sent),
        cmocka_unit_test_setup_teardown(a_file_that_was_sent_leaves_memory_and_keeps_its_bytes,
                                        temp_dir_setup, temp_dir_teardown),
        cmocka_unit_test(letting_go_of_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
