#include "stages/ingest/formats/columns/keyed_features.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/missing_words.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/columns/feature_text.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { HINT_SIZE = 256 };

struct rows { /* the state of one run */
    struct keyed_file *features;
    struct keyed_file *ids;                 /* for an array; NULL: text */
    const struct column_encoding *encoding; /* for text; NULL: plain numbers */
    const struct named_nodes *nodes;
    struct dataset_builder *builder;
    struct npy_reader array; /* closed for text */
    uint64_t next;           /* row of the array */
    uint32_t dim;
    float *row;       /* [dim] */
    uint8_t *has_row; /* [node_count] */
    uint64_t count;
};

static enum error_code open_array(struct npy_reader *reader, const char *path, struct error *err)
{
    const enum error_code rc = npy_reader_open(reader, path, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct npy_header *header = &reader->header;
    if (header->dimension_count == 2 && header->shape[1] >= 1 &&
        header->shape[1] <= FEATURE_DIM_MAX)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INPUT,
        "%s: expected the shape [nodes, features] with 1 to %d features, found %" PRIu32
        " dimensions and %" PRIu64 " columns",
        path, FEATURE_DIM_MAX, header->dimension_count,
        header->dimension_count > 1 ? header->shape[1] : 0);
}

enum error_code keyed_features_note_rows(const char *path, struct named_nodes *nodes,
                                         struct error *err)
{
    struct npy_reader reader = {0};
    if (nodes->ids.of_strings)
        return error_set(
            err, ERROR_INPUT,
            "%s: ids are strings, so nothing shows which node a row belongs to: " ADVICE
            "add a line `feature_ids: FILE` below `ingest:`, a file with an id a line, the i-th "
            "for row i",
            path);
    enum error_code rc = open_array(&reader, path, err);
    for (uint64_t row = 0; rc == ERROR_NONE && row < reader.header.shape[0]; row++)
        rc = node_id_assigner_add_integer(&nodes->ids, (int64_t)row, err);
    npy_reader_close(&reader);
    return rc;
}

static enum error_code name_second_row(struct rows *rows, int64_t node, int64_t line,
                                       struct error *err)
{
    struct keyed_file *file = rows->ids ? rows->ids : rows->features;
    char text[NODE_ID_TEXT_SIZE];
    int64_t first = 0;
    const enum error_code rc = keyed_file_line_of(file, rows->nodes, node, &first, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!rows->ids && rows->dim == 2 && !rows->encoding)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node %s is in line %" PRId64
                         " already: expected one row a node, found three columns, as features in "
                         "long form have them (node, feature, value), which are not read; " ADVICE
                         "in Python, t.pivot(index=0, columns=1, values=2).fillna(0) makes rows of "
                         "such a table t",
                         file->path, line, named_nodes_text(rows->nodes, node, text), first);
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": node %s is in line %" PRId64
                     " already: expected one row a node; " ADVICE "remove one of the lines",
                     file->path, line, named_nodes_text(rows->nodes, node, text), first);
}

/* Stores rows->row as the row of `node`. */
static enum error_code put_row(struct rows *rows, int64_t node, int64_t line, struct error *err)
{
    if (rows->has_row[node])
        return name_second_row(rows, node, line, err);
    rows->has_row[node] = 1;
    rows->count++;
    return dataset_builder_put_features(rows->builder, rows->features->path, line, (uint64_t)node,
                                        rows->row, rows->dim, err);
}

/* Does the same for the node that `id` names in `path`. */
static enum error_code put_named(struct rows *rows, const struct field *id, const char *path,
                                 int64_t line, struct error *err)
{
    const int64_t node = named_nodes_find(rows->nodes, id);
    return node < 0 ? named_nodes_unknown(rows->nodes, id, path, line, err)
                    : put_row(rows, node, line, err);
}

static void note_rounded(const struct rows *rows, const struct column_code *column, size_t i,
                         const struct field *field, int64_t line, float stored)
{
    const struct float_place place = {
        .path = rows->features->path, .line = line, .column = i, .name = column->name};
    float_loss_note_text(&dataset_builder_notes(rows->builder)->loss, &place, field->text,
                         field->size, stored);
}

