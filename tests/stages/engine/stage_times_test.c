#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/memory.h"
#include "stages/engine/stage_times.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <math.h>
#include <pthread.h>

enum { LINE_COUNT_MAX = 8 };

/* The lines of a file of times. */
struct lines {
    char *text;
    int count;
    struct json_document *document[LINE_COUNT_MAX];
};

static const struct schedule schedule = {.rounds_per_epoch = 3};

static struct stage_times *open_times(struct temp_store *fixture, char path[FILE_PATH_SIZE])
{
    struct stage_times *times = NULL;
    assert_ok(file_path(path, &fixture->err, "%s/times/one.jsonl", fixture->dir.path),
              &fixture->err);
    const struct stage_times_config config = {.path = path,
                                              .stage = "train-step",
                                              .worker = "train-step-0",
                                              .run_id = "run-1",
                                              .schedule = &schedule,
                                              .store = fixture->store};
    assert_ok(stage_times_open(&config, &times, &fixture->err), &fixture->err);
    return times;
}

static void read_lines(const char *path, struct lines *lines)
{
    struct error err = {0};
    size_t size = 0;
    *lines = (struct lines){0};
    assert_ok(file_read(path, 0, &lines->text, &size, &err), &err);
    for (char *line = lines->text; *line;) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        assert_true(lines->count < LINE_COUNT_MAX);
        assert_ok(
            json_parse(line, (size_t)(end - line), path, &lines->document[lines->count++], &err),
            &err);
        line = end + 1;
    }
}

static void free_lines(struct lines *lines)
{
    for (int i = 0; i < lines->count; i++)
        json_free(lines->document[i]);
    memory_free(lines->text);
}

static double number(const struct lines *lines, int line, const char *name)
{
    double value = (double)NAN;
    if (!json_double(json_get(json_root(lines->document[line]), name), &value))
        fail_msg("line %d has no number %s", line, name);
    return value;
}

static const char *word(const struct lines *lines, int line, const char *name)
{
    const char *text = json_text(json_get(json_root(lines->document[line]), name));
    return text ? text : "";
}

static void do_unit(struct stage_times *times, enum unit_kind kind, int64_t round)
{
    const struct unit unit = {.kind = kind, .round = round};
    stage_times_enter(times, TIME_WAIT);
    clock_sleep_ms(2);
    stage_times_begin_unit(times, &unit);
    stage_times_enter(times, TIME_READ);
    clock_sleep_ms(3);
    stage_times_add_rows(times, 10, 400);
    stage_times_enter(times, TIME_COMPUTE);
    clock_sleep_ms(5);
    stage_times_enter(times, TIME_WRITE);
    stage_times_end_unit(times, true);
}

static void the_phases_add_up_to_the_life_of_the_process(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    struct stage_times *times = open_times(fixture, path);
    clock_sleep_ms(2);
    do_unit(times, UNIT_TRAIN_STEP, 0);
    do_unit(times, UNIT_EVALUATE, 3);
    do_unit(times, UNIT_TRAIN_STEP, 1);
    clock_sleep_ms(2);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    read_lines(path, &lines);
    assert_int_equal(lines.count, 3);
    double sum = number(&lines, 2, "open") + number(&lines, 2, "idle");
    for (int line = 0; line < 2; line++)
        sum += number(&lines, line, "wait") + number(&lines, line, "read") +
               number(&lines, line, "compute") + number(&lines, line, "write") +
               number(&lines, line, "hand_over");
    const double life = number(&lines, 2, "ended") - number(&lines, 2, "started");
    assert_true(fabs(sum - life) < 1e-6);
    assert_true(number(&lines, 2, "open") >= 0.002 && number(&lines, 2, "idle") >= 0.002);
    assert_true(number(&lines, 0, "wait") >= 0.004 && number(&lines, 0, "read") >= 0.006 &&
                number(&lines, 0, "compute") >= 0.010);
    assert_true(number(&lines, 2, "peak_bytes") > 0);
    free_lines(&lines);
}

