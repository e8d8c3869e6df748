#include "stages/ingest/formats/columns/label_reader.h"

#include "common/base/memory.h"
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>

enum { PIECE_ELEMENTS = 1 << 17 };

struct labels { /* the state of one run */
    struct label_table table;
    uint64_t row_count;
    int64_t first_line; /* place of row 0: 1 in text, 0 in npy */
};

/* Stores table.column as the labels of the next node. */
static enum error_code take_row(struct labels *labels, struct error *err)
{
    const uint64_t row = labels->row_count++;
    return label_table_take(&labels->table, row, labels->first_line + (int64_t)row, err);
}

/* Returns whether the first of two columns counts the rows from 0 or 1. Decides at the first row
 * whose number could not be a label. */
static bool has_ids(const struct labels *labels)
{
    const double first = labels->table.column[0], row = (double)labels->row_count;
    return labels->table.column_count == 2 && first > 1.0 && first >= row && first <= row + 1.0;
}

static enum error_code parse_line(struct labels *labels, const struct text_line *line,
                                  struct error *err)
{
    struct delimited cursor;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    enum error_code rc = label_table_parse(&labels->table, &cursor, line->number, err);
    if (rc == ERROR_NONE && has_ids(labels))
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected the label alone (line i is that of %s i), found "
                       "what looks like `id,label`: " ADVICE
                       "keep the second column, in the order of ids",
                       labels->table.path, line->number, task_subject(labels->table.task));
    return rc == ERROR_NONE ? take_row(labels, err) : rc;
}

static enum error_code take_line(struct labels *labels, const struct text_line *line,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (labels->table.column_count == 0)
        rc = label_table_columns(
            &labels->table, delimited_split(line->text, line->size, DELIMITER_COMMA, NULL, 0), err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "line %" PRId64, line->number);
    if ((uint64_t)line->number != labels->row_count + 1)
        return error_set(err, ERROR_INPUT, "%s:%" PRIu64 ": expected a label, found a blank line",
                         labels->table.path, labels->row_count + 1);
    if (labels->row_count == labels->table.node_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %" PRIu64 " lines, one for each node, found "
                         "more",
                         labels->table.path, line->number, labels->table.node_count);
    return parse_line(labels, line, err);
}

static enum error_code read_text(struct labels *labels, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    labels->first_line = 1;
    enum error_code rc = line_reader_open(labels->table.path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.size)
            rc = take_line(labels, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && labels->row_count != labels->table.node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRIu64 ": expected %" PRIu64 " lines, one for each node, found the "
                       "end of the file" ADVISE_COPY,
                       labels->table.path, labels->row_count + 1, labels->table.node_count);
    return rc;
}

/* Reads rows [first, first + count) of an array, as doubles; only one of the two buffers is
 * used. */
static enum error_code take_rows(struct labels *labels, const struct npy_reader *reader,
                                 uint64_t first, uint64_t count, int64_t *whole, float *real,
                                 struct error *err)
{
    const uint64_t columns = labels->table.column_count;
    const bool is_integer = npy_is_integer(&reader->header);
    enum error_code rc =
        is_integer ? npy_reader_int64(reader, first * columns, count * columns, whole, err)
                   : npy_reader_float(reader, first * columns, count * columns, real, err);
    must(labels->table.column);
    for (uint64_t r = 0; rc == ERROR_NONE && r < count; r++) {
        for (uint64_t c = 0; c < columns; c++)
            labels->table.column[c] =
                is_integer ? (double)whole[r * columns + c] : (double)real[r * columns + c];
        rc = take_row(labels, err);
    }
    return rc;
}

static enum error_code read_array(struct labels *labels, const struct npy_reader *reader,
                                  struct error *err)
{
    const struct npy_header *header = &reader->header;
    int64_t *whole = NULL;
    float *real = NULL;
    if (header->dimension_count < 1 || header->dimension_count > 2 ||
        header->shape[0] != labels->table.node_count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %" PRIu64 " rows of labels, one for each %s, found %" PRIu64
                         " in %" PRIu32 " dimensions",
                         labels->table.path, labels->table.node_count,
                         task_subject(labels->table.task), header->shape[0],
                         header->dimension_count);
    enum error_code rc = label_table_columns(
        &labels->table, header->dimension_count == 2 ? header->shape[1] : 1, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&whole, PIECE_ELEMENTS, "a piece of the labels", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&real, PIECE_ELEMENTS, "a piece of the labels", err);
    while (rc == ERROR_NONE && labels->row_count < labels->table.node_count) {
        must(labels->table.column_count > 0);
        const uint64_t left = labels->table.node_count - labels->row_count;
        const uint64_t fit = PIECE_ELEMENTS / labels->table.column_count;
        rc =
            take_rows(labels, reader, labels->row_count, left < fit ? left : fit, whole, real, err);
    }
    memory_free(whole);
    memory_free(real);
    return rc;
}

static enum error_code read_npy(struct labels *labels, struct error *err)
{
    struct npy_reader reader = {0};
    enum error_code rc = npy_reader_open(&reader, labels->table.path, err);
    if (rc == ERROR_NONE)
        rc = read_array(labels, &reader, err);
    npy_reader_close(&reader);
    return rc;
}

enum error_code label_reader_run(const char *path, uint64_t node_count, uint32_t class_count,
                                 enum task_kind task, struct dataset_builder *builder,
                                 struct error *err)
{
    struct labels labels = {
        .table = {
            .path = path, .node_count = node_count, .class_count = class_count, .task = task}};
    enum error_code rc =
        input_files_ends_in(path, ".npy") ? read_npy(&labels, err) : read_text(&labels, err);
    if (rc == ERROR_NONE)
        rc = label_table_push(&labels.table, labels.first_line, builder, err);
    label_table_release(&labels.table);
    return rc;
}
