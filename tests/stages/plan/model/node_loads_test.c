/* The table of node loads: it reads back as written, with any ids, and a message names what does
 * not fit. */
#include "common/base/memory.h"
#include "common/files/file.h"
#include "stages/plan/model/node_loads.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

static const uint64_t offset[] = {0, 5, 8, 15};
static const struct node_ids words = {
    .node_count = 3, .offset = offset, .text = "alicebobc, d\n#e"};
static const struct node_ids numbers = {.node_count = 3};

static char path[FILE_PATH_SIZE + 16];

static int set_up(void **state)
{
    const int failed = temp_dir_setup(state);
    (void)snprintf(path, sizeof path, "%s/loads.csv", ((struct temp_dir *)*state)->path);
    return failed;
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_loads loads = {0}, again = {0};
    const struct node_ids *ids[] = {&words, &numbers};
    static const char text[] =
        "node,reads,remote,edges\nalice,4294967295,3,40\nbob,0,0,0\n\"c, d\n#e\",2,1,9\n";
    for (int i = 0; i < 2; i++) {
        char *found = NULL;
        size_t size = 0;
        assert_ok(node_loads_init(&loads, 3, &err), &err);
        loads.reads[0] = UINT32_MAX, loads.remote[0] = 3, loads.edges[0] = 40;
        loads.reads[2] = 2, loads.remote[2] = 1, loads.edges[2] = 9;
        assert_ok(node_loads_write(path, &loads, ids[i], &err), &err);
        assert_ok(file_read(path, 0, &found, &size, &err), &err);
        if (i == 0) {
            assert_int_equal(size, sizeof text - 1);
            assert_memory_equal(found, text, size);
        }
        memory_free(found);
        assert_ok(node_loads_read(path, 3, ids[i], &again, &err), &err);
        assert_memory_equal(again.reads, loads.reads, 3 * sizeof *loads.reads);
        assert_memory_equal(again.remote, loads.remote, 3 * sizeof *loads.remote);
        assert_memory_equal(again.edges, loads.edges, 3 * sizeof *loads.edges);
        node_loads_release(&again);
        node_loads_release(&loads);
    }
}

static void times_are_a_column_more(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_loads loads = {0}, again = {0};
    static const char text[] = "node,reads,remote,edges,nanoseconds\n0,1,0,0,0\n"
                               "1,0,0,0,9223372036854775807\n2,0,0,0,5\n";
    char *found = NULL;
    size_t size = 0;
    assert_ok(node_loads_init(&loads, 3, &err), &err);
    assert_ok(node_loads_add_times(&loads, &err), &err);
    loads.reads[0] = 1;
    loads.nanoseconds[1] = INT64_MAX, loads.nanoseconds[2] = 5;
    assert_ok(node_loads_write(path, &loads, &numbers, &err), &err);
    assert_ok(file_read(path, 0, &found, &size, &err), &err);
    assert_string_equal(found, text);
    memory_free(found);
    assert_ok(node_loads_read(path, 3, &numbers, &again, &err), &err);
    assert_memory_equal(again.nanoseconds, loads.nanoseconds, 3 * sizeof *loads.nanoseconds);
    node_loads_release(&again);
    node_loads_release(&loads);
}

static void refuse(const char *text, const char *why)
{
    struct error err = {0};
    struct node_loads loads = {0};
    assert_ok(file_replace(path, text, strlen(text), false, &err), &err);
    assert_fails(node_loads_read(path, 3, &words, &loads, &err), ERROR_INPUT, why, &err);
    node_loads_release(&loads);
}