static void work_ahead_counts_as_far_as_it_fell_into_the_wait(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    const struct unit unit = {.kind = UNIT_TRAIN_STEP};
    struct stage_times *times = open_times(fixture, path);
    stage_times_enter(times, TIME_WAIT);
    stage_times_add_ahead(times, 100); /* between units: not counted */
    stage_times_begin_unit(times, &unit);
    clock_sleep_ms(5);
    stage_times_add_ahead(times, 0.001); /* all of it was after the unit began */
    stage_times_add_ahead(times, 10);
    stage_times_end_unit(times, true);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    stage_times_add_ahead(NULL, 1);
    read_lines(path, &lines);
    assert_true(number(&lines, 0, "ahead") > 5 && number(&lines, 0, "ahead") <= 10 - 0.005);
    free_lines(&lines);
}

static void encoding_adds_up_and_is_told_of_units_that_encode(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    const struct unit unit = {.kind = UNIT_TRAIN_STEP};
    static const struct encoding_work work = {.seconds = 0.25, .bytes = 100, .float_bytes = 400};
    struct stage_times *times = open_times(fixture, path);
    stage_times_enter(times, TIME_WAIT);
    stage_times_add_encoding(times, &work); /* between units: not counted */
    stage_times_begin_unit(times, &unit);
    stage_times_add_encoding(times, &work);
    stage_times_add_encoding(times, &work);
    stage_times_end_unit(times, true);
    do_unit(times, UNIT_EVALUATE, 3);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    stage_times_add_encoding(NULL, &work);
    read_lines(path, &lines);
    const int step = strcmp(word(&lines, 0, "unit"), "train-step") == 0 ? 0 : 1;
    assert_true(number(&lines, step, "encoding") == 0.5);
    assert_true(number(&lines, step, "gradient_bytes") == 200);
    assert_true(number(&lines, step, "gradient_float_bytes") == 800);
    assert_null(json_get(json_root(lines.document[1 - step]), "encoding"));
    free_lines(&lines);
}

static double element(const struct lines *lines, int line, const char *name, size_t index)
{
    double value = (double)NAN;
    const struct json_node *array = json_get(json_root(lines->document[line]), name);
    assert_int_equal(json_count(array), 3);
    assert_true(json_double(json_at(array, index), &value));
    return value;
}

static void seconds_of_training_fall_to_parts_by_what_was_read_of_them(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    static const uint32_t start[] = {0, 4, 6, 10};
    const struct partition_book book = {.part_count = 3, .node_count = 10, .book = start};
    const struct unit unit = {.kind = UNIT_TRAIN_STEP};
    struct stage_times *times = open_times(fixture, path);
    stage_times_add_part(times, &book, 0, 1000); /* between units: not counted */
    for (int i = 0; i < 2; i++) {
        stage_times_begin_unit(times, &unit);
        stage_times_enter(times, TIME_COMPUTE);
        clock_sleep_ms(4);
        stage_times_add_part(times, &book, 3, 1);
        stage_times_add_part(times, &book, 6, 2);
        stage_times_add_part(times, &book, 9, 1);
        stage_times_end_unit(times, true);
    }
    stage_times_begin_unit(times, &unit);
    stage_times_add_part(times, &book, 5, 1);
    stage_times_end_unit(times, false); /* another worker does it again */
    do_unit(times, UNIT_EVALUATE, 3);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    stage_times_add_part(NULL, &book, 0, 1);
    read_lines(path, &lines);
    const int step = strcmp(word(&lines, 0, "unit"), "train-step") == 0 ? 0 : 1;
    const double one = element(&lines, step, "part_seconds", 0);
    assert_true(one >= 0.002);
    assert_true(element(&lines, step, "part_seconds", 1) <= 0);
    assert_true(fabs(element(&lines, step, "part_seconds", 2) - 3 * one) < 1e-9);
    assert_true(element(&lines, step, "part_amounts", 0) == 2);
    assert_true(element(&lines, step, "part_amounts", 2) == 6);
    assert_null(json_get(json_root(lines.document[1 - step]), "part_seconds"));
    free_lines(&lines);
}

