#include "common/base/memory.h"
#include "store/objects/record.h"

#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- a small record, made by record_encode_head() --- */

enum { SMALL_SIZE_MAX = 1024 };

struct bytes {
    _Alignas(64) uint8_t data[SMALL_SIZE_MAX];
    size_t size;
};

static const uint32_t numbers[] = {1, 2, 3};
static const double halves[] = {0.5};

static struct record small_record(void)
{
    struct record record = {.kind = RECORD_WEIGHTS, .version = 3};
    record_add(&record, "number", ELEMENT_U32, numbers, 3);
    record_add(&record, "nothing", ELEMENT_F32, NULL, 0);
    record_add(&record, "half", ELEMENT_F64, halves, 1);
    record_add_text(&record, "text", "hello");
    return record;
}

static struct bytes encoded(const struct record *record, const char *key, const char *owner)
{
    struct bytes out = {.size = 0};
    assert_true(record_length(record) <= SMALL_SIZE_MAX);
    (void)record_encode_head(record, key, owner, out.data);
    out.size = record_head_size(record);
    for (uint32_t i = 0; i < record->section_count; i++) {
        const struct record_section *section = &record->section[i];
        const size_t size = section->count * element_size(section->type);
        out.size += record_gap_before(record, i);
        if (size)
            memcpy(out.data + out.size, section->data, size);
        out.size += size;
    }
    assert_int_equal(out.size, record_length(record));
    return out;
}

static struct bytes small_bytes(void)
{
    const struct record record = small_record();
    return encoded(&record, "run/x/weights/1", "x");
}

static enum error_code decode(const struct bytes *bytes, struct record_view *view,
                              struct error *err)
{
    return record_decode(bytes->data, bytes->size, "run/x/weights/1", "x", view, err);
}

/* Computes the hashes again after a header was changed, so that they match. */
static void rehash(struct bytes *bytes)
{
    const struct checksum sum = checksum_of(bytes->data + 128, bytes->size - 128);
    memcpy(bytes->data + 64, sum.bytes, sizeof sum.bytes);
    const uint64_t header = checksum_64(bytes->data, 120);
    memcpy(bytes->data + 120, &header, sizeof header);
}

static void put_u32(struct bytes *bytes, size_t at, uint32_t value)
{
    memcpy(bytes->data + at, &value, sizeof value);
    rehash(bytes);
}

static void a_record_reads_back_as_it_was_made(void **state)
{
    (void)state;
    struct error err = {0};
    struct record_view view;
    const void *data = NULL;
    uint64_t found = 0;
    char text[8];
    record_environment_set("x86-64-v4 openblas-0.3.21");
    const struct bytes bytes = small_bytes();
    record_environment_set("");
    assert_ok(decode(&bytes, &view, &err), &err);
    assert_int_equal(view.kind, RECORD_WEIGHTS);
    assert_int_equal(view.version, 3);
    assert_int_equal(view.section_count, 4);
    assert_string_equal(view.environment, "x86-64-v4 openblas-0.3.21");
    assert_string_equal(view.key, "run/x/weights/1");
    assert_ok(record_expect(&view, RECORD_WEIGHTS, 3, &err), &err);
    assert_ok(record_section_get(&view, "number", ELEMENT_U32, 3, &data, NULL, &err), &err);
    assert_memory_equal(data, numbers, sizeof numbers);
    assert_int_equal((uintptr_t)data % 64, 0);
    assert_ok(record_section_get(&view, "nothing", ELEMENT_F32, -1, &data, &found, &err), &err);
    assert_int_equal(found, 0);
    assert_ok(record_section_get(&view, "half", ELEMENT_F64, -1, &data, &found, &err), &err);
    assert_int_equal(found, 1);
    assert_memory_equal(data, halves, sizeof halves);
    assert_ok(record_text_get(&view, "text", text, sizeof text, &err), &err);
    assert_string_equal(text, "hello");
    assert_true(record_has(&view, "half"));
    assert_false(record_has(&view, "hal"));
}

static void the_bytes_are_those_of_the_drawing(void **state)
{
    (void)state;
    const struct bytes bytes = small_bytes();
    const struct checksum owner = checksum_of("x", 1), key = checksum_of("run/x/weights/1", 15);
    assert_memory_equal(bytes.data, "GRPHMILL", 8);
    assert_memory_equal(bytes.data + 8, "\x0f\0\0\0\x03\0\0\0", 8);
    assert_memory_equal(bytes.data + 24, "\x04\0\0\0\0\0\0\0", 8);
    assert_memory_equal(bytes.data + 32, owner.bytes, 16);
    assert_memory_equal(bytes.data + 48, key.bytes, 16);
    assert_memory_equal(bytes.data + 128, "number\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x03", 25);
    /* the first section is at 128 + 4 * 32 = 256; "half" after the empty one at 320; "text" at
     * 384 */
    assert_memory_equal(bytes.data + 256, numbers, sizeof numbers);
    assert_memory_equal(bytes.data + 320, halves, sizeof halves);
    assert_memory_equal(bytes.data + 384, "hello", 5);
    assert_int_equal(bytes.size, 389);
}

