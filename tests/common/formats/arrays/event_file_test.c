#include "common/formats/arrays/event_file.h"

#include "tests/support/test.h"

#include <string.h>

static void crc_is_that_of_castagnoli(void **state)
{
    static const uint8_t zeros[32];
    (void)state;
    assert_int_equal(event_file_crc("123456789", 9), 0xE3069283U);
    assert_int_equal(event_file_crc(zeros, sizeof zeros), 0x8A9136AAU); /* RFC 3720, B.4 */
    assert_int_equal(event_file_crc("", 0), 0);
}

static uint64_t little(const uint8_t *at, int count)
{
    uint64_t value = 0;
    for (int i = count; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static void a_record_has_its_length_and_both_sums(void **state)
{
    struct event_file file = {0};
    struct error err = {0};
    size_t at = 0, records = 0;
    (void)state;
    assert_ok(event_file_add(&file, "round/loss", 300, 0.5F, &err), &err);
    assert_ok(event_file_add(&file, "round/loss", 301, 0.25F, &err), &err);
    for (; at < file.size; records++) {
        const uint64_t size = little(file.bytes + at, 8);
        assert_int_equal(little(file.bytes + at + 8, 4),
                         event_file_mask(event_file_crc(file.bytes + at, 8)));
        assert_true(at + 16 + size <= file.size);
        assert_int_equal(little(file.bytes + at + 12 + size, 4),
                         event_file_mask(event_file_crc(file.bytes + at + 12, size)));
        at += 16 + size;
    }
    assert_int_equal(records, 3); /* the version of the file, and two scalars */
    assert_int_equal(at, file.size);
    event_file_release(&file);
}

static void a_scalar_is_encoded_as_the_messages_say(void **state)
{
    static const uint8_t expected[] = {
        0x09, 0,    0,    0, 0,    0, 0xC0, 0x72, 0x40, /* wall_time 300.0 */
        0x10, 0xAC, 0x02,                               /* step 300 */
        0x2A, 10,   0x0A, 8, 0x0A, 1, 'a',  0x15, 0,    0, 0, 0x3F};
    struct event_file file = {0};
    struct error err = {0};
    (void)state;
    assert_ok(event_file_add(&file, "a", 300, 0.5F, &err), &err);
    assert_true(file.size > sizeof expected + 4);
    assert_memory_equal(file.bytes + file.size - sizeof expected - 4, expected, sizeof expected);
    event_file_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_that_of_castagnoli),
        cmocka_unit_test(a_record_has_its_length_and_both_sums),
        cmocka_unit_test(a_scalar_is_encoded_as_the_messages_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
