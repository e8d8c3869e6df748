#include "common/formats/arrays/npy_reader.h"
#include "common/formats/arrays/npy_writer.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct sample { /* a file in memory */
    uint8_t bytes[16384];
    size_t size;
};

/* Makes a version 1 file with this header text and `data_size` bytes that count up from 0. */
static struct sample make(const char *header, size_t data_size)
{
    struct sample sample = {0};
    const size_t length = strlen(header);
    memcpy(sample.bytes, "\x93NUMPY\x01\x00", 8);
    sample.bytes[8] = (uint8_t)(length & 0xff);
    sample.bytes[9] = (uint8_t)(length >> 8);
    memcpy(sample.bytes + 10, header, length);
    for (size_t i = 0; i < data_size; i++)
        sample.bytes[10 + length + i] = (uint8_t)i;
    sample.size = 10 + length + data_size;
    return sample;
}

static enum error_code parse(const struct sample *sample, struct npy_header *out, struct error *err)
{
    return npy_header_parse(sample->bytes, sample->size, sample->size, "a.npy", out, err);
}

static void reads_a_header(void **state)
{
    (void)state;
    struct error err = {0};
    struct npy_header header;
    const struct sample sample =
        make("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n", 24);
    assert_ok(parse(&sample, &header, &err), &err);
    assert_int_equal(header.type, NPY_F32);
    assert_int_equal(header.dimension_count, 2);
    assert_int_equal(header.shape[0], 2);
    assert_int_equal(header.shape[1], 3);
    assert_int_equal(header.element_count, 6);
    assert_int_equal(header.data_offset, sample.size - 24);
}

static void reads_scalars_vectors_and_empty_arrays(void **state)
{
    (void)state;
    struct error err = {0};
    struct npy_header header;
    struct sample sample = make("{'descr':'<i8','fortran_order':False,'shape':()}", 8);
    assert_ok(parse(&sample, &header, &err), &err);
    assert_int_equal(header.element_count, 1);
    sample = make("{'shape': (3,), 'fortran_order': False, 'descr': '|u1'}", 3);
    assert_ok(parse(&sample, &header, &err), &err);
    assert_int_equal(header.dimension_count, 1);
    sample = make("{'descr': '<i8', 'fortran_order': False, 'shape': (9999999999, 0), }", 0);
    assert_ok(parse(&sample, &header, &err), &err);
    assert_int_equal(header.element_count, 0);
}

static void refuses_bad_headers_with_place_expected_and_found(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
         "a.npy: byte 20: the elements are Python objects, expected numbers: in Python, "
         "numpy.save(\"a.npy\", numpy.load(\"a.npy\", allow_pickle=True).astype(\"float32\"))"},
        {"{'descr': '<U5', 'fortran_order': False, 'shape': (2,), }", "the elements are strings"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "complex numbers"},
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", "a type that is not read"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
         "records of several fields"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }", "a type such as '<f4'"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", "expected True or False"},
        {"{'descr': '<f2', 'fortran_order': True, 'shape': (2, 1, 2), }",
         "lies column by column (Fortran order), expected rows: in Python, numpy.save(\"a.npy\", "
         "numpy.ascontiguousarray(numpy.load(\"a.npy\")))"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "expected a dimension"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "expected a dimension below 2^63"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,2), }", "at most 4"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", "once"},
        {"{'descr': '<f4', 'shape': (2,), }", "before the end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "nothing behind '}'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "found 'the end of the header'"},
        {"import os", "expected '{'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
         "expected 12 bytes of data as the shape says, found 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
         "expected 4 bytes of data as the shape says, found 8"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "more than 2^64 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        struct npy_header header;
        const struct sample sample = make(cases[i].header, 8);
        assert_fails(parse(&sample, &header, &err), ERROR_INPUT, cases[i].message, &err);
    }
}

static void names_files_that_are_something_else(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *message;
    } cases[] = {
        {"PK\x03\x04zip archive", "a.npy is a zip archive (an npz, or a PyTorch file)"},
        {"\x1f\x8bpacked by gzip", "a.npy is packed by gzip, expected an npy array: gunzip it"},
        {"0.5,0.25,1\n0,1,2\n", "a.npy is text, expected an npy array: in Python, numpy.save("},
        {"\x80\x04pickled objects", "expected npy's magic 93 4e 55 4d 50 59, found 80 04"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        struct npy_header header;
        assert_fails(
            npy_header_parse((const uint8_t *)cases[i].begin, 14, 14, "a.npy", &header, &err),
            ERROR_INPUT, cases[i].message, &err);
    }
}

