/* Reads the file of feature rows. Declared in update_reader.h. */
#include "common/base/memory.h"
#include "stages/ingest/build/nodes/feature_measure.h"
#include "stages/ingest/formats/columns/feature_text.h"
#include "stages/ingest/update/update_node_file.h"
#include "store/records/dataset/dataset_types.h"
#include "store/versions/version_fold.h"

#include <inttypes.h>
#include <string.h>

/* Returns the type by which statistics and origin of a node's features are stored: 0 unless the
 * graph has relations. */
static uint32_t rows_of(const struct update_reader *reader, uint32_t node)
{
    return reader->schema->has_relations ? living_nodes_type(&reader->nodes, node) : 0;
}

static bool are_given(const struct update_reader *reader, uint32_t type)
{
    return strcmp(dataset_type_origin(reader->schema, type), "given") == 0;
}

/* Scales a row with the statistics of the dataset. */
static void scale(const struct feature_statistics *by, uint32_t dim, float *row)
{
    if (by->has_least)
        feature_measure_normalise(row, dim, by->least);
    for (uint32_t c = 0; c < by->dim; c++)
        row[c] = feature_measure_standardise(row[c], by->mean[c], by->deviation[c]);
}

/* Checks that a node may have a row. */
static enum error_code check_node(const struct update_reader *reader, const struct node_line *line,
                                  uint32_t node, struct error *err)
{
    const char *where = line->where;
    const struct field *id = line->id;
    const int shown = id->size < 40 ? (int)id->size : 40;
    const uint32_t type = rows_of(reader, node);
    if (!are_given(reader, type))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node '%.*s' is of type %s, whose features are not given "
                         "(%s): expected no row",
                         where, line->line, shown, id->text, reader->schema->node_type[type].name,
                         dataset_type_origin(reader->schema, type));
    if (node < reader->nodes.base_count && reader->is_gone[node])
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node '%.*s' is removed by --remove-nodes", where,
                         line->line, shown, id->text);
    if (reader->has_row[node])
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": node '%.*s' has a row already", where,
                         line->line, shown, id->text);
    return ERROR_NONE;
}

static enum error_code take_row(struct update_reader *reader, const struct node_line *line,
                                struct error *err)
{
    const char *where = line->where;
    struct dataset_delta *delta = &reader->delta;
    uint32_t node = 0;
    enum error_code rc = living_nodes_expect(&reader->nodes, line->type, line->id, "node", where,
                                             line->line, &node, err);
    if (rc == ERROR_NONE)
        rc = check_node(reader, line, node, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t type = rows_of(reader, node),
                   dim = dataset_type(reader->schema, type).feature_dim;
    const uint32_t before = line->type == LIVING_ANY_TYPE ? 1 : 2;
    rc = update_reader_take(reader, (dim + 1ULL) * 4, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->row_node, &reader->room.row_node, delta->rows + 1,
                         "nodes with features", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&reader->row, &reader->room.row, reader->row_numbers + dim, "features",
                         err);
    if (rc != ERROR_NONE)
        return rc;
    float *row = reader->row + reader->row_numbers;
    rc = feature_text_parse(where, line->line, line->values, before, dim, row, &reader->notes.loss,
                            err);
    if (rc != ERROR_NONE)
        return rc;
    scale(&reader->statistics[type], dim, row);
    reader->row_numbers += dim;
    reader->has_row[node] = 1;
    reader->row_node[delta->rows++] = node;
    return ERROR_NONE;
}

/* Checks that the request has no features if ingest makes the features of all types, which it then
 * does for new nodes, too. */
static enum error_code check_made(const struct update_reader *reader, struct error *err)
{
    for (uint32_t t = 0; t < dataset_type_count(reader->schema); t++)
        if (are_given(reader, t))
            return ERROR_NONE;
    return reader->request->features
               ? error_set(
                     err, ERROR_INVALID,
                     "%s: features of this dataset are made (%s), expected no file of --features",
                     reader->request->features, reader->schema->feature_origin)
               : ERROR_NONE;
}

/* Checks that new nodes have rows if the other nodes of their type have. */
static enum error_code check_given(const struct update_reader *reader, struct error *err)
{
    const struct dataset_schema *schema = reader->schema;
    char text[NODE_ID_TEXT_SIZE];
    for (uint32_t i = 0; i < reader->delta.added_nodes; i++) {
        const uint32_t node = reader->nodes.base_count + i, type = rows_of(reader, node);
        if (are_given(reader, type) && !reader->has_row[node])
            return error_set(err, ERROR_INPUT,
                             "%s: no row for the new node %s: expected %" PRIu32 " features",
                             reader->request->features ? reader->request->features : "--features",
                             living_nodes_text(&reader->nodes, node, text),
                             dataset_type(schema, type).feature_dim);
    }
    return ERROR_NONE;
}

static enum error_code read_statistics(struct update_reader *reader, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(reader->schema); t++) {
        rc = feature_statistics_get(reader->store, reader->schema->id, t, &reader->statistics[t],
                                    err);
        if (rc == ERROR_NOT_FOUND) /* no statistics are stored: features are as given */
            rc = ERROR_NONE;
    }
    return rc;
}

enum error_code update_rows_take(struct update_reader *reader, struct error *err)
{
    struct update_node_file file =
        update_node_file_of(reader, reader->request->features, KEYED_WORDS, false);
    const size_t count = (size_t)reader->schema->node_count + reader->delta.added_nodes;
    enum error_code rc = check_made(reader, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&reader->has_row, count, "marks of nodes", err);
    if (rc == ERROR_NONE)
        rc = read_statistics(reader, err);
    if (rc == ERROR_NONE)
        rc = update_node_file_visit(&file, take_row, err);
    keyed_file_release(&file.keyed);
    reader->delta.feature_dim =
        reader->schema->has_relations || are_given(reader, 0) ? reader->schema->feature_dim : 0;
    reader->delta.row_node = reader->row_node;
    reader->delta.row = reader->row;
    return rc == ERROR_NONE ? check_given(reader, err) : rc;
}