static void what_does_not_fit_is_named_with_its_line(void **state)
{
    (void)state;
#define TIMED "node,reads,remote,edges,nanoseconds\n"
#define HEAD  "node,reads,remote,edges\n"
#define REST  "bob,1,1,1\n\"c, d\n#e\",1,1,1\n"
    refuse("", "loads.csv: expected a first line 'node,reads,remote,edges', found nothing");
    refuse("node,reads\n", "loads.csv:1: expected 'node,reads,remote,edges' or "
                           "'node,reads,remote,edges,nanoseconds', found 'node,reads'");
    refuse("node,reads,remote,edges,seconds\n", "found 'node,reads,remote,edges,seconds'");
    refuse(HEAD "carol,1,1,1\n" REST,
           "loads.csv:2: expected node 'alice', number 0 of the dataset, found 'carol': "
           "these are the loads of another graph");
    refuse(HEAD "alice,1,1,1\nbo,1,1,1\n",
           "loads.csv:3: expected node 'bob', number 1 of the dataset, found 'bo'");
    refuse(HEAD "alice,1,1,1\nbob,1,1,1\n\"c, e\n\",1,1,1\n",
           "loads.csv:4: expected node '\"c, d', number 2 of the dataset, found '\"c'");
    refuse(TIMED "alice,1,1,1\n", "loads.csv:2: expected 5 fields, found 4");
    refuse(TIMED "alice,1,1,1,-1\n",
           "loads.csv:2: expected as nanoseconds a whole number from 0 to 9223372036854775807, "
           "found '-1'");
    refuse(TIMED "alice,1,1,1,0\nbob,1,1,1,0\n\"c, d\n#e\",1,1,1,0\n",
           "loads.csv: expected nodes that took time, found none");
    refuse(HEAD "alice\n" REST,
           "loads.csv:2: expected node 'alice', number 0 of the dataset, found 'alice'");
    refuse(HEAD "\n" REST, "loads.csv:2: expected node 'alice', number 0 of the dataset, found ''");
    refuse(HEAD "alice,-1,1,1\n" REST,
           "loads.csv:2: expected as reads a whole number from 0 to 4294967295, found '-1'");
    refuse(HEAD "alice,nan,1,1\n" REST,
           "loads.csv:2: expected as reads a whole number from 0 to 4294967295, found 'nan'");
    refuse(HEAD "alice,1,0.5,1\n" REST,
           "loads.csv:2: expected as remote a whole number from 0 to 4294967295, found '0.5'");
    refuse(
        HEAD "alice,1,1,4294967296\n" REST,
        "loads.csv:2: expected as edges a whole number from 0 to 4294967295, found '4294967296'");
    refuse(HEAD "alice,1,1,\n" REST,
           "loads.csv:2: expected as edges a whole number from 0 to 4294967295, found ''");
    refuse(HEAD "alice,1,1\n" REST, "loads.csv:2: expected 4 fields, found 3");
    refuse(HEAD "alice,1,1,1,1\n" REST,
           "loads.csv:2: expected as edges a whole number from 0 to 4294967295, found '1,1'");
    refuse(
        HEAD "alice,1,1,1\nbob,1,1,1\n",
        "loads.csv: expected 3 lines, one for each node of the dataset, below the first, found 2");
    refuse(HEAD "alice,1,1,1\n" REST "dave,1,1,1\n",
           "loads.csv:6: expected an end behind 3 nodes, as many as the dataset has, found more");
    refuse(HEAD "alice,0,1,1\nbob,0,0,0\n\"c, d\n#e\",0,0,0\n",
           "loads.csv: expected nodes that were read, found none");
}

static void a_table_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct error err = {0};
    struct node_loads loads = {0};
    (void)remove(path);
    assert_fails(node_loads_read(path, 3, &words, &loads, &err), ERROR_NOT_FOUND, "loads.csv",
                 &err);
    node_loads_release(&loads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_reads_back, set_up, temp_dir_teardown),
        cmocka_unit_test_setup_teardown(times_are_a_column_more, set_up, temp_dir_teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_named_with_its_line, set_up,
                                        temp_dir_teardown),
        cmocka_unit_test_setup_teardown(a_table_that_is_not_there_is_named, set_up,
                                        temp_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
