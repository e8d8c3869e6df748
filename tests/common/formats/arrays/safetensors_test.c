#include "common/base/memory.h"
#include "common/formats/arrays/safetensors.h"

#include "tests/support/test.h"

#include <stdio.h>

static const float weights[] = {1.0F, -2.0F, 3.5F, 4.0F, 5.0F, 6.0F};
static const float bias[] = {0.25F, 0.5F};

static const int64_t edges[] = {7, -1};

static struct safetensors_tensor tensors[] = {
    {.name = "convs.0.lin_r.weight", .dim_count = 2, .dim = {2, 3}, .data = weights},
    {.name = "convs.0.lin_l.bias", .dim_count = 1, .dim = {2}, .data = bias},
    {.name = "empty", .dim_count = 2, .dim = {0, 7}},
    {.name = "scale", .data = weights},
    {.name = "zz.edge_index",
     .type = SAFETENSORS_I64,
     .dim_count = 2,
     .dim = {2, 1},
     .data = edges},
};

static struct safetensors_text texts[] = {{"run", "cora-1"}, {"arch", "say \"SAGE\"\n"}};

static const struct safetensors content = {
    .tensor = tensors, .tensor_count = 5, .metadata = texts, .metadata_count = 2};

static void writes_the_bytes_of_the_reference_writer(void **state)
{
    (void)state;
    static const char header[] =
        "{\"__metadata__\":{\"arch\":\"say \\\"SAGE\\\"\\u000a\",\"run\":\"cora-1\"},"
        "\"zz.edge_index\":{\"dtype\":\"I64\",\"shape\":[2,1],\"data_offsets\":[0,16]},"
        "\"convs.0.lin_l.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
        "\"convs.0.lin_r.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[24,48]},"
        "\"empty\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[48,48]},"
        "\"scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[48,52]}}";
    const size_t length = (sizeof header - 1 + 7) / 8 * 8;
    struct error err = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_ok(safetensors_encode(&content, &bytes, &size, &err), &err);
    assert_int_equal(size, 8 + length + 52);
    assert_int_equal(bytes[0] | bytes[1] << 8, length);
    for (int i = 2; i < 8; i++)
        assert_int_equal(bytes[i], 0);
    assert_memory_equal(bytes + 8, header, sizeof header - 1);
    for (size_t i = sizeof header - 1; i < length; i++)
        assert_int_equal(bytes[8 + i], ' ');
    assert_memory_equal(bytes + 8 + length, edges, sizeof edges);
    assert_memory_equal(bytes + 8 + length + 16, bias, sizeof bias);
    assert_memory_equal(bytes + 8 + length + 24, weights, sizeof weights);
    assert_memory_equal(bytes + 8 + length + 48, weights, 4);
    memory_free(bytes);
}

static void the_order_of_tensors_and_texts_does_not_matter(void **state)
{
    (void)state;
    struct safetensors_tensor turned[] = {tensors[4], tensors[3], tensors[2], tensors[1],
                                          tensors[0]};
    struct safetensors_text turned_texts[] = {texts[1], texts[0]};
    const struct safetensors other = {
        .tensor = turned, .tensor_count = 5, .metadata = turned_texts, .metadata_count = 2};
    struct error err = {0};
    uint8_t *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    assert_ok(safetensors_encode(&content, &first, &first_size, &err), &err);
    assert_ok(safetensors_encode(&other, &second, &second_size, &err), &err);
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    memory_free(first);
    memory_free(second);
}

