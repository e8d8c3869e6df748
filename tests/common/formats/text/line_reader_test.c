#include "common/base/memory.h"
#include "common/formats/bytes/byte_source.h"
#include "common/formats/bytes/zstd_unpacker.h"
#include "common/formats/text/line_reader.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

/* Compresses `text` to one gzip member. Returns the number of bytes. */
static size_t pack(const char *text, size_t size, uint8_t *out, size_t out_size)
{
    z_stream stream = {0};
    must(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_in = (const Bytef *)text;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)out_size;
    must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    const size_t packed = out_size - stream.avail_out;
    must(deflateEnd(&stream) == Z_OK);
    return packed;
}

/* Reads every line of `data`, joined with '|'. */
static enum error_code join(const char *name, const void *data, size_t size, char *out,
                            size_t out_size, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    size_t at = 0;
    int64_t number = 0;
    enum error_code rc = line_reader_open_memory(name, data, size, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        assert_int_equal(line.number, ++number);
        at += (size_t)snprintf(out + at, out_size - at, "%.*s|", (int)line.size, line.text);
    }
    line_reader_close(reader);
    return rc;
}

static void gives_lines_with_either_end_and_without_the_mark(void **state)
{
    (void)state;
    struct error err = {0};
    char out[64] = "";
    const char text[] = "\xef\xbb\xbf"
                        "a,b\r\n\nlast";
    assert_ok(join("t", text, sizeof text - 1, out, sizeof out, &err), &err);
    assert_string_equal(out, "a,b||last|");
    out[0] = '\0';
    assert_ok(join("t", "", 0, out, sizeof out, &err), &err);
    assert_string_equal(out, "");
}

/* Lines have spare room if they have two quotes in a row, and only then. */
static void gives_lines_with_quotes_in_quotes_room(void **state)
{
    (void)state;
    static const char text[] = "a,b\n\"a\",\"b\"\n\"a\"\"\",b\n\"\n,\"\"";
    static const bool expected[] = {false, false, true, false, true};
    struct error err = {0};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    assert_ok(line_reader_open_memory("t", text, sizeof text - 1, &reader, &err), &err);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_ok(line_reader_next(reader, &line, &found, &err), &err);
        assert_true(found && (line.spare != NULL) == expected[i]);
        if (line.spare)
            memset(line.spare, 'x', line.size);
    }
    line_reader_close(reader);
}

static void unpacks_several_gzip_members_as_one_file(void **state)
{
    (void)state;
    struct error err = {0};
    char out[64] = "";
    uint8_t packed[256];
    size_t size = pack("one\ntw", 6, packed, sizeof packed);
    size += pack("o\nthree", 7, packed + size, sizeof packed - size);
    assert_ok(join("t.gz", packed, size, out, sizeof out, &err), &err);
    assert_string_equal(out, "one|two|three|");
}

/* The central promise: no prefix of a gzip file reads as a shorter file. */
static void refuses_every_prefix_of_a_gzip_file(void **state)
{
    (void)state;
    struct error err = {0};
    char out[128];
    uint8_t packed[256];
    const size_t size = pack("0,1\n1,2\n2,3\n", 12, packed, sizeof packed);
    for (size_t cut = 2; cut < size; cut++)
        assert_fails(join("cut.gz", packed, cut, out, sizeof out, &err), ERROR_INPUT, "cut off",
                     &err);
    assert_fails(join("cut.gz", packed, size - 1, out, sizeof out, &err), ERROR_INPUT,
                 "found the end of the file", &err);
    char offset[32];
    (void)snprintf(offset, sizeof offset, "cut.gz: byte %zu", size - 1);
    assert_non_null(strstr(err.message, offset));
}

