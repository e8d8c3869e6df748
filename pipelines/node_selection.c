#include "pipelines/node_selection.h"

#include "common/base/memory.h"
#include "common/formats/line_reader.h"
#include "pipelines/node_lookup.h"

#include <stdlib.h>

static enum error_code read_wanted(struct node_lookup *lookup, const char *path, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && found) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc == ERROR_NONE && found && line.size)
            rc = node_lookup_add(lookup, line.text, line.size, line.number, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && !lookup->count)
        rc = error_set(err, ERROR_INPUT, "%s: expected the id of a node a line, found none", path);
    return rc;
}

static int by_node(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

enum error_code node_selection_read(struct node_selection *s, const char *path, struct store *store,
                                    const char *dataset_id, uint32_t node_count, struct error *err)
{
    struct node_lookup lookup = {0};
    enum error_code rc = read_wanted(&lookup, path, err);
    if (rc == ERROR_NONE)
        rc = node_lookup_find(&lookup, path, store, dataset_id, node_count, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->node, lookup.count, "a selection of nodes", err);
    if (rc == ERROR_NONE) {
        for (size_t i = 0; i < lookup.count; i++)
            s->node[i] = lookup.wanted[i].node;
        qsort(s->node, lookup.count, sizeof *s->node, by_node);
        for (size_t i = 0; i < lookup.count; i++) /* an id may stand there twice */
            if (s->count == 0 || s->node[i] != s->node[s->count - 1])
                s->node[s->count++] = s->node[i];
    }
    node_lookup_release(&lookup);
    return rc;
}

void node_selection_release(struct node_selection *s)
{
    memory_free(s->node);
    *s = (struct node_selection){0};
}
