#include "pipelines/shared/node_selection.h"

#include "common/base/memory.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "pipelines/shared/node_lookup.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdlib.h>

/* Reads the id on a line, without quotes, as ingest reads files of ids. Returns false for a blank
 * line. */
static bool id_of(const struct text_line *line, struct field *id)
{
    struct delimited cursor;
    delimited_begin_line(&cursor, line, DELIMITER_TAB);
    if (!delimited_next(&cursor, id))
        return false;
    if (!cursor.is_done) /* the id contains a tab */
        *id = (struct field){line->text, line->size};
    return true;
}

static enum error_code read_wanted(struct node_lookup *lookup, const char *path, struct error *err)
{
    static const enum delimiter tab = DELIMITER_TAB;
    struct line_reader *reader = NULL;
    struct text_line line;
    struct field id;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE && found) {
        rc = delimited_read(reader, &tab, &line, &found, err);
        if (rc == ERROR_NONE && found && id_of(&line, &id))
            rc = node_lookup_add(lookup, id.text, id.size, line.number, err);
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

/* Checks that all nodes are of the target type; only they have outputs. */
static enum error_code check_types(const struct node_lookup *lookup, const char *path,
                                   const struct dataset_schema *dataset, struct error *err)
{
    for (size_t i = 0; i < lookup->count; i++) {
        const struct wanted_node *wanted = &lookup->wanted[i];
        const uint32_t type = dataset_type_of(dataset, wanted->node);
        if (type != dataset->target_type)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": node '%.*s' is of type %s, expected nodes of type "
                             "%s, of which the outputs are",
                             path, wanted->line, wanted->size < 60 ? (int)wanted->size : 60,
                             wanted->text, dataset->node_type[type].name,
                             dataset->node_type[dataset->target_type].name);
    }
    return ERROR_NONE;
}

enum error_code node_selection_read(struct node_selection *s, const char *path, struct store *store,
                                    const struct dataset_schema *dataset, struct error *err)
{
    struct node_lookup lookup = {0};
    enum error_code rc = read_wanted(&lookup, path, err);
    if (rc == ERROR_NONE)
        rc = node_lookup_find(&lookup, path, store, dataset->id, dataset->node_count, err);
    if (rc == ERROR_NONE)
        rc = check_types(&lookup, path, dataset, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&s->node, lookup.count, "a selection of nodes", err);
    if (rc == ERROR_NONE) {
        for (size_t i = 0; i < lookup.count; i++)
            s->node[i] = lookup.wanted[i].node;
        qsort(s->node, lookup.count, sizeof *s->node, by_node);
        for (size_t i = 0; i < lookup.count; i++) /* the file may have an id more than once */
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
