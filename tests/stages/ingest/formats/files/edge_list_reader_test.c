#include "stages/ingest/formats/files/edge_list_reader.h"

#include "tests/stages/ingest/formats/recording_builder.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

static enum error_code run(const char *text, enum id_type type, uint64_t memory, struct error *err)
{
    const struct edge_list_input input = {.name = "g.tsv", .data = text, .size = strlen(text)};
    return edge_list_reader_run(&input, type, memory, recording_start(), err);
}

/* Returns the edges as "source>target source>target". */
static const char *edges(void)
{
    static char out[512];
    size_t at = 0;
    out[0] = '\0';
    for (uint64_t i = 0; i < recorded.edge_count; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%lld>%lld", i ? " " : "",
                               (long long)recorded.source[i], (long long)recorded.target[i]);
    return out;
}

static void numbers_integers_in_ascending_order(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("9223372036854775807\t-5\n-5 \t 7\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_string_equal(edges(), "2>0 0>1");
    assert_int_equal(recorded.node_count, 3);
    assert_true(recorded.ids.integer[0] == -5 && recorded.ids.integer[1] == 7 &&
                recorded.ids.integer[2] == INT64_MAX);
}

static void keeps_ids_that_are_numbers_from_zero(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("2,0\n1,2\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_string_equal(edges(), "2>0 1>2");
    assert_null(recorded.ids.integer);
    assert_null(recorded.ids.offset);
}

static void numbers_strings_by_first_appearance(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("zoe,\"a, b\"\n7,zoe\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_string_equal(edges(), "0>1 2>0");
    assert_int_equal(recorded.ids.node_count, 3);
    assert_memory_equal(recorded.ids.text, "zoea, b7", 8);
    assert_int_equal(recorded.ids.offset[1], 3);
    assert_ok(run("10 2\n2 3\n", ID_TYPE_STRING, 0, &err), &err);
    assert_string_equal(edges(), "0>1 1>2");
}

static void takes_two_quotes_in_quotes_as_one(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("\"a \"\"b\"\"\",\"\"\"c\"\n\"\"\"c\",d\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_string_equal(edges(), "0>1 1>2");
    assert_int_equal(recorded.ids.node_count, 3);
    assert_memory_equal(recorded.ids.text, "a \"b\"\"cd", 8);
}

static void skips_comments_and_names_lines_behind_them(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("# Undirected graph: x.txt\n% y\n0 1\n\n1 2\n2 0\n", ID_TYPE_AUTO, 0, &err),
              &err);
    assert_int_equal(recorded.line[0], 3);
    assert_int_equal(recorded.line[1], 5);
    assert_int_equal(recorded.line[2], 6);
    assert_true(recorded.input_undirected);
    assert_ok(run("# Directed graph\n0 1\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_false(recorded.input_undirected);
}

static void takes_columns_by_their_names(void **state)
{
    (void)state;
    struct error err = {0};
    assert_ok(run("time,target,note,source,weight\n15,0,x,1,-2\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_string_equal(edges(), "1>0");
    assert_true(recorded.width.of[EDGE_TIME] && recorded_time_of(0) == 15);
    assert_true(recorded.width.of[EDGE_WEIGHT] && recorded_weight()[0] < -1.9F &&
                recorded_weight()[0] > -2.1F);
    assert_int_equal(recorded.line[0], 2);
    assert_ok(run("who,whom\n4,5\n5,4\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_string_equal(edges(), "0>1 1>0");
}

static void asks_what_columns_without_a_name_are(void **state)
{
    (void)state;
    struct error err = {0};
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"6,2,4,1289241911\n6,5,-10,1289241941\n", "target: 2; etype: 3"},
        {"6,2,x\n6,5,x\n", "`edge_columns: \"source: 1; target: 2; etype: 3\"`"},
        {"a r b\nb r c\nc r a\n", "`edge_columns: \"source: 1; target: 3; etype: 2\"`"},
        {"2019-01-01 a b\n2019-01-02 b c\n", "source: 2; target: 3; time: 1"},
        {"0 a b\n1 b c\n2 c a\n", "source: 2; target: 3"},
        {"when,what,who,whom\n1,x,4,5\n1,y,5,4\n", "several columns can be source and target"},
        {"alpha,beta\na,b\nb,c\nc,d\nd,a\n", "may be a header or an edge"},
        {"userId,movieId\n1,2\n2,3\n", "source: user:userId; target: movie:movieId"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(run(cases[i].text, ID_TYPE_AUTO, 0, &err), ERROR_INPUT, cases[i].message,
                     &err);
    assert_ok(run("6,2,0.5\n6,5,-10\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_true(recorded.width.of[EDGE_WEIGHT] && recorded_weight()[1] < -9.9F);
    assert_ok(run("6,2,1289241911\n6,5,1289241941\n", ID_TYPE_AUTO, 0, &err), &err);
    assert_false(recorded.width.of[EDGE_WEIGHT] || recorded.width.of[EDGE_TIME]);
}

/* Returns the ends of line `i`: small ones, then some that take more than 4 bytes, and some below
 * 0. */
static void ends_of(int64_t i, int64_t *source, int64_t *target)
{
    enum { WIDE_FROM = 200000 };
    const int64_t wide = i < WIDE_FROM ? 0 : (int64_t)1 << 40;
    *source = i * 7919 % 1009 + (i % 3 ? 0 : wide);
    *target = i % 1999 == 1998 ? -(i % 11) : i * 104729 % 2003;
}

/* The table is larger than the memory of the spool. Lines of digits only give the same edges as
 * lines that write them in other ways. */
static void finds_every_edge_of_a_long_table_again(void **state)
{
    (void)state;
    enum { LINES = 400000, LINE_MAX = 64 };
    static const char *const form[][3] = {{"", ",", "\n"},
                                          {"", ",", "\r\n"},
                                          {" ", " ,\t", " \n"},
                                          {"\"", "\",\"", "\"\n"},
                                          {"", ",", "  \n"}};
    struct error err = {0};
    int64_t source = 0, target = 0;
    char *text = malloc((size_t)LINES * LINE_MAX);
    size_t at = 0;
    assert_non_null(text);
    for (int64_t i = 0; i < LINES; i++) {
        ends_of(i, &source, &target);
        const char *const *word = form[i % 97 < 5 ? i % 97 : 0];
        at += (size_t)snprintf(text + at, LINE_MAX, "%s%lld%s%lld%s", word[0], (long long)source,
                               word[1], (long long)target, word[2]);
    }
    assert_ok(run(text, ID_TYPE_AUTO, 0, &err), &err);
    free(text);
    assert_int_equal(recorded.edge_count, LINES);
    for (int64_t i = 0; i < LINES; i++) {
        ends_of(i, &source, &target);
        if (recorded.ids.integer[recorded.source[i]] != source ||
            recorded.ids.integer[recorded.target[i]] != target || recorded.line[i] != i + 1)
            fail_msg("line %lld", (long long)i + 1);
    }
}

static void names_file_line_expected_and_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        enum id_type type;
    } cases[] = {
        {"0 1\n0\n", "g.tsv:2: expected 2 columns, found 1; blanks separate", ID_TYPE_AUTO},
        {"0 1\n0 1 2\n", "g.tsv:2: expected 2 columns, found 3; blanks separate", ID_TYPE_AUTO},
        {"0 1\nx 1\n", "g.tsv:2: source: expected a 64-bit integer, found 'x'", ID_TYPE_INTEGER},
        {"0 1\n1 99999999999999999999\n",
         "g.tsv:2: target: expected a 64-bit integer, found '99999999999999999999'",
         ID_TYPE_INTEGER},
        {"# nothing\n", "g.tsv: expected edges, found none", ID_TYPE_AUTO},
        {"src,dst\n", "g.tsv: expected edges, found none", ID_TYPE_AUTO},
        {"", "g.tsv: expected edges, found none", ID_TYPE_AUTO},
        {"0\n", "g.tsv:1: expected 2 columns or more", ID_TYPE_AUTO},
        {"a,\n", "g.tsv:1: target: expected a node id, found nothing", ID_TYPE_AUTO},
        {"src,dst,weight\n0,1,nan\n", "g.tsv:2: weight: expected a finite number, found 'nan'",
         ID_TYPE_AUTO},
        {"src,dst,weight\n0,1,1e39\n", "g.tsv:2: weight: expected a number that fits",
         ID_TYPE_AUTO},
        {"src,dst,time\n0,1,inf\n",
         "g.tsv:2: time: expected an integer, or a date of ISO 8601 like 2019-01-31T12:30:00Z, "
         "found 'inf'",
         ID_TYPE_AUTO},
        {"%%MatrixMarket matrix\n1 2\n", "found a Matrix Market file", ID_TYPE_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        assert_fails(run(cases[i].text, cases[i].type, 0, &err), ERROR_INPUT, cases[i].message,
                     &err);
    }
}

static void says_which_lines_made_ids_integers(void **state)
{
    (void)state;
    struct error err = {0};
    static char text[16384];
    size_t at = 0;
    for (int i = 0; i < 1100; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d %d\n", i, i + 1);
    (void)snprintf(text + at, sizeof text - at, "1 bob\n");
    assert_fails(run(text, ID_TYPE_AUTO, 0, &err), ERROR_INPUT,
                 "g.tsv:1101: target: expected a 64-bit integer, found 'bob'; lines 1 to 1000 have "
                 "integer ids: mend the line or set ingest.id_type to string",
                 &err);
    assert_ok(run(text, ID_TYPE_STRING, 0, &err), &err);
    assert_int_equal(recorded.edge_count, 1101);
}

static void refuses_more_ids_than_the_budget_holds(void **state)
{
    (void)state;
    struct error err = {0};
    static char text[65536];
    size_t at = 0;
    for (int i = 0; i < 4000; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%d %d\n", i, i + 1);
    assert_fails(run(text, ID_TYPE_AUTO, 65536, &err), ERROR_NO_MEMORY, "distinct node ids", &err);
    assert_non_null(strstr(err.message, "g.tsv:"));
    assert_non_null(strstr(err.message, "--memory"));
    assert_ok(run(text, ID_TYPE_AUTO, 1 << 20, &err), &err);
}

static void gives_everything_back_when_memory_fails(void **state)
{
    (void)state;
    struct error err = {0};
    const long before = memory_live_blocks();
    for (long n = 0;; n++) {
        memory_fail_after(n);
        const enum error_code rc =
            run("source,target,etype,w\na,b,x,1\nb,c,y,2\n", ID_TYPE_AUTO, 0, &err);
        memory_fail_after(-1);
        assert_int_equal(memory_live_blocks(), before);
        if (rc == ERROR_NONE)
            break;
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_true(n < 200);
    }
}

/* Compares the width of the edge features for each choice, with and without a header. */
static void leaves_edge_features_out(void **state)
{
    (void)state;
    static const char named[] = "src,dst,weight,feat_0,price\n1,2,0.5,3,4\n2,3,0.25,5,6\n";
    static const char plain[] = "1 2 0.5 3.5 4.5\n2 3 0.25 5 6\n";
    static const struct {
        enum edge_feature_choice choice;
        uint32_t named, plain;
    } cases[] = {
        {EDGE_FEATURES_AUTO, 2, 2}, {EDGE_FEATURES_NAMED, 1, 0}, {EDGE_FEATURES_NONE, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        struct edge_list_input input = {.name = "g.tsv",
                                        .data = named,
                                        .size = sizeof named - 1,
                                        .edge_features = cases[i].choice};
        assert_ok(edge_list_reader_run(&input, ID_TYPE_AUTO, 0, recording_start(), &err), &err);
        assert_int_equal(recorded.width.of[EDGE_FEATURE], cases[i].named);
        assert_true(recorded_weight()[0] == 0.5F && recorded_weight()[1] == 0.25F);
        const float *value = (const float *)(const void *)recorded.column[EDGE_FEATURE];
        assert_true(cases[i].named == 0 || value[0] == 3);
        input.data = plain;
        input.size = sizeof plain - 1;
        assert_ok(edge_list_reader_run(&input, ID_TYPE_AUTO, 0, recording_start(), &err), &err);
        assert_int_equal(recorded.width.of[EDGE_FEATURE], cases[i].plain);
        assert_true(recorded_weight()[1] == 0.25F);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_integers_in_ascending_order),
        cmocka_unit_test(keeps_ids_that_are_numbers_from_zero),
        cmocka_unit_test(numbers_strings_by_first_appearance),
        cmocka_unit_test(takes_two_quotes_in_quotes_as_one),
        cmocka_unit_test(skips_comments_and_names_lines_behind_them),
        cmocka_unit_test(takes_columns_by_their_names),
        cmocka_unit_test(asks_what_columns_without_a_name_are),
        cmocka_unit_test(finds_every_edge_of_a_long_table_again),
        cmocka_unit_test(names_file_line_expected_and_found),
        cmocka_unit_test(says_which_lines_made_ids_integers),
        cmocka_unit_test(refuses_more_ids_than_the_budget_holds),
        cmocka_unit_test(gives_everything_back_when_memory_fails),
        cmocka_unit_test(leaves_edge_features_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