static void a_layer_of_a_part_has_a_line_when_it_is_done(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    struct unit unit = {.kind = UNIT_INFER, .round = 7, .layer = 2, .slot = 5};
    struct stage_times *times = open_times(fixture, path);
    stage_times_begin_unit(times, &unit);
    clock_sleep_ms(2);
    stage_times_end_unit(times, true);
    unit.slot = 6;
    stage_times_begin_unit(times, &unit);
    stage_times_end_unit(times, false);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    read_lines(path, &lines);
    assert_int_equal(lines.count, 3); /* beside the lines of the kind and of the process */
    assert_true(number(&lines, 0, "part") == 5 && number(&lines, 0, "layer") == 2);
    assert_true(number(&lines, 0, "weights") == 7);
    assert_true(number(&lines, 0, "ended") - number(&lines, 0, "begun") >= 0.002);
    assert_null(json_get(json_root(lines.document[1]), "part"));
    free_lines(&lines);
}

static void each_epoch_of_a_kind_has_its_line(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    struct stage_times *times = open_times(fixture, path);
    for (int64_t round = 1; round < 5; round++)
        do_unit(times, UNIT_TRAIN_STEP, round);
    do_unit(times, UNIT_EVALUATE, 3);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    read_lines(path, &lines);
    assert_int_equal(lines.count, 4);
    assert_string_equal(word(&lines, 0, "unit"), "train-step");
    assert_true(number(&lines, 0, "epoch") == 1 && number(&lines, 0, "units") == 2);
    assert_string_equal(word(&lines, 1, "unit"), "train-step");
    assert_true(number(&lines, 1, "epoch") == 2 && number(&lines, 1, "units") == 2);
    assert_true(number(&lines, 1, "rows") == 20 && number(&lines, 1, "row_bytes") == 800);
    assert_true(number(&lines, 1, "first") < number(&lines, 1, "first_end"));
    assert_true(number(&lines, 1, "first_end") < number(&lines, 1, "last_end"));
    assert_true(number(&lines, 0, "last_end") <= number(&lines, 1, "first"));
    /* Version 3 was made by the three rounds of the first epoch. */
    assert_string_equal(word(&lines, 2, "unit"), "evaluate");
    assert_true(number(&lines, 2, "epoch") == 1 && number(&lines, 2, "units") == 1);
    for (int i = 0; i < lines.count; i++) {
        assert_string_equal(word(&lines, i, "worker"), "train-step-0");
        assert_string_equal(word(&lines, i, "run"), "run-1");
    }
    free_lines(&lines);
}

static void records_count_for_the_unit_that_moved_them(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    struct record record = {.kind = RECORD_MINI_BATCH, .version = 1};
    struct record_view view = {0};
    const struct unit unit = {.kind = UNIT_TRAIN_STEP};
    record_add_text(&record, "text", "some bytes");
    struct stage_times *times = open_times(fixture, path);
    assert_ok(
        store_put(fixture->store, "before", "run-1", &record, STORE_RECOMPUTABLE, &fixture->err),
        &fixture->err);
    stage_times_begin_unit(times, &unit);
    assert_ok(store_put(fixture->store, "one", "run-1", &record, STORE_RECOMPUTABLE, &fixture->err),
              &fixture->err);
    assert_ok(store_get(fixture->store, "one", "run-1", &view, &fixture->err), &fixture->err);
    const double size = (double)view.size;
    store_release_record(&view);
    assert_ok(store_get(fixture->store, "before", "run-1", &view, &fixture->err), &fixture->err);
    store_release_record(&view);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    read_lines(path, &lines);
    assert_true(size > 0);
    assert_true(number(&lines, 0, "record_bytes_written") == size);
    assert_true(number(&lines, 0, "record_bytes_read") == 2 * size);
    assert_true(number(&lines, 0, "units") == 0); /* the process ended during the unit */
    free_lines(&lines);
}

static void *meddle(void *times)
{
    const struct unit unit = {.kind = UNIT_EVALUATE, .round = 3};
    stage_times_enter(times, TIME_WRITE);
    stage_times_begin_unit(times, &unit);
    stage_times_add_rows(times, 1, 4);
    clock_sleep_ms(2);
    stage_times_end_unit(times, true);
    return NULL;
}