/* Writes the elements' bytes after a header of this type, and reads them as floats and integers. */
static void expect_elements(const char *descr, const void *bytes, size_t size, size_t count,
                            const float *real, const int64_t *whole)
{
    struct error err = {0};
    struct temp_dir dir;
    struct npy_reader reader;
    char header[128];
    temp_dir_make(&dir);
    (void)snprintf(header, sizeof header,
                   "{'descr': '%s', 'fortran_order': True, 'shape': (%zu,), }", descr, count);
    struct sample sample = make(header, size);
    memcpy(sample.bytes + sample.size - size, bytes, size);
    assert_ok(
        npy_reader_open(&reader, temp_dir_write(&dir, "a.npy", sample.bytes, sample.size), &err),
        &err);
    float read[8];
    int64_t integer[8];
    assert_ok(npy_reader_float(&reader, 0, count, read, &err), &err);
    for (size_t i = 0; i < count; i++)
        assert_true(isnan(real[i]) ? isnan(read[i]) : read[i] >= real[i] && read[i] <= real[i]);
    if (whole) {
        assert_ok(npy_reader_int64(&reader, 0, count, integer, &err), &err);
        assert_memory_equal(integer, whole, count * sizeof *whole);
    }
    npy_reader_close(&reader);
    temp_dir_remove(&dir);
}

static void reads_other_types_and_byte_orders(void **state)
{
    (void)state;
    static const float halves[] = {1.0F, -2.0F, 65504.0F, 0x1p-24F, 0x1.554p-2F, INFINITY, NAN};
    static const int64_t whole[] = {1, -2};
    static const float real[] = {1, -2}, large[] = {65535, 1}, larger[] = {4294967295.0F, 1};
    static const int64_t most[] = {65535, 1}, greatest[] = {4294967295, 1};
    expect_elements("<f2", "\x00\x3c\x00\xc0\xff\x7b\x01\x00\x55\x35\x00\x7c\x01\x7e", 14, 7,
                    halves, NULL);
    expect_elements(">f2", "\x3c\x00\xc0\x00", 4, 2, real, NULL);
    expect_elements(">f4", "\x3f\x80\x00\x00\xc0\x00\x00\x00", 8, 2, real, NULL);
    expect_elements(">f8", "\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16, 2, real, NULL);
    expect_elements("|i1", "\x01\xfe", 2, 2, real, whole);
    expect_elements("<i2", "\x01\x00\xfe\xff", 4, 2, real, whole);
    expect_elements(">i2", "\x00\x01\xff\xfe", 4, 2, real, whole);
    expect_elements(">i4", "\0\0\0\x01\xff\xff\xff\xfe", 8, 2, real, whole);
    expect_elements(">i8", "\0\0\0\0\0\0\0\x01\xff\xff\xff\xff\xff\xff\xff\xfe", 16, 2, real,
                    whole);
    expect_elements("<u2", "\xff\xff\x01\x00", 4, 2, large, most);
    expect_elements("<u4", "\xff\xff\xff\xff\x01\x00\x00\x00", 8, 2, larger, greatest);
}

/* Any range of an array in Fortran order equals the range in C order. */
static void reads_columns_that_lie_one_behind_the_other(void **state)
{
    (void)state;
    enum { ROWS = 5, COLUMNS = 3 };
    struct error err = {0};
    struct temp_dir dir;
    struct npy_reader reader;
    int16_t by_columns[ROWS * COLUMNS];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            by_columns[c * ROWS + r] = (int16_t)(r * COLUMNS + c);
    struct sample sample =
        make("{'descr': '<i2', 'fortran_order': True, 'shape': (5, 3), }", sizeof by_columns);
    memcpy(sample.bytes + sample.size - sizeof by_columns, by_columns, sizeof by_columns);
    temp_dir_make(&dir);
    assert_ok(
        npy_reader_open(&reader, temp_dir_write(&dir, "a.npy", sample.bytes, sample.size), &err),
        &err);
    const size_t elements = sizeof by_columns / sizeof *by_columns;
    for (size_t first = 0; first <= elements; first++)
        for (size_t count = 0; first + count <= elements; count++) {
            int64_t whole[ROWS * COLUMNS + 1];
            float real[ROWS * COLUMNS + 1];
            whole[count] = -1;
            assert_ok(npy_reader_int64(&reader, first, count, whole, &err), &err);
            assert_ok(npy_reader_float(&reader, first, count, real, &err), &err);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(whole[i], (int64_t)(first + i));
                assert_true(real[i] == (float)(first + i));
            }
            assert_int_equal(whole[count], -1);
        }
    npy_reader_close(&reader);
    temp_dir_remove(&dir);
}

