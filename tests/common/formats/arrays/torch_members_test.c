/* Reads files of PyTorch 2.15 and NumPy 2.4 (tests/fuzz/corpus/torch_members), and refuses damaged
 * ones. */
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/arrays/torch_members.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct temp_dir dir; /* of each test */

static int make_dir(void **state)
{
    (void)state;
    temp_dir_make(&dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static const char *corpus(const char *name)
{
    static char path[FILE_PATH_SIZE];
    const char *source = getenv("GRAPHMILL_SOURCE");
    must(file_path(path, NULL, "%s/tests/fuzz/corpus/torch_members/%s", source ? source : ".",
                   name) == ERROR_NONE);
    return path;
}

static struct npy_reader open_array(const char *name)
{
    struct npy_reader reader = {0};
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    must(file_path(path, NULL, "%s/%s.npy", dir.path, name) == ERROR_NONE);
    assert_ok(npy_reader_open(&reader, path, &err), &err);
    return reader;
}

/* Returns the integers of an array as text: "0 2 4". */
static const char *integers(const char *name)
{
    static char text[512];
    int64_t value[64];
    size_t size = 0;
    struct error err = {0};
    struct npy_reader reader = open_array(name);
    const size_t count = (size_t)reader.header.element_count;
    must(count <= sizeof value / sizeof *value);
    assert_ok(npy_reader_int64(&reader, 0, count, value, &err), &err);
    npy_reader_close(&reader);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        size +=
            (size_t)snprintf(text + size, sizeof text - size, "%s%" PRId64, i ? " " : "", value[i]);
    return text;
}

static void unpack(const char *name)
{
    struct error err = {0};
    must(file_remove_all(dir.path, &err) == ERROR_NONE);
    must(file_make_folders(dir.path, &err) == ERROR_NONE);
    assert_ok(torch_members_unpack(corpus(name), dir.path, &err), &err);
}

static void reads_each_form_of_a_dictionary_of_arrays(void **state)
{
    (void)state;
    static const char *const names[] = {"numpy",         "tensors",  "numpy-older",
                                        "tensors-older", "pickle-2", "pickle-3",
                                        "pickle-4",      "pickle-5", "pickle-ordered"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unpack(names[i]);
        assert_string_equal(integers("train"), "0 2 4");
        assert_string_equal(integers("valid"), "1");
        assert_string_equal(integers("test"), "3 200");
    }
}

static void reads_parts_of_one_storage(void **state)
{
    (void)state;
    static const char *const names[] = {"views-of-one-storage", "views-of-one-storage-older"};
    for (size_t i = 0; i < 2; i++) {
        unpack(names[i]);
        assert_string_equal(integers("train"), "0 1 2 3 4");
        assert_string_equal(integers("valid"), "5 6");
        assert_string_equal(integers("test"), "7 8 9 10 11");
    }
}

static void reads_dictionaries_in_a_dictionary(void **state)
{
    (void)state;
    unpack("types");
    assert_string_equal(integers("train.paper"), "0 1");
    assert_string_equal(integers("train.author"), "2");
    assert_string_equal(integers("valid.paper"), "3");
    assert_string_equal(integers("test.paper"), "4");
}

static void keeps_shapes_orders_and_types(void **state)
{
    (void)state;
    struct error err = {0};
    float value[2];
    unpack("matrix-by-columns");
    struct npy_reader reader = open_array("edge");
    assert_int_equal(reader.header.dimension_count, 2);
    assert_int_equal(reader.header.shape[0], 3);
    npy_reader_close(&reader);
    assert_string_equal(integers("edge"), "1 4 2 5 3 6");
    assert_string_equal(integers("edge_neg"), "0 1 2 3 4 5");
    unpack("int32-and-float");
    assert_string_equal(integers("a"), "1 -2");
    assert_string_equal(integers("c"), "1 0");
    assert_string_equal(integers("d"), "");
    assert_string_equal(integers("f"), "7");
    reader = open_array("b");
    assert_ok(npy_reader_float(&reader, 0, 2, value, &err), &err);
    npy_reader_close(&reader);
    assert_true(value[0] == 0.5F && value[1] == 1.5F);
    reader = open_array("e");
    assert_true(reader.header.shape[0] == 0 && reader.header.shape[1] == 2);
    npy_reader_close(&reader);
    unpack("alone");
    assert_string_equal(integers(TORCH_MEMBERS_ALONE), "5 6 7");
}

static void leaves_nothing_but_arrays(void **state)
{
    (void)state;
    char path[FILE_PATH_SIZE];
    unpack("numpy");
    must(file_path(path, NULL, "%s/.bytes", dir.path) == ERROR_NONE);
    assert_false(file_exists(path));
}

static void names_file_byte_expected_and_found(void **state)
{
    (void)state;
    static const struct {
        const char *name, *message;
    } cases[] = {
        {"call",
         "/call: data.pkl: byte 17: expected a dictionary of NumPy arrays or tensors, found "
         "posix.system, which is not run: save such a dictionary anew with torch.save()"},
        {"module", "found torch.nn.modules.linear.Linear, which is not run"},
        {"list", "'train': expected an array of numbers, found a list"},
        {"objects", "expected a dtype of integers or floats (i1 i2 i4 i8 u1 u2 u4 f2 f4 f8 b1), "
                    "found O8"},
        {"complex", "found c16"},
        {"strided", "expected a tensor whose elements lie side by side, found other strides: save "
                    "tensor.contiguous()"},
        {"key-of-number", "expected a key that is a word, such as 'train', found an integer"},
        {"path-in-key", "expected a key that is a word, such as 'train', found one that is no name "
                        "of a file"},
        {"three-deep", "'a.b': expected an array of numbers, found a dictionary"},
        {"protocol-0", "/protocol-0: byte 0: expected a pickle of protocol 2 to 5 (byte 0x80), "
                       "found something else"},
        {"text",
         "/text: byte 0: expected a pickle of protocol 2 to 5 (byte 0x80), found something"},
        {"empty", "/empty: byte 0: expected more of the pickle, found the end of the file"},
        {"cut", "expected more of the pickle, found the end of the file"},
        {"cut-storage", "expected a storage of the dictionary above and all its elements, found a "
                        "count of 3 and 15 bytes more: the file is damaged, or cut off"},
        {"no-such-file", "no-such-file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        must(file_remove_all(dir.path, &err) == ERROR_NONE);
        must(file_make_folders(dir.path, &err) == ERROR_NONE);
        const enum error_code rc = torch_members_unpack(corpus(cases[i].name), dir.path, &err);
        assert_int_equal(rc, strcmp(cases[i].name, "no-such-file") == 0 ? ERROR_NOT_FOUND
                                                                        : ERROR_INPUT);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: %s", cases[i].name, err.message);
    }
    assert_false(file_exists("/tmp/graphmill-was-run"));
}

/* Protocol 2 writes bytes as text, with two bytes for each from 128 on, so a character may cross
 * the border of two pieces. */
static void reads_long_bytes_of_protocol_2(void **state)
{
    (void)state;
    enum {
        COUNT = 40000
        /* bytes of which all but the last take two bytes in the text: more than one piece of 64
         * KiB */
    };
    static const char head[] = "\x80\x02}X\x01\0\0\0acnumpy.core.multiarray\n_reconstruct\n"
                               "cnumpy\nndarray\nK\0\x85"
                               "c_codecs\nencode\nX\x01\0\0\0bX\x06\0\0\0latin1\x86R\x87R"
                               "(K\x01M\x40\x9c\x85"
                               "cnumpy\ndtype\nX\x02\0\0\0u1\x89\x88\x87R(K\x03X\x01\0\0\0|"
                               "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"
                               "\x89"
                               "c_codecs\nencode\nX\x7f\x38\x01\0";
    static const char tail[] = "X\x06\0\0\0latin1\x86Rtbs.";
    static char text[sizeof head + (size_t)2 * COUNT + sizeof tail];
    size_t size = sizeof head - 1;
    struct error err = {0};
    int64_t value[COUNT];
    memcpy(text, head, size);
    for (int i = 0; i + 1 < COUNT; i++) {
        text[size++] = '\xc3';
        text[size++] = (char)(0x80 + i % 64);
    }
    text[size++] = 'z';
    memcpy(text + size, tail, sizeof tail - 1);
    size += sizeof tail - 1;
    for (size_t shift = 0; shift < 2;
         shift++) { /* pieces end in the middle of a character, or between two */
        char path[FILE_PATH_SIZE];
        (void)snprintf(path, sizeof path, "%s", temp_dir_write(&dir, "bytes.pt", text, size));
        assert_ok(torch_members_unpack(path, dir.path, &err), &err);
        const char *key = shift ? "ab" : "a";
        struct npy_reader reader = open_array(key);
        assert_int_equal(reader.header.element_count, COUNT);
        assert_ok(npy_reader_int64(&reader, 0, COUNT, value, &err), &err);
        npy_reader_close(&reader);
        for (int i = 0; i + 1 < COUNT; i++)
            assert_int_equal(value[i], 0xc0 + i % 64);
        assert_int_equal(value[COUNT - 1], 'z');
        memmove(text + 9, text + 8, size - 8); /* a key of two letters */
        text[9] = 'b';
        text[4] = 2;
        size++;
    }
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_DIR(reads_each_form_of_a_dictionary_of_arrays),
                                       WITH_DIR(reads_parts_of_one_storage),
                                       WITH_DIR(reads_dictionaries_in_a_dictionary),
                                       WITH_DIR(keeps_shapes_orders_and_types),
                                       WITH_DIR(leaves_nothing_but_arrays),
                                       WITH_DIR(names_file_byte_expected_and_found),
                                       WITH_DIR(reads_long_bytes_of_protocol_2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
