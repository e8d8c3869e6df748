#include "store/backends/directory/spare_file.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };
static const double slow = 1.0, fast = 0.0;

static enum error_code count_name(void *context, const char *name, struct error *err)
{
    (void)name;
    (void)err;
    (*(int *)context)++;
    return ERROR_NONE;
}

/* A temporary folder and the scratch space in it. */
struct place {
    struct temp_dir dir;
    struct scratch_space space;
    struct error err;
};

static int set_up(void **state)
{
    static struct place place;
    temp_dir_make(&place.dir);
    *state = &place;
    return scratch_space_init(&place.space, place.dir.path, &place.err) == ERROR_NONE ? 0 : -1;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    scratch_space_close(&place->space);
    temp_dir_remove(&place->dir);
    return 0;
}

/* Returns the number of files without the lease. */
static int files_in(const struct place *place)
{
    struct error err = {0};
    int count = 0;
    assert_ok(file_list(place->space.path, count_name, &count, &err), &err);
    return count - 1;
}

static void a_spare_is_wanted_after_a_slow_write_of_some_size_only(void **state)
{
    struct place *place = *state;
    struct spare_files spares;
    spare_files_init(&spares);
    spare_files_note(&spares, SIZE, false, fast);
    spare_files_note(&spares, SPARE_BYTES_MIN - 1, false, slow);
    spare_files_note(&spares, (size_t)SPARE_BYTES_MAX + 1, false, slow);
    assert_int_equal(spares.wanted_count, 0);
    for (int i = 0; i < SPARE_COUNT + 2; i++)
        spare_files_note(&spares, SIZE, i % 2, slow);
    assert_int_equal(spares.wanted_count, SPARE_COUNT);
    spare_files_prepare(&spares, &place->space);
    assert_int_equal(spares.wanted_count, 0);
    spare_files_close(&spares);
    assert_int_equal(files_in(place), 0);
}

static off_t file_size_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

static void add_spares(struct spare_files *spares, struct place *place, int count)
{
    for (int i = 0; i < count; i++)
        spare_files_note(spares, SIZE, false, slow);
    spare_files_prepare(spares, &place->space);
}

static void a_spare_is_handed_out_once_for_a_size_near_its_own(void **state)
{
    struct place *place = *state;
    struct spare_files spares;
    char path[FILE_PATH_SIZE];
    int fd = -1;
    spare_files_init(&spares);
    assert_false(spare_files_take(&spares, SIZE, path, &fd));
    add_spares(&spares, place, 2);
    assert_false(spare_files_take(&spares, SIZE + 1, path, &fd));
    assert_false(spare_files_take(&spares, SIZE / 2, path, &fd));
    assert_true(spare_files_take(&spares, SIZE / 2 + 1, path, &fd));
    assert_int_equal(file_size_of(path), SIZE);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
    assert_int_equal(close(fd), 0);
    assert_true(spare_files_take(&spares, SIZE, path, &fd));
    assert_int_equal(close(fd), 0);
    assert_false(spare_files_take(&spares, SIZE, path, &fd));
    add_spares(&spares, place, SPARE_COUNT);
    add_spares(&spares, place, 1); /* the last one has its own slot */
    assert_int_equal(files_in(place), 2 + SPARE_COUNT);
    spare_files_close(&spares); /* a spare that was handed out stays */
    assert_int_equal(files_in(place), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_spare_is_wanted_after_a_slow_write_of_some_size_only,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_spare_is_handed_out_once_for_a_size_near_its_own, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