static enum error_code encode(const struct rows *rows, struct delimited *values, int64_t line,
                              struct error *err)
{
    const struct column_encoding *encoding = rows->encoding;
    struct field field;
    float *out = rows->row;
    size_t i = 0;
    enum error_code rc = ERROR_NONE;
    for (; rc == ERROR_NONE && i < encoding->column_count && delimited_next(values, &field); i++) {
        rc = column_code_take(&encoding->column[i], &field, out, err);
        if (rc == ERROR_NONE && encoding->column[i].kind == COLUMN_NUMBER &&
            fabsf(*out) >= FLOAT_LOSS_FROM)
            note_rounded(rows, &encoding->column[i], i, &field, line, *out);
        out += column_code_width(&encoding->column[i]);
    }
    if (rc == ERROR_NONE && (i < encoding->column_count || !values->is_done))
        rc = error_set(err, ERROR_INPUT, "expected %zu feature columns, found %s" ADVISE_COLUMNS,
                       encoding->column_count, values->is_done ? "fewer" : "more");
    return rc == ERROR_NONE ? rc
                            : error_context(err, rc, "%s:%" PRId64, rows->features->path, line);
}

/* Adds advice about a value that is no number: the line to add. */
static enum error_code advise(const struct rows *rows, const struct field *field, size_t column,
                              enum error_code code, struct error *err)
{
    const int size = field->size < 40 ? (int)field->size : 40;
    double value = 0.0;
    char number[24];
    if (!rows->features->may_choose)
        return error_add(err, code, ADVISE_NUMBER);
    const struct field name = rows->features->header
                                  ? keyed_file_column(rows->features, column, number)
                                  : (struct field){"NAME", 4};
    if (field->size == 0)
        return error_add(err, code,
                         ": " ADVICE
                         "write `missing_values: mean` below `ingest:`, or a number here");
    if (missing_words_are_usual(field))
        return error_add(err, code,
                         ": " ADVICE
                         "write `missing_words: %.*s` and `missing_values: mean` below `ingest:` "
                         "if this word says that the value is missing",
                         size, field->text);
    if (!text_double(field->text, field->size, &value))
        return error_add(err, code,
                         ": " ADVICE
                         "write `feature_columns: \"%.*s: one_hot\"` below `ingest:`, which takes "
                         "words and leaves out the columns that it does not name%s",
                         name.size < 60 ? (int)name.size : 60, name.text,
                         rows->features->header ? "" : ", and give the table a header");
    return error_add(err, code, ADVISE_NUMBER);
}

/* Parses plain numbers. If a value is none, the message names the setting that would encode it. */
static enum error_code parse_numbers(struct rows *rows, struct delimited *values, int64_t line,
                                     struct error *err)
{
    const char *path = rows->features->path;
    struct delimited again = *values;
    struct field field;
    double value = 0.0;
    const enum error_code rc = feature_text_parse(path, line, values, 1, rows->dim, rows->row,
                                                  &dataset_builder_notes(rows->builder)->loss, err);
    for (size_t i = 0; rc == ERROR_INPUT && delimited_next(&again, &field); i++) {
        if (text_double(field.text, field.size, &value) && isfinite((float)value))
            continue;
        return advise(rows, &field, i,
                      error_set(err, ERROR_INPUT,
                                "%s:%" PRId64 ": feature in column %zu: expected a finite number, "
                                "found '%.*s'",
                                path, line, i + 2, field.size < 40 ? (int)field.size : 40,
                                field.text),
                      err);
    }
    return rc;
}

static enum error_code take_text(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    struct rows *rows = context;
    const char *path = rows->features->path;
    enum error_code rc = ERROR_NONE;
    if (!rows->row) {
        if (rows->encoding)
            rows->dim = column_encoding_width(rows->encoding);
        else
            rc = feature_text_dim(path, line, *values, &rows->dim, err);
        if (rc == ERROR_NONE)
            rc = memory_new(&rows->row, rows->dim, "a feature row", err);
    }
    if (rc == ERROR_NONE)
        rc = rows->encoding ? encode(rows, values, line, err)
                            : parse_numbers(rows, values, line, err);
    return rc == ERROR_NONE ? put_named(rows, id, path, line, err) : rc;
}

static enum error_code read_array_row(struct rows *rows, uint64_t row, struct error *err)
{
    return npy_reader_float(&rows->array, row * rows->dim, rows->dim, rows->row, err);
}

