#include "common/files/file.h"
#include "pipelines/shared/node_selection.h"
#include "store/records/dataset/node_ids.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 4 };

/* Returns a dataset of two authors before two papers; the papers have labels. */
static const struct dataset_schema *dataset(const char *id, bool has_relations)
{
    static struct dataset_schema schema;
    schema = (struct dataset_schema){
        .node_count = NODES,
        .has_relations = has_relations,
        .node_type_count = 2, /* without relations nodes have only ids */
        .target_type = has_relations ? 1 : 0,
        .node_type = {{.name = "author", .node_count = 2}, {.name = "paper", .first_node = 2}}};
    (void)snprintf(schema.id, sizeof schema.id, "%s", id);
    return &schema;
}

static void put_ids(struct temp_store *t)
{
    static const uint64_t offset[NODES + 1] = {0, 4, 7, 8, 8};
    const struct node_ids ids = {.node_count = NODES, .offset = offset, .text = "a, bc\nde"};
    assert_ok(node_ids_put(t->store, "d-1", &ids, &t->err), &t->err);
}

static const char *write_file(struct temp_store *t, const char *name, const char *text)
{
    static char path[FILE_PATH_SIZE];
    assert_ok(file_path(path, &t->err, "%s/%s", t->dir.path, name), &t->err);
    assert_ok(file_replace(path, text, strlen(text), false, &t->err), &t->err);
    return path;
}

static void nodes_are_found_by_their_ids(void **state)
{
    struct temp_store *t = *state;
    struct node_selection selection = {0};
    put_ids(t);
    assert_ok(node_selection_read(&selection, write_file(t, "ids", "e\na, b\ne\n\n"), t->store,
                                  dataset("d-1", false), &t->err),
              &t->err);
    assert_int_equal(selection.count, 2);
    assert_true(selection.node[0] == 0 && selection.node[1] == 2);
    node_selection_release(&selection);
}

static void ids_of_no_node_are_named(void **state)
{
    struct temp_store *t = *state;
    struct node_selection selection = {0};
    put_ids(t);
    assert_fails(node_selection_read(&selection, write_file(t, "ids", "e\nx\na\n"), t->store,
                                     dataset("d-1", false), &t->err),
                 ERROR_INPUT, "ids:2: expected the id of a node of the graph, found 'x'", &t->err);
    node_selection_release(&selection);
    assert_fails(node_selection_read(&selection, write_file(t, "ids", "\n"), t->store,
                                     dataset("d-2", false), &t->err),
                 ERROR_INPUT, "expected the id of a node a line, found none", &t->err);
    node_selection_release(&selection);
    assert_ok(node_selection_read(&selection, write_file(t, "ids", "3\n0\n"), t->store,
                                  dataset("d-2", false), &t->err),
              &t->err); /* without a record of ids they are 0, 1, ... */
    assert_true(selection.count == 2 && selection.node[0] == 0 && selection.node[1] == 3);
    node_selection_release(&selection);
}

static void nodes_of_another_type_are_named(void **state)
{
    struct temp_store *t = *state;
    struct node_selection selection = {0};
    put_ids(t);
    assert_fails(node_selection_read(&selection, write_file(t, "ids", "e\n\na, b\n"), t->store,
                                     dataset("d-1", true), &t->err),
                 ERROR_INPUT, "ids:3: node 'a, b' is of type author, expected nodes of type paper",
                 &t->err);
    node_selection_release(&selection);
    assert_ok(node_selection_read(&selection, write_file(t, "ids", "e\n"), t->store,
                                  dataset("d-1", true), &t->err),
              &t->err);
    assert_true(selection.count == 1 && selection.node[0] == 2);
    node_selection_release(&selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(nodes_are_found_by_their_ids),
        test_with_store(ids_of_no_node_are_named),
        test_with_store(nodes_of_another_type_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
