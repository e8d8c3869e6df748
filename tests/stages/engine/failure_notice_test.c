#include "stages/engine/failure_notice.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

static struct failure_notice open_notice(struct temp_store *temp, const char *stage)
{
    struct failure_notice notice;
    const struct key key = key_run("r", "failure");
    assert_ok(failure_notice_open(&notice, temp->store, &key, stage, &temp->err), &temp->err);
    return notice;
}

static struct failure_told read_notice(struct temp_store *temp, const struct failure_notice *notice)
{
    struct failure_told told;
    bool found = false;
    assert_ok(failure_notice_read(notice, &found, &told, &temp->err), &temp->err);
    assert_true(found);
    return told;
}

static void the_others_read_code_stage_unit_and_sentence(void **state)
{
    struct temp_store *temp = *state;
    const struct failure_notice writer = open_notice(temp, "train-step");
    const struct failure_notice reader = open_notice(temp, "infer");
    failure_notice_leave(&writer, ERROR_CORRUPT, "train-step/1/0",
                         "train-step/1/0: no row:\nmend it");
    const struct failure_told told = read_notice(temp, &reader);
    assert_int_equal(told.code, ERROR_INPUT); /* an error with the same exit status */
    assert_string_equal(told.stage, "train-step");
    assert_string_equal(told.unit, "train-step/1/0");
    assert_string_equal(told.sentence, "train-step/1/0: no row: mend it");
}

/* A failure without a unit may have a sentence that begins with the name of a unit. The reader must
 * not take that for the unit that failed. */
static void a_sentence_names_no_unit(void **state)
{
    struct temp_store *temp = *state;
    const struct failure_notice writer = open_notice(temp, "train-step");
    const struct failure_notice reader = open_notice(temp, "infer");
    failure_notice_leave(&writer, ERROR_INVALID, NULL, "train-step/1/0: cannot be");
    struct failure_told told = read_notice(temp, &reader);
    assert_int_equal(told.code, ERROR_INVALID);
    assert_string_equal(told.unit, "");
    assert_string_equal(told.sentence, "train-step/1/0: cannot be");
    /* An earlier release wrote notices in this form. */
    assert_ok(store_switch_set(temp->store, writer.key.text, "65 train-step train-step/1/0: no row",
                               &temp->err),
              &temp->err);
    told = read_notice(temp, &reader);
    assert_string_equal(told.stage, "train-step");
    assert_string_equal(told.unit, "");
    assert_string_equal(told.sentence, "train-step/1/0: no row");
}

static void a_stage_takes_its_own_notice_away(void **state)
{
    struct temp_store *temp = *state;
    struct failure_notice notice = open_notice(temp, "sample");
    failure_notice_leave(&notice, ERROR_INPUT, "sample/1/0", "sample/1/0: no");
    notice = open_notice(temp, "infer"); /* the notice of another stage, which is stale at first */
    struct failure_told told;
    bool found = true;
    assert_ok(failure_notice_read(&notice, &found, &told, &temp->err), &temp->err);
    assert_false(found);
    notice = open_notice(temp, "sample");
    notice.stale[0] = '\0';
    assert_ok(failure_notice_read(&notice, &found, &told, &temp->err), &temp->err);
    assert_false(found);
}

static void a_text_that_is_none_counts_as_none(void **state)
{
    struct temp_store *temp = *state;
    static const char *const others[] = {"",
                                         "65",
                                         "65 ",
                                         "65 train-step",
                                         "65  why",
                                         "65 train-step@",
                                         "65 train-step@unit",
                                         "65 @u why",
                                         "why train-step"};
    const struct failure_notice reader = open_notice(temp, "infer");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct failure_told told;
        bool found = true;
        assert_ok(store_switch_set(temp->store, reader.key.text, others[i], &temp->err),
                  &temp->err);
        assert_ok(failure_notice_read(&reader, &found, &told, &temp->err), &temp->err);
        if (found)
            fail_msg("'%s' was read as stage '%s', unit '%s'", others[i], told.stage, told.unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(the_others_read_code_stage_unit_and_sentence),
        test_with_store(a_sentence_names_no_unit),
        test_with_store(a_stage_takes_its_own_notice_away),
        test_with_store(a_text_that_is_none_counts_as_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