static void every_flipped_bit_is_found_and_its_place_named(void **state)
{
    (void)state;
    const struct bytes good = small_bytes();
    for (size_t bit = 0; bit < 8 * good.size; bit++) {
        struct bytes bad = good;
        struct record_view view;
        struct error err = {0};
        bad.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_fails(decode(&bad, &view, &err), ERROR_CORRUPT, "run/x/weights/1: offset ", &err);
        assert_non_null(strstr(err.message, "expected"));
        assert_non_null(strstr(err.message, "found"));
        const char *place = bit / 8 < 8                    ? "offset 0:"
                            : bit / 8 < RECORD_HEADER_SIZE ? "offset 120:"
                                                           : "offset 64: content hash";
        assert_non_null(strstr(err.message, place));
    }
}

static void a_record_cut_short_or_grown_is_found_at_every_length(void **state)
{
    (void)state;
    struct bytes bytes = small_bytes();
    const size_t whole = bytes.size;
    for (size_t size = 0; size <= whole + 64; size++) {
        struct record_view view;
        struct error err = {0};
        char place[32];
        bytes.size = size;
        if (size == whole)
            continue;
        (void)snprintf(place, sizeof place, "expected %zu", whole);
        assert_fails(decode(&bytes, &view, &err), ERROR_CORRUPT, "run/x/weights/1: offset ", &err);
        assert_non_null(strstr(err.message, size < 128 ? "expected a header" : place));
    }
}

/* Tests that messages name the hash of the sound record as expected, and that of the damaged one as
 * found. */
static void damage_is_told_as_found(void **state)
{
    (void)state;
    struct record_view view;
    struct error err = {0};
    char text[128], sum[CHECKSUM_TEXT_SIZE];
    const struct bytes good = small_bytes();
    struct bytes bad = good;
    assert_ok(decode(&good, &view, &err), &err);
    checksum_text(&view.content, sum);
    bad.data[good.size - 1] ^= 1;
    (void)snprintf(text, sizeof text, "content hash: expected %s, found ", sum);
    assert_fails(decode(&bad, &view, &err), ERROR_CORRUPT, text, &err);
    assert_null(strstr(strstr(err.message, "found"), sum));
    uint64_t header_sum = 0;
    bad = good;
    memcpy(&header_sum, good.data + 120, sizeof header_sum);
    bad.data[12] ^= 1;
    (void)snprintf(text, sizeof text, "header hash: expected %016" PRIx64 ", found ", header_sum);
    assert_fails(decode(&bad, &view, &err), ERROR_CORRUPT, text, &err);
}

static void a_record_under_another_key_or_owner_is_refused(void **state)
{
    (void)state;
    const struct bytes bytes = small_bytes();
    struct record_view view;
    struct error err = {0};
    assert_fails(record_decode(bytes.data, bytes.size, "run/x/weights/2", "x", &view, &err),
                 ERROR_CORRUPT, "record run/x/weights/2: offset 48: hash of the key", &err);
    assert_fails(record_decode(bytes.data, bytes.size, "run/x/weights/1", "y", &view, &err),
                 ERROR_CORRUPT, "offset 32: hash of the owner's id", &err);
    assert_ok(record_decode(bytes.data, bytes.size, "run/x/weights/1", NULL, &view, &err), &err);
}

/* Tests headers that are wrong although all hashes match: written by a faulty program, or by a
 * later version. */
static void a_header_that_lies_with_right_hashes_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *message;
    } lies[] = {
        {8, 0, "offset 8: expected a kind"},
        {8, 999, "offset 8: expected a kind below"},
        {24, 29, "offset 24: expected at most 28 sections, found 29"},
        {24, 24, "offset 24: bytes of header and table"},
        {24, 3, "offset 224: gap: expected 0, found 116"},
        {24, 0, "end of the last section"},
        {28, 1, "offset 28: reserved word: expected 0, found 1"},
        {128, 0, "offset 128: expected a section's name"},
        {140, 7, "offset 128: expected a section's name"},
        {144, 0, "offset 144: section number: expected an element type, found 0"},
        {144, 9, "offset 144: section number: expected an element type, found 9"},
        {144, 4, NULL}, /* three numbers of 8 bytes, the last in the padding, are allowed */
        {148, 1, "offset 148: reserved word"},
        {152, 4, NULL},
        {152, 400, "offset 256: section number: expected 400 elements of 4 bytes"},
        {156, 0x80000000U, "section number: expected"},
        {156, 0x40000000U, "section number: expected"},
        {384, 0x6c6c6548U, NULL}, /* other text */
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct bytes bytes = small_bytes();
        struct record_view view;
        struct error err = {0};
        put_u32(&bytes, lies[i].at, lies[i].value);
        const enum error_code rc = decode(&bytes, &view, &err);
        if (lies[i].message && (rc != ERROR_CORRUPT || !strstr(err.message, lies[i].message)))
            fail_msg("lie %zu: code %d: %s", i, (int)rc, err.message);
        if (!lies[i].message && rc != ERROR_NONE)
            fail_msg("lie %zu: %s", i, err.message);
    }
}