static void another_thread_only_adds_rows(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    pthread_t thread;
    const struct unit unit = {.kind = UNIT_TRAIN_STEP};
    struct stage_times *times = open_times(fixture, path);
    stage_times_begin_unit(times, &unit);
    stage_times_enter(times, TIME_COMPUTE);
    assert_int_equal(pthread_create(&thread, NULL, meddle, times), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stage_times_end_unit(times, true);
    assert_ok(stage_times_close(times, &fixture->err), &fixture->err);
    read_lines(path, &lines);
    assert_int_equal(lines.count, 2);
    assert_true(number(&lines, 0, "compute") >= 0.002 && number(&lines, 0, "write") <= 0);
    assert_true(number(&lines, 0, "rows") == 1);
    free_lines(&lines);
}

static void a_second_process_appends(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct lines lines;
    assert_ok(stage_times_close(open_times(fixture, path), &fixture->err), &fixture->err);
    assert_ok(stage_times_close(open_times(fixture, path), &fixture->err), &fixture->err);
    read_lines(path, &lines);
    assert_int_equal(lines.count, 2);
    free_lines(&lines);
}

static void nothing_is_kept_without_a_file(void **state)
{
    const struct unit unit = {.kind = UNIT_SAMPLE};
    struct error err = {0};
    (void)state;
    stage_times_begin_unit(NULL, &unit);
    stage_times_enter(NULL, TIME_READ);
    stage_times_add_rows(NULL, 1, 1);
    stage_times_end_unit(NULL, true);
    assert_ok(stage_times_close(NULL, &err), &err);
}

static void a_file_that_cannot_be_written_is_named(void **state)
{
    struct temp_store *fixture = *state;
    char path[FILE_PATH_SIZE];
    struct stage_times *times = NULL;
    (void)temp_dir_write(&fixture->dir, "file", "", 0);
    assert_ok(file_path(path, &fixture->err, "%s/file/times.jsonl", fixture->dir.path),
              &fixture->err);
    struct stage_times_config config = {.path = path, .stage = "sample", .worker = "sample-0"};
    assert_fails(stage_times_open(&config, &times, &fixture->err), ERROR_IO, "/file",
                 &fixture->err);
    config.path = "/dev/full";
    assert_ok(stage_times_open(&config, &times, &fixture->err), &fixture->err);
    assert_fails(stage_times_close(times, &fixture->err), ERROR_IO, "/dev/full", &fixture->err);
}

static void memory_may_run_out(void **state)
{
    struct temp_store *fixture = *state;
    const struct stage_times_config config = {
        .path = "/dev/null", .stage = "sample", .worker = "sample-0"};
    enum error_code rc = ERROR_NO_MEMORY;
    int failures = 0;
    for (long n = 0; rc != ERROR_NONE; n++) {
        struct stage_times *times = NULL;
        memory_fail_after(n);
        rc = stage_times_open(&config, &times, &fixture->err);
        if (rc == ERROR_NONE) {
            const enum error_code closed = stage_times_close(times, &fixture->err);
            rc = closed == ERROR_NONE ? rc : ERROR_NO_MEMORY;
        }
        memory_fail_after(-1);
        failures += rc != ERROR_NONE;
    }
    assert_true(failures >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(the_phases_add_up_to_the_life_of_the_process),
        test_with_store(encoding_adds_up_and_is_told_of_units_that_encode),
        test_with_store(work_ahead_counts_as_far_as_it_fell_into_the_wait),
        test_with_store(seconds_of_training_fall_to_parts_by_what_was_read_of_them),
        test_with_store(a_layer_of_a_part_has_a_line_when_it_is_done),
        test_with_store(each_epoch_of_a_kind_has_its_line),
        test_with_store(records_count_for_the_unit_that_moved_them),
        test_with_store(another_thread_only_adds_rows),
        test_with_store(a_second_process_appends),
        cmocka_unit_test(nothing_is_kept_without_a_file),
        test_with_store(a_file_that_cannot_be_written_is_named),
        test_with_store(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
