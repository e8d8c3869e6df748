/*
 * Lines whose file cannot be created or written; output_writer_test.c checks their text.
 */
#include "common/files/file.h"
#include "stages/infer/outputs/output_lines.h"

#include "tests/support/failing_calls.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <errno.h>

enum { NODES = 600, CLASSES = 3 };

static float logit[NODES * CLASSES];
static int32_t label[NODES];
static uint32_t to_partition[NODES];
static uint8_t split_of[NODES];
static struct tally tally[SPLIT_COUNT];
static const struct node_ids ids = {0};
static const struct prediction_table table = {
    .task = &task_single_label, .class_count = CLASSES, .ids = &ids};
static const struct output_rows rows = {
    .end = NODES,
    .row = {[OUTPUT_LOGITS] = (char *)logit, [OUTPUT_LABELS] = (char *)label},
    .row_bytes = {[OUTPUT_LOGITS] = CLASSES * sizeof(float), [OUTPUT_LABELS] = sizeof(int32_t)}};

static struct output_lines_config config_of(const char *path)
{
    static const struct tally_form form = {.task = &task_single_label, .class_count = CLASSES};
    struct error err = {0};
    for (uint32_t i = 0; i < NODES; i++) {
        to_partition[i] = i;
        label[i] = (int32_t)(i % CLASSES);
        split_of[i] = (uint8_t)(i % 4);
    }
    for (int split = 0; split < SPLIT_COUNT; split++) {
        tally_release(&tally[split]);
        assert_ok(tally_init(&tally[split], &form, &err), &err);
    }
    return (struct output_lines_config){.rows = &rows,
                                        .table = &table,
                                        .to_partition = to_partition,
                                        .split_of = split_of,
                                        .label_classes = CLASSES,
                                        .tally = tally,
                                        .path = path};
}

static enum error_code write_all(struct output_lines *lines, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t first = 0; rc == ERROR_NONE && first < NODES; first += OUTPUT_PIECE_ROWS) {
        const uint32_t end = NODES - first < OUTPUT_PIECE_ROWS ? NODES : first + OUTPUT_PIECE_ROWS;
        rc = output_lines_make(lines, 0, first, end, err);
        if (rc == ERROR_NONE)
            rc = output_lines_put(lines, 0, err);
    }
    return rc;
}

static void a_file_that_cannot_be_made_is_said(void **state)
{
    struct error err = {0};
    struct output_lines *lines = NULL;
    const struct output_lines_config config = config_of("/nowhere/p.csv");
    (void)state;
    assert_fails(output_lines_open(&config, &lines, &err), ERROR_IO,
                 "/nowhere/p.csv cannot be created", &err);
    assert_fails(output_lines_write_ids("/nowhere/i.csv", &table, NULL, NODES, &err), ERROR_IO,
                 "/nowhere/i.csv cannot be created", &err);
}

static void a_full_disk_is_said_with_the_file(void **state)
{
    struct error err = {0};
    struct temp_dir dir;
    char path[FILE_PATH_SIZE];
    (void)state;
    temp_dir_make(&dir);
    for (long passed = 0; passed < 4; passed++) { /* the header, and three pieces */
        struct output_lines *lines = NULL;
        assert_ok(file_path(path, &err, "%s/%ld.csv", dir.path, passed), &err);
        const struct output_lines_config config = config_of(path);
        failing_calls_plan(CALL_WRITE, passed, 1, ENOSPC);
        enum error_code rc = output_lines_open(&config, &lines, &err);
        if (rc == ERROR_NONE)
            rc = write_all(lines, &err);
        assert_int_equal(failing_calls_end(), 1);
        assert_failed(rc, ERROR_NO_SPACE, "csv cannot be written: No space left", &err);
        output_lines_close(lines);
    }
    assert_ok(file_path(path, &err, "%s/ids.csv", dir.path), &err);
    failing_calls_plan(CALL_WRITE, 1, 1, ENOSPC);
    assert_fails(output_lines_write_ids(path, &table, NULL, NODES, &err), ERROR_NO_SPACE,
                 "ids.csv cannot be written", &err);
    (void)failing_calls_end();
    temp_dir_remove(&dir);
}

/* The returned size and hash are those of the file. */
static void the_hash_is_that_of_the_file(void **state)
{
    struct error err = {0};
    struct temp_dir dir;
    char path[FILE_PATH_SIZE];
    struct output_lines *lines = NULL;
    uint64_t size = 0, found_size = 0;
    struct checksum sum, found;
    (void)state;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/p.csv", dir.path), &err);
    const struct output_lines_config config = config_of(path);
    assert_ok(output_lines_open(&config, &lines, &err), &err);
    assert_ok(write_all(lines, &err), &err);
    assert_ok(output_lines_finish(lines, &size, &sum, &err), &err);
    output_lines_close(lines);
    assert_ok(checksum_of_file(path, &found, &found_size, &err), &err);
    assert_int_equal(size, found_size);
    assert_true(checksum_equal(&sum, &found));
    temp_dir_remove(&dir);
}

static void a_label_out_of_range_is_named_with_its_node(void **state)
{
    struct error err = {0};
    struct output_lines *lines = NULL;
    const struct output_lines_config config = config_of(NULL);
    (void)state;
    label[333] = 7;
    label[599] = 8;
    assert_ok(output_lines_open(&config, &lines, &err), &err);
    assert_fails(write_all(lines, &err), ERROR_CORRUPT, "label of node 333", &err);
    output_lines_close(lines);
    label[333] = label[599] = 0;
}

static int release(void **state)
{
    (void)state;
    for (int split = 0; split < SPLIT_COUNT; split++)
        tally_release(&tally[split]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_cannot_be_made_is_said),
        cmocka_unit_test(a_full_disk_is_said_with_the_file),
        cmocka_unit_test(the_hash_is_that_of_the_file),
        cmocka_unit_test(a_label_out_of_range_is_named_with_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