static void refuses_damaged_gzip(void **state)
{
    (void)state;
    struct error err = {0};
    char out[128];
    uint8_t packed[256];
    const size_t size = pack("0,1\n1,2\n2,3\n", 12, packed, sizeof packed - 8);
    memcpy(packed + size, "rubbish", 8);
    assert_fails(join("t.gz", packed, size + 8, out, sizeof out, &err), ERROR_INPUT,
                 "expected the end of the gzip file", &err);
    packed[size - 5] ^= 1; /* the checksum after the data */
    assert_fails(join("t.gz", packed, size, out, sizeof out, &err), ERROR_INPUT,
                 "incorrect data check", &err);
    assert_fails(join("t.gz", "0,1\n", 4, out, sizeof out, &err), ERROR_INPUT,
                 "t.gz: byte 0: expected gzip's magic 1f 8b", &err);
}

/* Compresses `text` to one zstd frame with a checksum. Returns the number of bytes. */
static size_t pack_zstd(const char *text, size_t size, uint8_t *out, size_t out_size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    must(context && !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)));
    const size_t packed = ZSTD_compress2(context, out, out_size, text, size);
    must(!ZSTD_isError(packed));
    (void)ZSTD_freeCCtx(context);
    return packed;
}

static void unpacks_several_zstd_frames_as_one_file(void **state)
{
    (void)state;
    struct error err = {0};
    char out[64];
    /* pzstd writes this before a frame: 4 bytes to skip */
    uint8_t packed[256] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
    size_t size = 12;
    size += pack_zstd("one\ntw", 6, packed + size, sizeof packed - size);
    size += pack_zstd("o\nthree", 7, packed + size, sizeof packed - size);
    assert_ok(join("t.zst", packed, size, out, sizeof out, &err), &err);
    assert_string_equal(out, "one|two|three|");
    assert_ok(join("of any name", packed + 12, size - 12, out, sizeof out, &err), &err);
    assert_string_equal(out, "one|two|three|");
}

static void refuses_every_prefix_of_a_zstd_file(void **state)
{
    (void)state;
    struct error err = {0};
    char out[128], expected[64];
    uint8_t packed[256];
    const size_t size = pack_zstd("0,1\n1,2\n2,3\n", 12, packed, sizeof packed);
    for (size_t cut = ZSTD_MAGIC_SIZE; cut < size; cut++) {
        (void)snprintf(expected, sizeof expected, "cut.zst: byte %zu: zstd file is cut off", cut);
        assert_fails(join("cut.zst", packed, cut, out, sizeof out, &err), ERROR_INPUT, expected,
                     &err);
    }
}

static void refuses_damaged_zstd(void **state)
{
    (void)state;
    struct error err = {0};
    char out[128];
    uint8_t packed[256];
    const size_t size = pack_zstd("0,1\n1,2\n2,3\n", 12, packed, sizeof packed - 8);
    memcpy(packed + size, "rubbish", 8);
    assert_fails(join("t.zst", packed, size + 8, out, sizeof out, &err), ERROR_INPUT,
                 "damaged zstd data: Unknown frame descriptor", &err);
    packed[size - 1] ^= 1; /* the checksum after the data */
    assert_fails(join("t.zst", packed, size, out, sizeof out, &err), ERROR_INPUT,
                 "t.zst: byte 0: expected whole zstd data, found damaged zstd data: Restored data "
                 "doesn't match checksum",
                 &err);
    assert_fails(join("t.zst", "0,1\n", 4, out, sizeof out, &err), ERROR_INPUT,
                 "t.zst: byte 0: expected zstd's magic 28 b5 2f fd", &err);
    /* the size of its window */
    const uint8_t of_4_gigabytes[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0xb0, 0, 0, 0};
    assert_fails(join("t.zst", of_4_gigabytes, sizeof of_4_gigabytes, out, sizeof out, &err),
                 ERROR_INPUT, "damaged zstd data: Frame requires too much memory for decoding",
                 &err);
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    struct error err = {0};
    char out[64];
    assert_fails(join("edges.csv", "0,1\n0,\0\n", 8, out, sizeof out, &err), ERROR_INPUT,
                 "edges.csv:2: expected text, found a NUL byte in column 3", &err);
}

