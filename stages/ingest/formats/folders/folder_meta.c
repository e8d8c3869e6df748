#include "stages/ingest/formats/folders/folder_meta.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { META_SIZE_MAX = 1 << 20, TYPE_COLUMNS_MAX = 5 };

/* Reads a whole number from 0 to `most`. Leaves *out unchanged if it is absent or null. */
static enum error_code optional_count(const struct json_node *root, const char *path,
                                      const char *key, int64_t most, int64_t *out,
                                      struct error *err)
{
    int64_t value = 0;
    const struct json_node *node = json_get(root, key);
    if (!node || json_node_is_null(node))
        return ERROR_NONE;
    if (!json_int64(node, &value) || value < 0 || value > most)
        return error_set(err, ERROR_INPUT,
                         "%s: \"%s\": expected a whole number from 0 to %" PRId64
                         ", found something else",
                         path, key, most);
    *out = value;
    return ERROR_NONE;
}

static enum error_code take_meta(const struct json_node *root, const char *path,
                                 struct folder_meta *meta, struct error *err)
{
    int64_t nodes = -1, dim = 0, classes = 0;
    bool is_directed = false;
    enum error_code rc = optional_count(root, path, "num_nodes", UINT32_MAX, &nodes, err);
    if (rc == ERROR_NONE)
        rc = optional_count(root, path, "num_features", INT32_MAX, &dim, err);
    if (rc == ERROR_NONE)
        rc = optional_count(root, path, "num_classes", INT32_MAX, &classes, err);
    if (rc == ERROR_NONE)
        rc = optional_count(root, path, "edge_rows", INT64_MAX, &meta->edge_rows, err);
    if (rc != ERROR_NONE)
        return rc;
    if (nodes < 0)
        return error_set(err, ERROR_INPUT,
                         "%s: \"num_nodes\": expected a whole number, found nothing", path);
    const struct json_node *directed = json_get(root, "directed");
    meta->says_direction = !directed || !json_node_is_null(directed);
    if (meta->says_direction && !json_bool(directed, &is_directed))
        return error_set(err, ERROR_INPUT,
                         "%s: \"directed\": expected true, false or null, found %s", path,
                         directed ? "something else" : "nothing");
    meta->node_count = (uint64_t)nodes;
    meta->is_directed = is_directed;
    meta->feature_dim = (uint32_t)dim;
    meta->class_count = (uint32_t)classes;
    return ERROR_NONE;
}

static enum error_code read_json(const char *path, struct folder_meta *meta, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct json_document *document = NULL;
    enum error_code rc = file_read(path, META_SIZE_MAX, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = json_parse(text, size, path, &document, err);
    if (rc == ERROR_NONE)
        rc = take_meta(json_root(document), path, meta, err);
    json_free(document);
    memory_free(text);
    return rc;
}

/* A column of a type table. */
struct type_column {
    const char *word[3]; /* possible names in the header; NULL-terminated */
    bool may_be_missing;
};

/* A type table; a column without a name ends `column`. */
struct type_table {
    const char *stem, *header; /* the header that is recommended */
    struct type_column column[TYPE_COLUMNS_MAX + 1];
};

enum { NODE_NUMBER, NODE_NAME, NODE_COUNT, NODE_FIRST };
enum { EDGE_NUMBER, EDGE_NAME, EDGE_SOURCE, EDGE_TARGET, EDGE_ROWS };

static const struct type_table node_table = {
    "node-types",
    "type,name,count,first_id",
    {{{"type", "id"}, true}, {{"name"}, false}, {{"count"}, false}, {{"first_id"}, false}}};
static const struct type_table edge_table = {"edge-types",
                                             "etype,name,src_type,dst_type,count",
                                             {{{"etype", "id"}, true},
                                              {{"name"}, false},
                                              {{"src_type", "source"}, false},
                                              {{"dst_type", "target"}, false},
                                              {{"count"}, true}}};
static const struct type_table relation_table = {
    "relations", "id,name", {{{"id", "etype"}, true}, {{"name"}, false}}};

/* A row of a type table. */
struct type_row {
    const char *path;
    int64_t line;
    const struct field *field; /* [fields of the line] */
    /* [columns of the table] the field of each column; -1: no such column */
    const int *place;
};

typedef enum error_code (*type_visitor)(struct folder_meta *meta, const struct type_row *row,
                                        struct error *err);

/* Reads a count. Leaves *out unchanged if the table has no such column. */
static enum error_code take_count(const struct type_row *row, int column, const char *what,
                                  uint64_t least, uint64_t most, uint64_t *out, struct error *err)
{
    int64_t value = 0;
    if (row->place[column] < 0)
        return ERROR_NONE;
    const struct field *field = &row->field[row->place[column]];
    if (!text_int64(field->text, field->size, &value) || value < 0 || (uint64_t)value < least ||
        (uint64_t)value > most)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s: expected a number from %" PRIu64 " to %" PRIu64
                         ", found '%.*s'",
                         row->path, row->line, what, least, most,
                         field->size < 40 ? (int)field->size : 40, field->text);
    *out = (uint64_t)value;
    return ERROR_NONE;
}

