#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/formats/npy.h"
#include "pipelines/node_selection.h"
#include "store/records/node_ids.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

#include <string.h>

enum { NODES = 4 };

static const char lines[] = "node,split\n\"a, b\",train\n\"c\nd\",\ne,\n,test\n";

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

static void lines_and_rows_of_some_nodes_are_taken(void **state)
{
    struct temp_store *t = *state;
    struct node_selection selection = {0};
    struct npy_writer writer = {0};
    struct npy_reader reader = {0};
    static const float row[NODES * 2] = {0, 1, 2, 3, 4, 5, 6, 7};
    char to[FILE_PATH_SIZE], path[FILE_PATH_SIZE], *text = NULL;
    float found[4];
    size_t size = 0;
    put_ids(t);
    (void)write_file(t, "predictions.csv", lines);
    assert_ok(file_path(path, &t->err, "%s/embeddings.npy", t->dir.path), &t->err);
    assert_ok(npy_writer_open(&writer, path, NPY_F32, NODES, 2, &t->err), &t->err);
    assert_ok(npy_writer_add(&writer, row, (uint64_t)NODES * 2, &t->err), &t->err);
    assert_ok(npy_writer_finish(&writer, &t->err), &t->err);
    assert_ok(node_selection_read(&selection, write_file(t, "ids", "e\na, b\ne\n\n"), t->store,
                                  "d-1", NODES, &t->err),
              &t->err);
    assert_int_equal(selection.count, 2);
    assert_ok(file_path(to, &t->err, "%s/nodes", t->dir.path), &t->err);
    assert_ok(node_selection_write(&selection, t->dir.path, to, &t->err), &t->err);
    assert_ok(file_path(path, &t->err, "%s/predictions.csv", to), &t->err);
    assert_ok(file_read(path, 0, &text, &size, &t->err), &t->err);
    assert_string_equal(text, "node,split\n\"a, b\",train\ne,\n");
    memory_free(text);
    assert_ok(file_path(path, &t->err, "%s/embeddings.npy", to), &t->err);
    assert_ok(npy_reader_open(&reader, path, &t->err), &t->err);
    assert_int_equal(reader.header.shape[0], 2);
    assert_ok(npy_reader_float(&reader, 0, 4, found, &t->err), &t->err);
    assert_true(found[0] == 0 && found[1] == 1 && found[2] == 4 && found[3] == 5);
    npy_reader_close(&reader);
    (void)write_file(t, "predictions.csv", "node,split\ne,\n");
    assert_fails(node_selection_write(&selection, t->dir.path, to, &t->err), ERROR_INPUT,
                 "not of the nodes of this graph", &t->err);
    node_selection_release(&selection);
}

static void ids_of_no_node_are_named(void **state)
{
    struct temp_store *t = *state;
    struct node_selection selection = {0};
    put_ids(t);
    assert_fails(node_selection_read(&selection, write_file(t, "ids", "e\nx\na\n"), t->store, "d-1",
                                     NODES, &t->err),
                 ERROR_INPUT, "ids:2: expected the id of a node of the graph, found 'x'", &t->err);
    node_selection_release(&selection);
    assert_fails(node_selection_read(&selection, write_file(t, "ids", "\n"), t->store, "d-2", NODES,
                                     &t->err),
                 ERROR_INPUT, "expected the id of a node a line, found none", &t->err);
    node_selection_release(&selection);
    assert_ok(node_selection_read(&selection, write_file(t, "ids", "3\n0\n"), t->store, "d-2",
                                  NODES, &t->err),
              &t->err); /* without a record ids are 0, 1, ... */
    assert_true(selection.count == 2 && selection.is_in[0] && selection.is_in[3]);
    node_selection_release(&selection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(lines_and_rows_of_some_nodes_are_taken),
        test_with_store(ids_of_no_node_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