static void reads_what_it_wrote(void **state)
{
    (void)state;
    struct error err = {0};
    struct safetensors read;
    uint8_t *bytes = NULL;
    size_t size = 0;
    const long live = memory_live_blocks();
    assert_ok(safetensors_encode(&content, &bytes, &size, &err), &err);
    assert_ok(safetensors_decode(bytes, size, "model", &read, &err), &err);
    assert_int_equal(read.tensor_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct safetensors_tensor *tensor = safetensors_find(&read, tensors[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->dim_count, tensors[i].dim_count);
        for (int k = 0; k < tensor->dim_count; k++)
            assert_int_equal(tensor->dim[k], tensors[i].dim[k]);
        assert_int_equal(tensor->type, tensors[i].type);
        if (tensor->bytes)
            assert_memory_equal(tensor->data, tensors[i].data, tensor->bytes);
    }
    assert_int_equal(safetensors_find(&read, "convs.0.lin_r.weight")->bytes, 24);
    assert_int_equal(safetensors_find(&read, "empty")->bytes, 0);
    assert_null(safetensors_find(&read, "other"));
    assert_string_equal(safetensors_metadata(&read, "arch"), "say \"SAGE\"\n");
    assert_null(safetensors_metadata(&read, "other"));
    safetensors_release(&read);
    memory_free(bytes);
    assert_int_equal(memory_live_blocks(), live);
}

static void a_file_without_tensors_is_a_file(void **state)
{
    (void)state;
    static const struct safetensors nothing = {0};
    struct error err = {0};
    struct safetensors read;
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_ok(safetensors_encode(&nothing, &bytes, &size, &err), &err);
    assert_int_equal(size, 16);
    assert_memory_equal(bytes + 8, "{}      ", 8);
    assert_ok(safetensors_decode(bytes, size, "model", &read, &err), &err);
    assert_int_equal(read.tensor_count, 0);
    safetensors_release(&read);
    memory_free(bytes);
}

static void is_not_written(struct safetensors_tensor *tensor, size_t count, const char *message)
{
    const struct safetensors wrong = {.tensor = tensor, .tensor_count = count};
    struct error err = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_fails(safetensors_encode(&wrong, &bytes, &size, &err), ERROR_INVALID, message, &err);
    assert_null(bytes);
}

static void refuses_to_write_what_nobody_could_read(void **state)
{
    (void)state;
    struct safetensors_tensor wrong[] = {tensors[0], tensors[1], tensors[0]};
    is_not_written(wrong, 3, "two tensors are called 'convs.0.lin_r.weight'");
    wrong[2].type = SAFETENSORS_I64;
    is_not_written(wrong, 3, "two tensors are called 'convs.0.lin_r.weight'");
    wrong[0].name = "__metadata__";
    is_not_written(wrong, 1, "a tensor cannot be called '__metadata__'");
    wrong[0].name = "";
    is_not_written(wrong, 1, "a tensor cannot be called ''");
    wrong[0] = tensors[0];
    wrong[0].dim_count = SAFETENSORS_DIMS_MAX + 1;
    is_not_written(wrong, 1, "has 9 dimensions, expected at most 8");
    wrong[0].dim_count = 2;
    wrong[0].dim[0] = UINT64_MAX / 2;
    is_not_written(wrong, 1, "larger than any memory");
    is_not_written(wrong, SAFETENSORS_TENSORS_MAX + 1, "4097 tensors, expected at most 4096");
    struct safetensors_text twice[] = {texts[0], texts[0]};
    const struct safetensors repeated = {.metadata = twice, .metadata_count = 2};
    struct error err = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_fails(safetensors_encode(&repeated, &bytes, &size, &err), ERROR_INVALID,
                 "two texts of the metadata are called 'run'", &err);
}

/* Makes a file with this header and so many bytes of data. */
static size_t file_of(const char *header, size_t data_bytes, uint8_t *out)
{
    const size_t length = strlen(header);
    memset(out, 0, 8 + length + data_bytes);
    out[0] = (uint8_t)length;
    out[1] = (uint8_t)(length >> 8);
    for (size_t i = 0; i < length; i++)
        out[8 + i] = (uint8_t)header[i];
    return 8 + length + data_bytes;
}

static void is_refused(const char *header, size_t data_bytes, const char *message)
{
    uint8_t bytes[2048];
    struct error err = {0};
    struct safetensors read;
    const long live = memory_live_blocks();
    const size_t size = file_of(header, data_bytes, bytes);
    assert_fails(safetensors_decode(bytes, size, "model", &read, &err), ERROR_INPUT, message, &err);
    assert_non_null(strstr(err.message, "model"));
    assert_null(read.tensor);
    assert_int_equal(memory_live_blocks(), live);
}

#define F32(shape, offsets) "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void says_what_is_wrong_with_a_tensor(void **state)
{
    (void)state;
    is_refused("{\"a\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
               "tensor a: dtype: expected F32 or I64, found I32");
    is_refused("{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
               "tensor a: data_offsets: expected 8 bytes as the shape has, found 4");
    is_refused("{\"a\":7}", 0, "tensor a: dtype: expected F32 or I64, found none");
    is_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4,
               "tensor a: expected dtype, shape and data_offsets, found 4 members");
    is_refused("{\"a\":{\"dtype\":\"F32\",\"size\":[1],\"data_offsets\":[0,4]}}", 4,
               "tensor a: shape: expected at most 8 dimensions");
    is_refused("{\"a\":" F32("[-1]", "[0,4]") "}", 4, "tensor a: shape[0]: expected a whole");
    is_refused("{\"a\":" F32("[1,2.5]", "[0,4]") "}", 4, "tensor a: shape[1]: expected a whole");
    is_refused("{\"a\":" F32("[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, "found 9");
    is_refused("{\"a\":" F32("[4611686018427387904,4]", "[0,4]") "}", 4, "larger than any file");
    is_refused("{\"a\":" F32("[1]", "[4,0]") "}", 4, "data_offsets: expected [begin, end]");
    is_refused("{\"a\":" F32("[1]", "[-4,0]") "}", 4, "data_offsets: expected [begin, end]");
    is_refused("{\"a\":" F32("[1]", "[0]") "}", 4, "data_offsets: expected [begin, end]");
    is_refused("{\"a\":" F32("[2]", "[0,4]") "}", 4, "expected 8 bytes as the shape has, found 4");
}

static void says_what_is_wrong_with_the_layout(void **state)
{
    (void)state;
    is_refused("{\"a\":" F32("[1]", "[4,8]") "}", 8,
               "tensor a: data_offsets: expected to begin "
               "at 0, found 4");
    is_refused("{\"a\":" F32("[1]", "[0,4]") ",\"b\":" F32("[1]", "[8,12]") "}", 12,
               "tensor b: data_offsets: expected to begin at 4, found 8");
    is_refused("{\"a\":" F32("[2]", "[0,8]") ",\"b\":" F32("[1]", "[4,8]") "}", 8,
               "tensor b: data_offsets: expected to begin at 8, found 4");
    is_refused("{\"a\":" F32("[2]", "[0,8]") "}", 7,
               "tensor a: expected data up to 8, found the end of file after 7");
    is_refused("{\"a\":" F32("[1]", "[0,4]") "}", 9, "expected 4 bytes of data, found 5 more");
    is_refused("{\"a\":" F32("[1]", "[0,4]") ",\"a\":" F32("[1]", "[4,8]") "}", 8, "duplicate");
    is_refused("{\"__metadata__\":{\"k\":1}}", 0, "__metadata__: k: expected a text");
    is_refused("{\"__metadata__\":[\"k\"]}", 0, "__metadata__: expected an object");
}

static void says_what_is_wrong_with_the_header(void **state)
{
    (void)state;
    uint8_t bytes[64] = {0};
    struct error err = {0};
    struct safetensors read;
    is_refused(" {}", 0, "offset 8: expected '{', found byte 32");
    is_refused("{}x", 0, "not valid JSON");
    is_refused("{\"a\":", 0, "not valid JSON");
    assert_fails(safetensors_decode(bytes, 7, "model", &read, &err), ERROR_INPUT,
                 "model: 7 bytes, expected a length of 8", &err);
    assert_fails(safetensors_decode(bytes, 64, "model", &read, &err), ERROR_INPUT,
                 "the header has 0 bytes, expected 2 to 1048576", &err);
    bytes[0] = 57;
    assert_fails(safetensors_decode(bytes, 64, "model", &read, &err), ERROR_INPUT,
                 "the header has 57 bytes, found the end of file after 56", &err);
    memset(bytes, 0xff, 8);
    assert_fails(safetensors_decode(bytes, 64, "model", &read, &err), ERROR_INPUT,
                 "the header has 18446744073709551615 bytes, expected 2 to 1048576", &err);
}

static void reads_tensors_in_any_order_of_the_header(void **state)
{
    (void)state;
    uint8_t bytes[512];
    struct error err = {0};
    struct safetensors read;
    const size_t size =
        file_of("{\"b\":" F32("[1]", "[4,8]") ",\"a\":" F32("[1]", "[0,4]") "}  ", 8, bytes);
    assert_ok(safetensors_decode(bytes, size, "model", &read, &err), &err);
    assert_string_equal(read.tensor[0].name, "a");
    assert_string_equal(read.tensor[1].name, "b");
    assert_ptr_equal(read.tensor[1].data, bytes + size - 4);
    safetensors_release(&read);
}

static void fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    struct error err = {0};
    const long live = memory_live_blocks();
    enum error_code rc = ERROR_NO_MEMORY;
    for (long allowed = 0; rc != ERROR_NONE; allowed++) {
        struct safetensors read = {0};
        uint8_t *bytes = NULL;
        size_t size = 0;
        memory_fail_after(allowed);
        rc = safetensors_encode(&content, &bytes, &size, &err);
        if (rc == ERROR_NONE)
            rc = safetensors_decode(bytes, size, "model", &read, &err);
        memory_fail_after(-1);
        safetensors_release(&read);
        memory_free(bytes);
        assert_true(rc == ERROR_NONE || rc == ERROR_NO_MEMORY);
        assert_int_equal(memory_live_blocks(), live);
        assert_true(allowed < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_bytes_of_the_reference_writer),
        cmocka_unit_test(the_order_of_tensors_and_texts_does_not_matter),
        cmocka_unit_test(reads_what_it_wrote),
        cmocka_unit_test(a_file_without_tensors_is_a_file),
        cmocka_unit_test(refuses_to_write_what_nobody_could_read),
        cmocka_unit_test(says_what_is_wrong_with_a_tensor),
        cmocka_unit_test(says_what_is_wrong_with_the_layout),
        cmocka_unit_test(says_what_is_wrong_with_the_header),
        cmocka_unit_test(reads_tensors_in_any_order_of_the_header),
        cmocka_unit_test(fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