static enum error_code take_name(const struct type_row *row, int column, char *out,
                                 struct error *err)
{
    const struct field *field = &row->field[row->place[column]];
    if (field->size == 0 || field->size >= TYPE_NAME_SIZE)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": name: expected 1 to %d bytes, found %zu", row->path,
                         row->line, TYPE_NAME_SIZE - 1, field->size);
    memcpy(out, field->text, field->size);
    out[field->size] = '\0';
    return ERROR_NONE;
}

/* Checks that no earlier node type has this name, because edge types refer to node types by
 * name. */
static enum error_code check_new(const struct folder_meta *meta, const struct type_row *row,
                                 const struct node_type *type, struct error *err)
{
    for (const struct node_type *before = meta->node_type; before < type; before++)
        if (strcmp(before->name, type->name) == 0)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64
                             ": expected another name for each node type, found '%s' again: " ADVICE
                             "give one of them another name",
                             row->path, row->line, type->name);
    return ERROR_NONE;
}

static enum error_code take_node_type(struct folder_meta *meta, const struct type_row *row,
                                      struct error *err)
{
    uint64_t number = 0, count = 0, first = 0, expected = 0;
    const uint32_t at = meta->node_type_count;
    if (at == NODE_TYPE_COUNT_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected at most %d node types, found "
                         "more",
                         row->path, row->line, NODE_TYPE_COUNT_MAX);
    struct node_type *type = &meta->node_type[at];
    if (at)
        expected = (uint64_t)type[-1].first_node + type[-1].node_count;
    enum error_code rc = take_count(row, NODE_NUMBER, "type", at, at, &number, err);
    if (rc == ERROR_NONE)
        rc = take_name(row, NODE_NAME, type->name, err);
    if (rc == ERROR_NONE)
        rc = check_new(meta, row, type, err);
    if (rc == ERROR_NONE)
        rc = take_count(row, NODE_COUNT, "count", 0, meta->node_count - expected, &count, err);
    if (rc == ERROR_NONE)
        rc = take_count(row, NODE_FIRST, "first_id", expected, expected, &first, err);
    type->node_count = (uint32_t)count;
    type->first_node = (uint32_t)first;
    meta->node_type_count++;
    return rc;
}

static enum error_code take_type_name(const struct folder_meta *meta, const struct type_row *row,
                                      int column, uint16_t *out, struct error *err)
{
    const struct field *field = &row->field[row->place[column]];
    for (*out = 0; *out < meta->node_type_count; ++*out)
        if (field_is(field, meta->node_type[*out].name))
            return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a node type of node-types.csv, found '%.*s'",
                     row->path, row->line, field->size < 40 ? (int)field->size : 40, field->text);
}

static enum error_code take_edge_name(struct folder_meta *meta, const struct type_row *row,
                                      struct error *err)
{
    uint64_t number = 0;
    const uint32_t at = meta->edge_type_count;
    if (at == EDGE_TYPE_COUNT_MAX)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected at most %d edge types, found "
                         "more",
                         row->path, row->line, EDGE_TYPE_COUNT_MAX);
    const enum error_code rc = take_count(row, EDGE_NUMBER, "etype", at, at, &number, err);
    meta->edge_type_count++;
    return rc == ERROR_NONE ? take_name(row, EDGE_NAME, meta->edge_type[at].name, err) : rc;
}

static enum error_code take_edge_type(struct folder_meta *meta, const struct type_row *row,
                                      struct error *err)
{
    uint64_t count = 0;
    enum error_code rc = take_edge_name(meta, row, err);
    if (rc != ERROR_NONE)
        return rc;
    struct edge_type *type = &meta->edge_type[meta->edge_type_count - 1];
    rc = take_type_name(meta, row, EDGE_SOURCE, &type->source_type, err);
    if (rc == ERROR_NONE)
        rc = take_type_name(meta, row, EDGE_TARGET, &type->target_type, err);
    if (rc == ERROR_NONE)
        rc = take_count(row, EDGE_ROWS, "count", 0, INT64_MAX, &count, err);
    type->edge_count = count;
    return rc;
}

struct type_reader { /* one run over a type table */
    const struct type_table *table;
    const char *path;
    size_t field_count;
    int place[TYPE_COLUMNS_MAX];
};

static bool is_called(const struct type_column *column, const struct field *field)
{
    for (int i = 0; i < 3 && column->word[i]; i++)
        if (field_is(field, column->word[i]))
            return true;
    return false;
}

