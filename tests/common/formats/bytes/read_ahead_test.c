#include "common/base/memory.h"
#include "common/formats/bytes/read_ahead.h"
#include "common/formats/text/line_reader.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

enum { LINES = 400000, TEXT_BYTES = LINES * 12 };

/* Writes line i of a table that does not compress well. */
static int put_line(char *out, uint64_t i)
{
    return sprintf(out, "%09u\n", (unsigned)(i * 2654435761U % 1000000000U));
}

/* Writes a compressed file of LINES lines, cut after `most` bytes. Returns its size. */
static size_t write_packed(const char *path, size_t most)
{
    struct error err = {0};
    char *text = NULL, *packed = NULL;
    size_t size = 0;
    assert_ok(memory_new(&text, TEXT_BYTES, "text", &err), &err);
    assert_ok(memory_new(&packed, TEXT_BYTES, "packed text", &err), &err);
    for (uint64_t i = 0; i < LINES; i++)
        size += (size_t)put_line(text + size, i);
    z_stream stream = {0};
    must(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (const Bytef *)text;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = TEXT_BYTES;
    must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size = TEXT_BYTES - stream.avail_out;
    must(deflateEnd(&stream) == Z_OK);
    size = size < most ? size : most;
    assert_ok(file_replace(path, packed, size, false, &err), &err);
    memory_free(text);
    memory_free(packed);
    return size;
}

/* Counts the correct lines of the file, from the first on. */
static enum error_code count_lines(const char *path, uint64_t most, uint64_t *count,
                                   struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    char expected[16];
    bool found = true;
    *count = 0;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && *count < most) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        const int size = put_line(expected, (*count)++) - 1;
        assert_int_equal(line.size, size);
        assert_memory_equal(line.text, expected, (size_t)size);
    }
    line_reader_close(reader);
    return rc;
}

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = -2; /* "." and ".." */
    assert_non_null(tasks);
    while (readdir(tasks))
        count++;
    assert_int_equal(closedir(tasks), 0);
    return count;
}

/* A reader of lines starts the thread at its 128th KiB, not for the first lines, and stops it when
 * it is closed. */
static void lines_of_a_large_file_are_unpacked_ahead(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct line_reader *reader = NULL;
    struct text_line line;
    char path[FILE_PATH_SIZE];
    bool found = true;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/lines.gz", dir.path), &err);
    write_packed(path, SIZE_MAX);
    const int before = count_threads();
    assert_ok(line_reader_open(path, &reader, &err), &err);
    assert_ok(line_reader_next(reader, &line, &found, &err), &err);
    assert_int_equal(count_threads(), before);
    for (int i = 1; i < LINES / 2; i++)
        assert_ok(line_reader_next(reader, &line, &found, &err), &err);
    assert_int_equal(count_threads(), before + 1);
    line_reader_close(reader);
    assert_int_equal(count_threads(), before);
    temp_dir_remove(&dir);
}

static void reads_what_the_file_has(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct byte_source *source = NULL;
    char path[FILE_PATH_SIZE];
    uint64_t count = 0;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/t.gz", dir.path), &err);
    write_packed(path, SIZE_MAX);
    assert_ok(byte_source_open(path, &source, &err), &err);
    assert_true(read_ahead_is_worth(source));
    byte_source_close(source);
    assert_ok(count_lines(path, UINT64_MAX, &count, &err), &err);
    assert_int_equal(count, LINES);
    /* closed while the thread is decompressing */
    for (uint64_t most = 1; most < LINES; most *= 7) {
        assert_ok(count_lines(path, most, &count, &err), &err);
        assert_int_equal(count, most);
    }
    temp_dir_remove(&dir);
}

static void names_damage_behind_the_lines_before_it(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    char path[FILE_PATH_SIZE];
    uint64_t count = 0;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/t.gz", dir.path), &err);
    const size_t size = write_packed(path, SIZE_MAX);
    write_packed(path, size - size / 8);
    assert_int_equal(count_lines(path, UINT64_MAX, &count, &err), ERROR_INPUT);
    assert_non_null(strstr(err.message, "gzip file is cut off"));
    assert_true(count > LINES / 2 && count < LINES);
    temp_dir_remove(&dir);
}

static void stays_at_the_end(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct byte_source *source = NULL;
    struct read_ahead *ahead = NULL;
    char path[FILE_PATH_SIZE], piece[4096];
    uint64_t bytes = 0;
    size_t got = 1;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/t", dir.path), &err);
    assert_ok(file_replace(path, "plain", 5, false, &err), &err);
    assert_ok(byte_source_open(path, &source, &err), &err);
    assert_false(read_ahead_is_worth(source));
    assert_ok(read_ahead_open(source, &ahead, &err), &err);
    while (got) {
        assert_ok(read_ahead_read(ahead, piece, sizeof piece, &got, &err), &err);
        bytes += got;
    }
    assert_int_equal(bytes, 5);
    assert_ok(read_ahead_read(ahead, piece, sizeof piece, &got, &err), &err);
    assert_int_equal(got, 0);
    read_ahead_close(ahead);
    read_ahead_close(NULL);
    byte_source_close(source);
    temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_large_file_are_unpacked_ahead),
        cmocka_unit_test(reads_what_the_file_has),
        cmocka_unit_test(names_damage_behind_the_lines_before_it),
        cmocka_unit_test(stays_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
