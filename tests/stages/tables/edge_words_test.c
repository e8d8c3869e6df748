/* The words for columns of edges: those of ingest.edge_label and of ingest.edge_columns. */
#include "stages/tables/edge_words.h"

#include "tests/support/test.h"

#include <string.h>

static void a_few_words_mean_the_column_as_the_label_too(void **state)
{
    static const struct {
        const char *name;
        enum edge_column column;
    } words[] = {
        {"weight", EDGE_WEIGHT},  {"W", EDGE_WEIGHT},         {"rating", EDGE_WEIGHT},
        {"value", EDGE_WEIGHT},   {"score", EDGE_LABEL},      {"edge type", EDGE_TYPE},
        {"relation", EDGE_TYPE},  {"rel", EDGE_LABEL},        {"relation_id", EDGE_LABEL},
        {"time", EDGE_TIME},      {"t", EDGE_TIME},           {"unixts", EDGE_TIME},
        {"ts", EDGE_LABEL},       {"edge_id", EDGE_ID},       {"eid", EDGE_ID},
        {"edge", EDGE_LABEL},     {"msg", EDGE_FEATURE},      {"edge feature", EDGE_FEATURE},
        {"is_fraud", EDGE_LABEL}, {"edge label", EDGE_LABEL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct field name = {words[i].name, strlen(words[i].name)};
        if (edge_word_label(&name) != words[i].column)
            fail_msg("%s means column %d", words[i].name, (int)edge_word_label(&name));
    }
}

static void the_word_of_a_column_names_it(void **state)
{
    static const enum edge_column columns[] = {EDGE_WEIGHT, EDGE_TYPE, EDGE_TIME, EDGE_ID,
                                               EDGE_FEATURE};
    (void)state;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *word = edge_word_for(columns[i]);
        const struct field name = {word, strlen(word)};
        assert_int_equal(edge_word_of(&name).role, EDGE_ROLE_COLUMN);
        assert_int_equal(edge_word_of(&name).column, columns[i]);
    }
    assert_null(edge_word_for(EDGE_LABEL));
    assert_null(edge_word_for(EDGE_TIME_F64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_words_mean_the_column_as_the_label_too),
        cmocka_unit_test(the_word_of_a_column_names_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
