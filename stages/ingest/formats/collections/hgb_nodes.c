#include "stages/ingest/formats/collections/hgb_nodes.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/columns/feature_text.h"

#include <inttypes.h>
#include <string.h>

enum { ID, NAME, TYPE, FEATURES, NO_TYPE = -1 };

/* Splits a line. Returns how many fields it has, which may be more than `field` holds. A quote is
 * part of a name here. */
static size_t split_tabs(const struct text_line *line, struct field field[HGB_FIELDS_MAX])
{
    const char *at = line->text, *end = line->text + line->size;
    size_t count = 0;
    for (;; count++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        if (count < HGB_FIELDS_MAX)
            field[count] = (struct field){at, (size_t)((tab ? tab : end) - at)};
        if (!tab)
            return count + 1;
        at = tab + 1;
    }
}

enum error_code hgb_visit(const char *path, size_t least, hgb_visitor visit, void *context,
                          struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    struct field field[HGB_FIELDS_MAX] = {{0}};
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (!line.size)
            continue;
        const size_t count = split_tabs(&line, field);
        rc = count >= least && count <= HGB_FIELDS_MAX
                 ? visit(context, field, count, line.number, err)
                 : error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": expected %zu to %d columns with tabs between them, "
                             "found %zu",
                             path, line.number, least, HGB_FIELDS_MAX, count);
    }
    line_reader_close(reader);
    return rc;
}

enum error_code hgb_number(const char *path, int64_t line, const char *what,
                           const struct field *field, uint64_t limit, int64_t *out,
                           struct error *err)
{
    if (text_int64(field->text, field->size, out) && *out >= 0 && (uint64_t)*out < limit)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: expected a number from 0 to %" PRIu64 ", found '%.*s'",
                     path, line, what, limit - 1, field->size < 40 ? (int)field->size : 40,
                     field->text);
}

/* --- the first pass --- */

/* Notes the width of a type's features: its first node shows whether there are features, and how
 * many. */
static enum error_code note_dim(struct hgb_nodes *nodes, int64_t type, const struct field *field,
                                size_t count, int64_t line, struct error *err)
{
    struct delimited list;
    if (nodes->type_size[type]++ || count <= FEATURES || !field[FEATURES].size)
        return ERROR_NONE;
    delimited_begin(&list, field[FEATURES].text, field[FEATURES].size, DELIMITER_COMMA);
    return feature_text_dim(nodes->path, line, list, &nodes->dim[type], err);
}

static enum error_code note_node(void *context, const struct field *field, size_t count,
                                 int64_t line, struct error *err)
{
    struct hgb_nodes *nodes = context;
    int64_t id = 0, type = 0;
    enum error_code rc =
        hgb_number(nodes->path, line, "node id", &field[ID], UINT32_MAX - 1, &id, err);
    if (rc == ERROR_NONE)
        rc = hgb_number(nodes->path, line, "node type", &field[TYPE], NODE_TYPE_COUNT_MAX, &type,
                        err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&nodes->type, &nodes->capacity, (size_t)id + 1, "types of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (; nodes->count <= (uint64_t)id; nodes->count++)
        nodes->type[nodes->count] = NO_TYPE;
    if (nodes->type[id] != NO_TYPE)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected one line a node, found node %" PRId64 " again",
                         nodes->path, line, id);
    nodes->type[id] = (int16_t)type;
    if (type >= (int64_t)nodes->type_count)
        nodes->type_count = (uint32_t)type + 1;
    return note_dim(nodes, type, field, count, line, err);
}

static enum error_code check_types(const struct hgb_nodes *nodes, struct error *err)
{
    for (uint32_t t = 0; t < nodes->type_count; t++)
        if (!nodes->type_size[t])
            return error_set(err, ERROR_INPUT,
                             "%s: expected nodes of each type from 0 to %" PRIu32
                             ", found none of type %" PRIu32,
                             nodes->path, nodes->type_count - 1, t);
    for (uint64_t id = 0; id < nodes->count; id++)
        if (nodes->type[id] == NO_TYPE)
            return error_set(err, ERROR_INPUT,
                             "%s: expected a line for each node from 0 to %" PRIu64
                             ", found none of node %" PRIu64,
                             nodes->path, nodes->count - 1, id);
    return ERROR_NONE;
}