/* Checks that each field of the header is one of the columns, and that no column comes twice. */
static enum error_code take_header(struct type_reader *reader, const struct text_line *line,
                                   struct error *err)
{
    const struct type_column *column = reader->table->column;
    struct field field[TYPE_COLUMNS_MAX] = {{0}};
    size_t known = 0;
    bool is_whole = true;
    reader->field_count = delimited_split_line(line, DELIMITER_COMMA, field, TYPE_COLUMNS_MAX);
    for (int c = 0; column[c].word[0]; c++) {
        reader->place[c] = -1;
        for (size_t f = 0; f < reader->field_count && f < TYPE_COLUMNS_MAX; f++)
            if (reader->place[c] < 0 && is_called(&column[c], &field[f]))
                reader->place[c] = (int)f;
        known += reader->place[c] >= 0;
        is_whole &= reader->place[c] >= 0 || column[c].may_be_missing;
    }
    if (is_whole && known == reader->field_count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:1: expected the header '%s', found '%.*s'", reader->path,
                     reader->table->header, line->size < 60 ? (int)line->size : 60, line->text);
}

static enum error_code take_line(const struct type_reader *reader, struct folder_meta *meta,
                                 const struct text_line *line, type_visitor visit,
                                 struct error *err)
{
    struct field field[TYPE_COLUMNS_MAX] = {{0}};
    const size_t found = delimited_split_line(line, DELIMITER_COMMA, field, TYPE_COLUMNS_MAX);
    if (found != reader->field_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %zu columns, found %zu" ADVISE_COLUMNS,
                         reader->path, line->number, reader->field_count, found);
    const struct type_row row = {reader->path, line->number, field, reader->place};
    return visit(meta, &row, err);
}

/* Reads a type table. A missing file is allowed. */
static enum error_code read_types(const char *path, const struct type_table *table,
                                  struct folder_meta *meta, type_visitor visit, struct error *err)
{
    struct type_reader types = {.table = table, .path = path};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = false;
    enum error_code rc = file_is_there(path, &found, err);
    if (rc != ERROR_NONE || !found)
        return rc;
    rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = line.number == 1 ? take_header(&types, &line, err)
                              : take_line(&types, meta, &line, visit, err);
    }
    line_reader_close(reader);
    return rc;
}

/* Checks that the types cover all nodes: the last must end at the last node. */
static enum error_code check_cover(const char *path, const struct folder_meta *meta,
                                   struct error *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < meta->node_type_count; i++)
        sum += meta->node_type[i].node_count;
    if (meta->node_type_count && sum != meta->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected types of %" PRIu64
                         " nodes as meta.json says, found %" PRIu64,
                         path, meta->node_count, sum);
    return ERROR_NONE;
}

static enum error_code read_table(const char *folder, const struct type_table *table,
                                  struct folder_meta *meta, type_visitor visit, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = file_path(path, err, "%s/%s.csv", folder, table->stem);
    if (rc == ERROR_NONE)
        rc = read_types(path, table, meta, visit, err);
    return rc == ERROR_NONE && table == &node_table ? check_cover(path, meta, err) : rc;
}

enum error_code folder_meta_read(const char *folder, struct folder_meta *meta, struct error *err)
{
    char path[FILE_PATH_SIZE];
    *meta = (struct folder_meta){.edge_rows = -1};
    bool found = false;
    enum error_code rc = file_path(path, err, "%s/meta.json", folder);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (rc == ERROR_NONE && !found)
        rc = error_set(
            err, ERROR_NOT_FOUND,
            "%s is not there: expected {\"num_nodes\": ..., \"directed\": ...} in it, or another "
            "format; `format: auto` below `ingest:` finds the format by the files",
            path);
    if (rc == ERROR_NONE)
        rc = read_json(path, meta, err);
    if (rc == ERROR_NONE)
        rc = read_table(folder, &node_table, meta, take_node_type, err);
    if (rc == ERROR_NONE)
        rc = read_table(folder, &edge_table, meta, take_edge_type, err);
    return rc;
}

enum error_code folder_meta_read_relations(const char *folder, struct folder_meta *meta,
                                           struct error *err)
{
    /* names alone do not show which node types the edge types connect */
    if (meta->edge_type_count || meta->node_type_count > 1)
        return ERROR_NONE;
    const enum error_code rc = read_table(folder, &relation_table, meta, take_edge_name, err);
    if (meta->edge_type_count) /* edges are between the nodes of the one type */
        (void)folder_meta_name_types(meta, 0);
    return rc;
}

uint32_t folder_meta_name_types(struct folder_meta *meta, uint32_t found)
{
    if (meta->node_type_count == 0) {
        meta->node_type_count = 1;
        meta->node_type[0] =
            (struct node_type){.name = "node", .node_count = (uint32_t)meta->node_count};
    }
    if (meta->edge_type_count)
        return meta->edge_type_count;
    for (uint32_t i = 0; i < found; i++)
        (void)snprintf(meta->edge_type[i].name, TYPE_NAME_SIZE, "edge-%" PRIu32, i);
    if (found == 0)
        (void)snprintf(meta->edge_type[0].name, TYPE_NAME_SIZE, "edge");
    return found ? found : 1;
}