static enum error_code take_array_row(void *context, const struct field *id,
                                      struct delimited *values, int64_t line, struct error *err)
{
    struct rows *rows = context;
    const uint64_t row_count = rows->array.header.shape[0];
    (void)values;
    if (rows->next == row_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %" PRIu64 " ids, one for each row of %s, found "
                         "more",
                         rows->ids->path, line, row_count, rows->features->path);
    const enum error_code rc = read_array_row(rows, rows->next++, err);
    return rc == ERROR_NONE ? put_named(rows, id, rows->ids->path, line, err) : rc;
}

/* Pushes an array in order: row i belongs to the node with the id i, as noted, or to the i-th node
 * if the input has numbered them. */
static enum error_code take_array_in_order(struct rows *rows, struct error *err)
{
    const struct named_nodes *nodes = rows->nodes;
    enum error_code rc = ERROR_NONE;
    for (uint64_t row = 0; rc == ERROR_NONE && row < rows->array.header.shape[0]; row++) {
        int64_t node = nodes->are_fixed ? (int64_t)row
                                        : node_id_assigner_find_integer(&nodes->ids, (int64_t)row);
        node = node < (int64_t)nodes->ids.count ? node : -1;
        rc = read_array_row(rows, row, err);
        if (rc == ERROR_NONE && node < 0)
            rc = error_set(err, ERROR_INPUT,
                           "%s: row %" PRIu64 ": expected a row for each of %" PRIu64
                           " nodes, found more",
                           rows->features->path, row, (uint64_t)nodes->ids.count);
        if (rc == ERROR_NONE)
            rc = put_row(rows, node, (int64_t)row, err);
    }
    return rc;
}

static enum error_code take_array(struct rows *rows, struct error *err)
{
    enum error_code rc = open_array(&rows->array, rows->features->path, err);
    if (rc != ERROR_NONE)
        return rc;
    rows->dim = (uint32_t)rows->array.header.shape[1];
    rows->array.loss = &dataset_builder_notes(rows->builder)->loss;
    rc = memory_new(&rows->row, rows->dim, "a feature row", err);
    if (rc != ERROR_NONE)
        return rc;
    if (!rows->ids->path)
        return take_array_in_order(rows, err);
    rc = keyed_file_visit(rows->ids, rows->nodes, take_array_row, rows, err);
    if (rc == ERROR_NONE && rows->next != rows->array.header.shape[0])
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " ids, one for each row of %s, found %" PRIu64,
                       rows->ids->path, rows->array.header.shape[0], rows->features->path,
                       rows->next);
    return rc;
}

static enum error_code expect_all(const struct rows *rows, struct error *err)
{
    const uint64_t node_count = rows->nodes->ids.count;
    char text[NODE_ID_TEXT_SIZE];
    uint64_t missing = 0;
    if (rows->count == node_count)
        return ERROR_NONE;
    while (rows->has_row[missing])
        missing++;
    return error_set(err, ERROR_INPUT,
                     "%s: expected a row for each of %" PRIu64 " nodes, found %" PRIu64
                     "; the first without one is %s: " ADVICE
                     "add its row, or remove the line `features:`",
                     rows->features->path, node_count, rows->count,
                     named_nodes_text(rows->nodes, (int64_t)missing, text));
}

enum error_code keyed_features_push(struct keyed_file *features, struct keyed_file *ids,
                                    const struct column_encoding *encoding,
                                    const struct named_nodes *nodes,
                                    struct dataset_builder *builder, struct error *err)
{
    struct rows rows = {
        .features = features, .encoding = encoding, .nodes = nodes, .builder = builder};
    const bool is_array = input_files_ends_in(features->path, ".npy");
    enum error_code rc =
        memory_new(&rows.has_row, nodes->ids.count, "which nodes have features", err);
    if (rc == ERROR_NONE && is_array) {
        rows.ids = ids;
        rc = take_array(&rows, err);
    } else if (rc == ERROR_NONE) {
        rc = keyed_file_visit(features, nodes, take_text, &rows, err);
    }
    if (rc == ERROR_NONE)
        rc = expect_all(&rows, err);
    npy_reader_close(&rows.array);
    memory_free(rows.row);
    memory_free(rows.has_row);
    return rc;
}