static enum error_code number_nodes(struct hgb_nodes *nodes, struct error *err)
{
    uint64_t next[NODE_TYPE_COUNT_MAX] = {0}, first = 0;
    const enum error_code rc = memory_new(&nodes->number, nodes->count, "numbers of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t t = 0; t < nodes->type_count; t++) {
        nodes->type_first[t] = next[t] = first;
        first += nodes->type_size[t];
    }
    nodes->are_in_order = true;
    for (uint64_t id = 0; id < nodes->count; id++) {
        nodes->number[id] = (uint32_t)next[nodes->type[id]]++;
        nodes->are_in_order &= nodes->number[id] == id;
    }
    return rc;
}

enum error_code hgb_nodes_read(const char *path, struct hgb_nodes *nodes, struct error *err)
{
    enum error_code rc = file_path(nodes->path, err, "%s", path);
    if (rc == ERROR_NONE)
        rc = hgb_visit(path, TYPE + 1, note_node, nodes, err);
    if (rc == ERROR_NONE && nodes->count == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a line a node, found none", path);
    if (rc == ERROR_NONE)
        rc = check_types(nodes, err);
    return rc == ERROR_NONE ? number_nodes(nodes, err) : rc;
}

enum error_code hgb_nodes_set_ids(const struct hgb_nodes *nodes, struct dataset_builder *builder,
                                  struct error *err)
{
    int64_t *id = NULL;
    if (nodes->are_in_order)
        return ERROR_NONE;
    enum error_code rc = memory_new(&id, nodes->count, "ids of nodes", err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < nodes->count; i++)
        id[nodes->number[i]] = (int64_t)i;
    const struct node_ids ids = {.node_count = (uint32_t)nodes->count, .integer = id};
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_ids(builder, &ids, err);
    memory_free(id);
    return rc;
}

/* --- the second pass --- */

struct features { /* the state of one run */
    const struct hgb_nodes *nodes;
    struct dataset_builder *builder;
    uint32_t dim; /* width for types without features; 0: they get none */
    float *row;   /* room for the widest row */
};

static enum error_code push_row(void *context, const struct field *field, size_t count,
                                int64_t line, struct error *err)
{
    struct features *features = context;
    const struct hgb_nodes *nodes = features->nodes;
    struct delimited list;
    int64_t id = 0;
    enum error_code rc =
        hgb_number(nodes->path, line, "node id", &field[ID], nodes->count, &id, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t own = nodes->dim[nodes->type[id]], dim = own ? own : features->dim;
    memset(features->row, 0, dim * sizeof *features->row);
    if (own) {
        const struct field none = {field[ID].text, 0};
        const struct field *text = count > FEATURES ? &field[FEATURES] : &none;
        delimited_begin(&list, text->text, text->size, DELIMITER_COMMA);
        rc = feature_text_parse(nodes->path, line, &list, 0, own, features->row,
                                &dataset_builder_notes(features->builder)->loss, err);
    } else if (count > FEATURES && field[FEATURES].size)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected no features, as the first node of type %d has "
                       "none, found some",
                       nodes->path, line, nodes->type[id]);
    return rc == ERROR_NONE && dim
               ? dataset_builder_put_features(features->builder, nodes->path, line,
                                              nodes->number[id], features->row, dim, err)
               : rc;
}

enum error_code hgb_nodes_push_features(const struct hgb_nodes *nodes, bool has_relations,
                                        struct dataset_builder *builder, struct error *err)
{
    struct features features = {.nodes = nodes, .builder = builder};
    uint32_t widest = 0;
    for (uint32_t t = 0; t < nodes->type_count; t++) {
        const uint32_t dim = nodes->dim[t];
        if (!has_relations && dim && features.dim && dim != features.dim)
            return error_set(
                err, ERROR_INPUT,
                "%s: features of type %" PRIu32 ": expected %" PRIu32
                " numbers as earlier types have, found %" PRIu32 "; " ADVICE
                "write `relations: true` below `ingest:`, which lets each type have its own width",
                nodes->path, t, features.dim, dim);
        if (!has_relations && dim)
            features.dim = dim;
        widest = dim > widest ? dim : widest;
    }
    if (!widest)
        return ERROR_NONE;
    enum error_code rc = memory_new(&features.row, widest, "features of a node", err);
    if (rc == ERROR_NONE)
        rc = hgb_visit(nodes->path, TYPE + 1, push_row, &features, err);
    memory_free(features.row);
    return rc;
}

void hgb_nodes_release(struct hgb_nodes *nodes)
{
    memory_free(nodes->type);
    memory_free(nodes->number);
    *nodes = (struct hgb_nodes){0};
}