static void bounds_the_length_of_a_line(void **state)
{
    (void)state;
    struct error err = {0};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = false;
    const size_t size = LINE_SIZE_MAX + 2;
    char *text = memory_alloc(size, 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[LINE_SIZE_MAX] = '\n';
    assert_ok(line_reader_open_memory("t", text, size, &reader, &err), &err);
    assert_ok(line_reader_next(reader, &line, &found, &err), &err);
    assert_true(found && line.size == LINE_SIZE_MAX);
    line_reader_close(reader);

    text[LINE_SIZE_MAX] = 'x';
    assert_ok(line_reader_open_memory("t", text, size, &reader, &err), &err);
    assert_fails(line_reader_next(reader, &line, &found, &err), ERROR_INPUT,
                 "t:1: line is longer than", &err);
    line_reader_close(reader);
    memory_free(text);
}

/* Reads lines across the borders of every buffer on the way, from a real file. */
static void reads_a_long_file_of_either_form(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    enum { LINES = 60000, SIZE = LINES * 12 };
    char *text = memory_alloc(SIZE, 1);
    uint8_t *packed = memory_alloc(SIZE, 1);
    size_t size = 0;
    assert_non_null(text);
    assert_non_null(packed);
    for (int i = 0; i < LINES; i++)
        size += (size_t)snprintf(text + size, SIZE - size, "%d,%d\n", i, i % 7);
    const size_t packed_size = pack(text, size, packed, SIZE);
    temp_dir_make(&dir);
    for (int form = 0; form < 2; form++) {
        struct line_reader *reader = NULL;
        struct text_line line;
        char expected[24];
        bool found = true;
        const char *path = form ? temp_dir_write(&dir, "t.csv.gz", packed, packed_size)
                                : temp_dir_write(&dir, "t.csv", text, size);
        assert_ok(line_reader_open(path, &reader, &err), &err);
        for (int i = 0; i < LINES; i++) {
            assert_ok(line_reader_next(reader, &line, &found, &err), &err);
            const int length = snprintf(expected, sizeof expected, "%d,%d", i, i % 7);
            assert_true(found && line.size == (size_t)length);
            assert_memory_equal(line.text, expected, line.size);
        }
        assert_ok(line_reader_next(reader, &line, &found, &err), &err);
        assert_false(found);
        line_reader_close(reader);
    }
    temp_dir_remove(&dir);
    memory_free(text);
    memory_free(packed);
}

static void says_which_file_is_missing_or_no_file(void **state)
{
    (void)state;
    struct error err = {0};
    struct line_reader *reader = NULL;
    assert_fails(line_reader_open("/nowhere/t.csv", &reader, &err), ERROR_NOT_FOUND,
                 "/nowhere/t.csv", &err);
    assert_fails(line_reader_open("/tmp", &reader, &err), ERROR_INPUT, "is a folder", &err);
    assert_null(reader);
}

static void gives_everything_back_when_memory_fails(void **state)
{
    (void)state;
    struct error err = {0};
    const long before = memory_live_blocks();
    for (long n = 0;; n++) {
        struct line_reader *reader = NULL;
        memory_fail_after(n);
        const enum error_code rc = line_reader_open_memory("t", "a\n", 2, &reader, &err);
        memory_fail_after(-1);
        line_reader_close(reader);
        assert_int_equal(memory_live_blocks(), before);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_true(n < 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_lines_with_either_end_and_without_the_mark),
        cmocka_unit_test(gives_lines_with_quotes_in_quotes_room),
        cmocka_unit_test(unpacks_several_gzip_members_as_one_file),
        cmocka_unit_test(refuses_every_prefix_of_a_gzip_file),
        cmocka_unit_test(refuses_damaged_gzip),
        cmocka_unit_test(unpacks_several_zstd_frames_as_one_file),
        cmocka_unit_test(refuses_every_prefix_of_a_zstd_file),
        cmocka_unit_test(refuses_damaged_zstd),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(bounds_the_length_of_a_line),
        cmocka_unit_test(reads_a_long_file_of_either_form),
        cmocka_unit_test(says_which_file_is_missing_or_no_file),
        cmocka_unit_test(gives_everything_back_when_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
