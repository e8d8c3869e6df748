#include "stages/ingest/formats/folders/typed_labels.h"

#include "common/formats/arrays/npy_reader.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>

struct labels { /* the state of one run */
    struct label_table *table;
    const struct typed_rows *rows;
    const struct node_type *type;
    const struct integer_column *node; /* NULL: rows->first + i */
    uint64_t row_count, taken;
};

static enum error_code set_columns(const struct labels *labels, uint64_t columns, struct error *err)
{
    struct label_table *table = labels->table;
    if (table->column_count == 0)
        return label_table_columns(table, columns, err);
    return columns == table->column_count
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT,
                           "%s: expected %" PRIu32
                           " columns as the labels before have, found %" PRIu64,
                           table->path, table->column_count, columns);
}

static enum error_code check_rows(const struct labels *labels, uint64_t found,
                                  uint32_t dimension_count, struct error *err)
{
    if (found == labels->row_count && dimension_count >= 1 && dimension_count <= 2)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s: expected %" PRIu64 " rows, one for each %s, found %" PRIu64 " in %" PRIu32
                     " dimensions",
                     labels->rows->path, labels->row_count, labels->node ? "seed" : "node", found,
                     dimension_count);
}

/* Stores table->column as the labels of the next row's node; `line` is the line or row in the
 * file. */
static enum error_code take_row(struct labels *labels, int64_t line, struct error *err)
{
    const uint64_t row = labels->taken++;
    const int64_t node =
        labels->node ? labels->node->value[row] : (int64_t)(labels->rows->first + row);
    if (node < 0 || node >= (int64_t)labels->type->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s: row %" PRIu64 " is of node %" PRId64
                         ": expected a node of type %s, which has %" PRIu32 ", numbered from 0",
                         labels->rows->path, row, node, labels->type->name,
                         labels->type->node_count);
    return label_table_take(labels->table, (uint64_t)node + labels->type->first_node, line, err);
}

static enum error_code read_row(const struct npy_reader *reader, uint64_t row, uint32_t columns,
                                double *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint64_t c = 0; rc == ERROR_NONE && c < columns; c++) {
        float real = 0.0F;
        int64_t whole = 0;
        const bool is_whole = npy_is_integer(&reader->header);
        rc = is_whole ? npy_reader_int64(reader, row * columns + c, 1, &whole, err)
                      : npy_reader_float(reader, row * columns + c, 1, &real, err);
        out[c] = is_whole ? (double)whole : (double)real;
    }
    return rc;
}

static enum error_code take_array(struct labels *labels, struct error *err)
{
    struct npy_reader reader = {0};
    enum error_code rc = npy_reader_open(&reader, labels->rows->path, err);
    const struct npy_header *header = &reader.header;
    if (rc == ERROR_NONE)
        rc = check_rows(labels, header->shape[0], header->dimension_count, err);
    if (rc == ERROR_NONE)
        rc = set_columns(labels, header->dimension_count == 2 ? header->shape[1] : 1, err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < labels->row_count; i++) {
        rc = read_row(&reader, i, labels->table->column_count, labels->table->column, err);
        if (rc == ERROR_NONE)
            rc = take_row(labels, (int64_t)i, err);
    }
    npy_reader_close(&reader);
    return rc;
}

static enum error_code take_line(struct labels *labels, const struct text_line *line,
                                 struct error *err)
{
    struct delimited cursor;
    enum error_code rc =
        set_columns(labels, delimited_split(line->text, line->size, DELIMITER_COMMA, NULL, 0), err);
    if (rc == ERROR_NONE && labels->taken == labels->row_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %" PRIu64 " lines, one for each %s, found more",
                       labels->rows->path, line->number, labels->row_count,
                       labels->node ? "seed" : "node");
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    if (rc == ERROR_NONE)
        rc = label_table_parse(labels->table, &cursor, line->number, err);
    return rc == ERROR_NONE ? take_row(labels, line->number, err) : rc;
}

static enum error_code take_text(struct labels *labels, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(labels->rows->path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.size)
            rc = take_line(labels, &line, err);
    }
    line_reader_close(reader);
    return rc == ERROR_NONE ? check_rows(labels, labels->taken, 1, err) : rc;
}

enum error_code typed_labels_take(struct label_table *table, const struct typed_rows *rows,
                                  const struct node_type *type, const struct integer_column *node,
                                  struct error *err)
{
    struct labels labels = {.table = table,
                            .rows = rows,
                            .type = type,
                            .node = node,
                            .row_count = node ? node->count : rows->count};
    table->path = rows->path;
    return input_files_ends_in(rows->path, ".npy") ? take_array(&labels, err)
                                                   : take_text(&labels, err);
}
