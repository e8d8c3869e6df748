/* The rows of the input formats, and the settings that use them. */
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/setting_table.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static struct pipeline_settings settings_of(const char *format)
{
    struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.ingest.format = dataset_format_find(format);
    return settings;
}

static bool is_read_by_some_format(const char *setting)
{
    for (const struct dataset_format *format = dataset_formats; format->name; format++)
        if (dataset_format_reads(format, setting))
            return true;
    return false;
}

static void settings_of_formats_are_those_that_some_format_reads(void **state)
{
    (void)state;
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        const bool by_format = spec->part_of & SETTING_OF_FORMAT;
        if (by_format != is_read_by_some_format(spec->name))
            fail_msg("%s: %s", spec->name,
                     by_format ? "no format reads it"
                               : "a row of format_list.h lists it, but its row in setting_table.c "
                                 "does not say DATASET_BY_FORMAT");
        assert_true(!by_format || !spec->only_with); /* setting_matters() checks only one of the
                                                      * two */
    }
}

static void rows_list_settings_that_there_are(void **state)
{
    (void)state;
    for (const struct dataset_format *format = dataset_formats; format->name; format++)
        for (const char *at = format->settings; at && *at; at += strspn(at, " ")) {
            char name[SETTING_NAME_SIZE];
            const size_t size = strcspn(at, " ");
            (void)snprintf(name, sizeof name, "ingest.%.*s", (int)size, at);
            if (!setting_find(name))
                fail_msg("%s lists %s, which is no setting", format->name, name);
            at += size;
        }
}

static void a_setting_matters_with_the_formats_that_read_it(void **state)
{
    static const struct {
        const char *format, *setting;
        bool matters;
    } trials[] = {{"edge_list", "ingest.labels", true}, {"metis", "ingest.labels", true},
                  {"metis", "ingest.id_type", false},   {"graphml", "ingest.label_columns", true},
                  {"graphml", "ingest.labels", false},  {"generated", "ingest.nodes", true},
                  {"folder", "ingest.nodes", false},    {"folder", "ingest.split", true},
                  {"auto", "ingest.split_name", true},  {"auto", "ingest.label_columns", false},
                  {"npz", "ingest.target_type", false}}; /* this one depends on ingest.relations */
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const struct pipeline_settings settings = settings_of(trials[i].format);
        assert_int_equal(setting_matters(setting_find(trials[i].setting), &settings),
                         trials[i].matters);
    }
}

static void auto_may_have_what_any_format_may_have(void **state)
{
    static const unsigned kinds = FORMAT_IS_GENERATED | FORMAT_IS_TABLE | FORMAT_IS_OF_GRAPHS;
    const struct pipeline_settings settings = settings_of("auto");
    unsigned all = 0;
    (void)state;
    for (const struct dataset_format *format = dataset_formats; format->name; format++)
        all |= format->traits;
    assert_int_equal(dataset_format_of(&settings)->traits, all & ~kinds);
}

static void formats_are_known_by_signs_of_their_own(void **state)
{
    (void)state;
    for (const struct dataset_format *a = dataset_formats; a->name; a++)
        for (const struct dataset_format *b = a + 1; b->name; b++) {
            assert_string_not_equal(a->name, b->name);
            if (a->sign && b->sign)
                assert_string_not_equal(a->sign, b->sign);
            for (int i = 0; a->endings[i]; i++)
                for (int j = 0; b->endings[j]; j++)
                    assert_string_not_equal(a->endings[i], b->endings[j]);
        }
}

static void messages_and_help_list_formats_in_the_order_of_the_rows(void **state)
{
    char text[256];
    (void)state;
    dataset_format_list(FORMAT_HAS_NODE_FILES, " and ", text, sizeof text);
    assert_string_equal(text, "edge_list, matrix_market and metis");
    dataset_format_list(FORMAT_IS_TABLE, " and ", text, sizeof text);
    assert_string_equal(text, "edge_list");
    dataset_format_readers("ingest.split_name", text, sizeof text);
    assert_string_equal(text, "ogb,npz,graphbolt,auto");
    dataset_format_readers("ingest.label_columns", text, sizeof text);
    assert_string_equal(text, "edge_list,matrix_market,metis,graphml");
    const struct setting_spec *spec = setting_find("ingest.format");
    for (int64_t i = 0; spec->choices[i]; i++) {
        assert_string_equal(spec->choices[i], dataset_formats[i].name);
        assert_non_null(spec->choice_texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_of_formats_are_those_that_some_format_reads),
        cmocka_unit_test(rows_list_settings_that_there_are),
        cmocka_unit_test(a_setting_matters_with_the_formats_that_read_it),
        cmocka_unit_test(auto_may_have_what_any_format_may_have),
        cmocka_unit_test(formats_are_known_by_signs_of_their_own),
        cmocka_unit_test(messages_and_help_list_formats_in_the_order_of_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