static void a_second_section_of_one_name_is_refused(void **state)
{
    (void)state;
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    struct record_view view;
    struct error err = {0};
    record_add_text(&record, "same", "a");
    record_add_text(&record, "same", "b");
    const struct bytes bytes = encoded(&record, "run/x/weights/1", "x");
    assert_fails(decode(&bytes, &view, &err), ERROR_CORRUPT, "offset 160: a second section same",
                 &err);
}

static void sections_are_asked_for_by_name_type_and_count(void **state)
{
    (void)state;
    const struct bytes bytes = small_bytes();
    struct record_view view;
    struct error err = {0};
    const void *data = NULL;
    char text[8];
    assert_ok(decode(&bytes, &view, &err), &err);
    assert_fails(record_expect(&view, RECORD_GRADIENT, 3, &err), ERROR_CORRUPT,
                 "expected kind gradient, found weights", &err);
    assert_fails(record_expect(&view, RECORD_WEIGHTS, 2, &err), ERROR_CORRUPT,
                 "format version: expected 2, found 3: a newer release wrote it, which reads it",
                 &err);
    assert_fails(record_expect(&view, RECORD_WEIGHTS, 4, &err), ERROR_CORRUPT,
                 "expected 4, found 3: this release does not read it, so make it again in a new "
                 "folder (store/README.md lists",
                 &err);
    assert_fails(record_section_get(&view, "none", ELEMENT_U8, -1, &data, NULL, &err),
                 ERROR_CORRUPT, "record run/x/weights/1: expected a section none", &err);
    assert_fails(record_section_get(&view, "number", ELEMENT_F32, -1, &data, NULL, &err),
                 ERROR_CORRUPT, "section number: expected element type 7, found 3", &err);
    assert_fails(record_section_get(&view, "number", ELEMENT_U32, 4, &data, NULL, &err),
                 ERROR_CORRUPT, "section number: expected 4 elements, found 3", &err);
    assert_null(data);
    assert_fails(record_text_get(&view, "text", text, 5, &err), ERROR_CORRUPT,
                 "at most 4 bytes, found 5", &err);
}

static void text_with_a_nul_is_refused(void **state)
{
    (void)state;
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    struct record_view view;
    struct error err = {0};
    char text[8];
    record_add(&record, "text", ELEMENT_U8, "a\0b", 3);
    const struct bytes bytes = encoded(&record, "run/x/weights/1", "x");
    assert_ok(decode(&bytes, &view, &err), &err);
    assert_fails(record_text_get(&view, "text", text, sizeof text, &err), ERROR_CORRUPT,
                 "with a NUL", &err);
}

static void the_content_hash_leaves_out_key_owner_and_environment(void **state)
{
    (void)state;
    const struct record record = small_record();
    const struct checksum before = record_content_sum(&record);
    uint8_t head[SMALL_SIZE_MAX];
    record_environment_set("elsewhere");
    const struct checksum content = record_encode_head(&record, "other", "other", head);
    record_environment_set("");
    assert_true(checksum_equal(&before, &content));
    const struct bytes bytes = small_bytes();
    const struct checksum whole = checksum_of(bytes.data + 128, bytes.size - 128);
    assert_true(checksum_equal(&before, &whole));
}

static void kinds_and_elements_have_names_and_sizes(void **state)
{
    (void)state;
    for (int i = 1; i < RECORD_KIND_COUNT; i++)
        assert_string_not_equal(record_kind_name((enum record_kind)i), "unknown");
    assert_string_equal(record_kind_name(RECORD_UNKNOWN), "unknown");
    assert_string_equal(record_kind_name(RECORD_KIND_COUNT), "unknown");
    assert_string_equal(record_kind_name(RECORD_MINI_BATCH), "mini_batch");
    assert_int_equal(element_size(ELEMENT_UNKNOWN), 0);
    assert_int_equal(element_size(ELEMENT_U16), 2);
    assert_int_equal(element_size(ELEMENT_F64), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_reads_back_as_it_was_made),
        cmocka_unit_test(the_bytes_are_those_of_the_drawing),
        cmocka_unit_test(every_flipped_bit_is_found_and_its_place_named),
        cmocka_unit_test(a_record_cut_short_or_grown_is_found_at_every_length),
        cmocka_unit_test(damage_is_told_as_found),
        cmocka_unit_test(a_record_under_another_key_or_owner_is_refused),
        cmocka_unit_test(a_header_that_lies_with_right_hashes_is_refused),
        cmocka_unit_test(a_second_section_of_one_name_is_refused),
        cmocka_unit_test(sections_are_asked_for_by_name_type_and_count),
        cmocka_unit_test(text_with_a_nul_is_refused),
        cmocka_unit_test(the_content_hash_leaves_out_key_owner_and_environment),
        cmocka_unit_test(kinds_and_elements_have_names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