static void refuses_bad_prefixes(void **state)
{
    (void)state;
    struct error err = {0};
    struct npy_header header;
    const struct sample good = make("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8);
    struct sample sample = good;
    sample.bytes[0] = 'P';
    assert_fails(parse(&sample, &header, &err), ERROR_INPUT,
                 "byte 0: expected npy's magic 93 4e 55 4d 50 59, found 50 4e", &err);
    sample = good;
    sample.bytes[6] = 4;
    assert_fails(parse(&sample, &header, &err), ERROR_INPUT, "byte 6: expected npy version", &err);
    sample = good;
    sample.bytes[9] = 0xff;
    assert_fails(parse(&sample, &header, &err), ERROR_INPUT, "at most 10000 bytes", &err);
    for (size_t size = 0; size < good.size; size++) {
        assert_int_equal(npy_header_parse(good.bytes, size, size, "a.npy", &header, &err),
                         ERROR_INPUT);
        assert_non_null(strstr(err.message, "a.npy: byte"));
    }
}

static void reads_any_range_of_any_type(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct npy_reader reader;
    int64_t whole[2];
    float real[2];
    const int32_t values[] = {-7, 8, 9};
    const double doubles[] = {0.5, -2.0, 3.25};
    temp_dir_make(&dir);

    struct sample sample = make("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 12);
    memcpy(sample.bytes + sample.size - 12, values, 12);
    assert_ok(
        npy_reader_open(&reader, temp_dir_write(&dir, "a.npy", sample.bytes, sample.size), &err),
        &err);
    assert_ok(npy_reader_int64(&reader, 0, 2, whole, &err), &err);
    assert_true(whole[0] == -7 && whole[1] == 8);
    assert_ok(npy_reader_float(&reader, 2, 1, real, &err), &err);
    assert_true(real[0] > 8.9F && real[0] < 9.1F);
    npy_reader_close(&reader);

    sample = make("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 24);
    memcpy(sample.bytes + sample.size - 24, doubles, 24);
    assert_ok(
        npy_reader_open(&reader, temp_dir_write(&dir, "b.npy", sample.bytes, sample.size), &err),
        &err);
    assert_ok(npy_reader_float(&reader, 1, 2, real, &err), &err);
    assert_memory_equal(real, ((const float[]){-2.0F, 3.25F}), sizeof real);
    assert_fails(npy_reader_int64(&reader, 0, 1, whole, &err), ERROR_INPUT,
                 "expected integers, found floating point numbers", &err);
    npy_reader_close(&reader);
    assert_fails(npy_reader_open(&reader, "/nowhere/a.npy", &err), ERROR_NOT_FOUND, "/nowhere",
                 &err);
    temp_dir_remove(&dir);
}

static void notices_a_file_that_shrinks_while_it_is_read(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct npy_reader reader;
    int64_t value[3];
    temp_dir_make(&dir);
    const struct sample sample =
        make("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 24);
    const char *path = temp_dir_write(&dir, "a.npy", sample.bytes, sample.size);
    assert_ok(npy_reader_open(&reader, path, &err), &err);
    assert_int_equal(truncate(path, (off_t)sample.size - 8), 0);
    assert_fails(npy_reader_int64(&reader, 0, 3, value, &err), ERROR_INPUT,
                 "expected more data, found the end of the file", &err);
    npy_reader_close(&reader);
    temp_dir_remove(&dir);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct npy_writer writer;
    struct npy_reader reader;
    char path[FILE_PATH_SIZE];
    const float rows[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
    float back[6];
    struct checksum sum, found;
    uint64_t size = 0, found_size = 0;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/e.npy", dir.path), &err);
    assert_ok(npy_writer_open(&writer, path, NPY_F32, 3, 2, &err), &err);
    assert_ok(npy_writer_add(&writer, rows, 4, &err), &err);
    assert_false(file_exists(path)); /* the name does not exist before the file is complete */
    assert_ok(npy_writer_add(&writer, rows + 4, 2, &err), &err);
    sum = npy_writer_sum(&writer, &size);
    assert_ok(npy_writer_finish(&writer, &err), &err);
    assert_ok(checksum_of_file(path, &found, &found_size, &err), &err);
    assert_int_equal(size, found_size);
    assert_true(checksum_equal(&sum, &found));
    assert_ok(npy_reader_open(&reader, path, &err), &err);
    assert_int_equal(reader.header.shape[0], 3);
    assert_int_equal(reader.header.shape[1], 2);
    assert_int_equal(reader.header.data_offset % 64, 0);
    assert_ok(npy_reader_float(&reader, 0, 6, back, &err), &err);
    assert_memory_equal(back, rows, sizeof rows);
    npy_reader_close(&reader);
    temp_dir_remove(&dir);
}

static enum error_code count_name(void *context, const char *name, struct error *err)
{
    (void)name;
    (void)err;
    ++*(int *)context;
    return ERROR_NONE;
}

static void leaves_nothing_of_an_unfinished_file(void **state)
{
    (void)state;
    struct error err = {0};
    struct temp_dir dir;
    struct npy_writer writer;
    char path[FILE_PATH_SIZE];
    const int64_t one = 1;
    int names = 0;
    temp_dir_make(&dir);
    assert_ok(file_path(path, &err, "%s/e.npy", dir.path), &err);
    assert_ok(npy_writer_open(&writer, path, NPY_I64, 2, 0, &err), &err);
    assert_ok(npy_writer_add(&writer, &one, 1, &err), &err);
    npy_writer_close(&writer);
    assert_ok(file_list(dir.path, count_name, &names, &err), &err);
    assert_int_equal(names, 0);
    temp_dir_remove(&dir);
}

/* Two rows of three, in C or Fortran order; a float cannot represent 16777217 and 16777219. */
static void integers_that_a_float_cannot_hold_are_noted(void **state)
{
    static const struct {
        const char *header;
        int64_t integer[6];
        double real[6];
        const char *first, *second;
    } cases[] = {
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3)}",
         {1, 16777217, 3, 4, 5, -16777219},
         {0},
         "row 0: column 1: 16777217",
         "row 1: column 2: -16777219"},
        {"{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3)}",
         {1, 16777217, 3, 4, -16777219, 6},
         {0},
         "row 1: column 0: 16777217",
         "row 0: column 2: -16777219"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
         {0},
         {16777217.5, 16777217, 1e30, 0.1, 5, -16777219},
         "row 0: column 1: 16777217",
         "row 1: column 2: -16777219"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct error err = {0};
        struct temp_dir dir;
        struct npy_reader reader;
        struct float_loss loss = {0};
        float value[6];
        struct sample sample = make(cases[c].header, 48);
        const void *data = cases[c].integer[0] ? (const void *)cases[c].integer : cases[c].real;
        memcpy(sample.bytes + sample.size - 48, data, 48);
        temp_dir_make(&dir);
        assert_ok(npy_reader_open(&reader, temp_dir_write(&dir, "a.npy", sample.bytes, sample.size),
                                  &err),
                  &err);
        assert_ok(npy_reader_float(&reader, 0, 6, value, &err), &err); /* no caller is interested */
        reader.loss = &loss;
        assert_ok(npy_reader_float(&reader, 0, 6, value, &err), &err);
        assert_int_equal(loss.count, 2);
        assert_non_null(strstr(loss.first[0].text, cases[c].first));
        assert_non_null(strstr(loss.first[1].text, cases[c].second));
        npy_reader_close(&reader);
        temp_dir_remove(&dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_that_a_float_cannot_hold_are_noted),
        cmocka_unit_test(reads_a_header),
        cmocka_unit_test(reads_scalars_vectors_and_empty_arrays),
        cmocka_unit_test(refuses_bad_headers_with_place_expected_and_found),
        cmocka_unit_test(names_files_that_are_something_else),
        cmocka_unit_test(reads_other_types_and_byte_orders),
        cmocka_unit_test(reads_columns_that_lie_one_behind_the_other),
        cmocka_unit_test(refuses_bad_prefixes),
        cmocka_unit_test(reads_any_range_of_any_type),
        cmocka_unit_test(notices_a_file_that_shrinks_while_it_is_read),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(leaves_nothing_of_an_unfinished_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
