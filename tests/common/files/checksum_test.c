#include "common/base/memory.h"
#include "common/files/checksum.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

/* XXH3-128 of no bytes, from its specification. */
static const char empty_text[] = "99aa06d3014798d86001c324468d497f";

static void the_hash_is_xxh3_in_its_canonical_order(void **state)
{
    char text[CHECKSUM_TEXT_SIZE];
    struct checksum back;
    const struct checksum sum = checksum_of("", 0);
    (void)state;
    checksum_text(&sum, text);
    assert_string_equal(text, empty_text);
    assert_true(checksum_parse(text, &back));
    assert_true(checksum_equal(&sum, &back));
    assert_true(checksum_64("", 0) == 0x2d06800538d394c2U);
}

static void text_that_is_no_hash_is_refused(void **state)
{
    static const char *const bad[] = {
        "", "99aa06d3014798d86001c324468d497", "99aa06d3014798d86001c324468d497f0",
        "99AA06d3014798d86001c324468d497f", "99aa06d3014798d86001c324468d497g"};
    struct checksum sum;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(checksum_parse(bad[i], &sum));
}

static void pieces_give_the_hash_of_the_whole(void **state)
{
    static unsigned char data[5000];
    struct error err = {0};
    struct checksum_stream *stream = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 31);
    const struct checksum whole = checksum_of(data, sizeof data);
    assert_ok(checksum_stream_new(&stream, &err), &err);
    for (size_t step = 1; step < 2000; step = step * 3 + 1) {
        checksum_stream_reset(stream);
        for (size_t at = 0; at < sizeof data; at += step)
            checksum_stream_add(stream, data + at,
                                at + step < sizeof data ? step : sizeof data - at);
        const struct checksum pieces = checksum_stream_sum(stream);
        assert_true(checksum_equal(&pieces, &whole));
    }
    checksum_stream_free(stream);
    checksum_stream_free(NULL);
    data[4999] ^= 1;
    const struct checksum changed = checksum_of(data, sizeof data);
    assert_false(checksum_equal(&changed, &whole));
    assert_fails(checksum_mismatch(&whole, &changed, &err), ERROR_CORRUPT, "expected hash ", &err);
}

static void a_file_has_the_hash_of_its_bytes(void **state)
{
    struct temp_dir dir;
    struct error err = {0};
    struct checksum sum;
    uint64_t size = 0;
    (void)state;
    temp_dir_make(&dir);
    const struct checksum expected = checksum_of("some bytes", 10);
    assert_ok(checksum_of_file(temp_dir_write(&dir, "f", "some bytes", 10), &sum, &size, &err),
              &err);
    assert_true(checksum_equal(&sum, &expected));
    assert_int_equal(size, 10);
    assert_fails(checksum_of_file("/nowhere/f", &sum, NULL, &err), ERROR_NOT_FOUND, "/nowhere/f",
                 &err);
    assert_fails(checksum_of_file(dir.path, &sum, NULL, &err), ERROR_INPUT, "is a folder", &err);
    temp_dir_remove(&dir);
}

static void parts_are_hashed_as_one(void **state)
{
    (void)state;
    static uint8_t data[5000];
    static const size_t cut[][4] = {
        {0, 0, 0, 5000}, {1, 2, 3, 4}, {63, 1, 1000, 256}, {0, 3000, 0, 2000}};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i % 251);
    const long before = memory_allocation_count();
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        struct checksum_part part[4];
        size_t size = 0;
        for (int k = 0; k < 4; size += cut[i][k++])
            part[k] = (struct checksum_part){data + size, cut[i][k]};
        const struct checksum parts = checksum_of_parts(part, 4), whole = checksum_of(data, size);
        assert_true(checksum_equal(&parts, &whole));
    }
    const struct checksum nothing = checksum_of_parts(NULL, 0), empty = checksum_of(data, 0);
    assert_true(checksum_equal(&nothing, &empty));
    assert_int_equal(memory_allocation_count(), before);
}

static void a_seed_makes_another_hash_of_the_same_bytes(void **state)
{
    (void)state;
    char data[1000] = {1, 2, 3};
    for (size_t size = 0; size <= sizeof data; size += 100) {
        const struct checksum first = checksum_seeded(data, size, 1),
                              again = checksum_seeded(data, size, 1),
                              second = checksum_seeded(data, size, 2),
                              plain = checksum_of(data, size),
                              none = checksum_seeded(data, size, 0);
        assert_true(checksum_equal(&first, &again));
        assert_false(checksum_equal(&first, &second));
        assert_false(checksum_equal(&first, &plain));
        assert_true(checksum_equal(&plain, &none));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_makes_another_hash_of_the_same_bytes),
        cmocka_unit_test(parts_are_hashed_as_one),
        cmocka_unit_test(the_hash_is_xxh3_in_its_canonical_order),
        cmocka_unit_test(text_that_is_no_hash_is_refused),
        cmocka_unit_test(pieces_give_the_hash_of_the_whole),
        cmocka_unit_test(a_file_has_the_hash_of_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
