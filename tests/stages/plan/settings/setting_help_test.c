#include "stages/plan/settings/setting_table.h"

#include "tests/support/test.h"

static void a_section_has_the_settings_of_its_prefix(void **state)
{
    (void)state;
    const struct setting_spec fanouts = {.name = "sample.fanouts"}, seed = {.name = "seed"};
    assert_true(setting_in_section(&fanouts, "sample"));
    assert_false(setting_in_section(&fanouts, "samp"));
    assert_false(setting_in_section(&fanouts, "sample.f"));
    assert_false(setting_in_section(&fanouts, ""));
    assert_true(setting_in_section(&seed, ""));
    assert_false(setting_in_section(&seed, "seed"));
}

static void a_setting_belongs_to_the_values_that_it_names(void **state)
{
    (void)state;
    const struct setting_spec heads = {.name = "heads", .only_with = "kind=gat,gatv2,hgt"};
    assert_true(setting_belongs_to(&heads, "kind", "gat"));
    assert_true(setting_belongs_to(&heads, "kind", "gatv2"));
    assert_true(setting_belongs_to(&heads, "kind", "hgt"));
    assert_false(setting_belongs_to(&heads, "kind", "ga"));
    assert_false(setting_belongs_to(&heads, "kind", "v2"));
    assert_false(setting_belongs_to(&heads, "kind", ""));
    assert_false(setting_belongs_to(&heads, "kin", "gat"));
    assert_false(setting_belongs_to(&heads, "kinds", "gat"));
    const struct setting_spec always = {.name = "hidden"};
    assert_false(setting_belongs_to(&always, "kind", "gat"));
}

/* Each choice that a person may write has a text, and texts and choices have the same number. */
static void choices_with_texts_have_one_each(void **state)
{
    (void)state;
    int tables = 0;
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        int missing = 0;
        for (int i = 0; spec->choice_texts && spec->choices[i]; i++)
            missing += !spec->choice_texts[i];
        /* `none` of the decoder is the only choice without a text. */
        assert_true(missing == 0 || (missing == 1 && !spec->choice_texts[0]));
        tables += spec->choice_texts != NULL;
    }
    assert_true(tables >= 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_has_the_settings_of_its_prefix),
        cmocka_unit_test(a_setting_belongs_to_the_values_that_it_names),
        cmocka_unit_test(choices_with_texts_have_one_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
