#include "stages/ingest/label_reader.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/delimited.h"
#include "common/formats/line_reader.h"
#include "common/formats/npy.h"
#include "stages/ingest/input_files.h"

#include <inttypes.h>
#include <math.h>

enum { COLUMN_MAX = 65536, PIECE_ELEMENTS = 1 << 17 };

struct labels { /* one run */
    const char *path;
    uint64_t node_count, row_count;
    uint32_t class_count; /* known from elsewhere, or 0 */
    uint32_t column_count;
    enum task_choice task;
    int64_t first_line; /* of row 0: 1 in text, 0 in npy */
    int64_t *label;     /* [node_count], or */
    float *multi;       /* [node_count, column_count] */
    double *row;        /* [column_count], the row at hand */
};

static void labels_release(struct labels *labels)
{
    memory_free(labels->label);
    memory_free(labels->multi);
    memory_free(labels->row);
}

/* The first row, or npy's shape, tells the number of columns. */
static enum error_code set_columns(struct labels *labels, uint64_t count, struct error *err)
{
    size_t cells = 0;
    if (count < 1 || count > COLUMN_MAX)
        return error_set(err, ERROR_INPUT, "%s: expected 1 to %d label columns, found %" PRIu64,
                         labels->path, COLUMN_MAX, count);
    if (count > 1 && labels->task == TASK_CHOICE_SINGLE)
        return error_set(err, ERROR_INPUT,
                         "%s: expected 1 label column as ingest.task says (single_label), found "
                         "%" PRIu64,
                         labels->path, count);
    labels->column_count = (uint32_t)count;
    const bool is_multi = count > 1 || labels->task == TASK_CHOICE_MULTI;
    if (__builtin_mul_overflow(labels->node_count, count, &cells))
        return error_set(err, ERROR_INPUT, "%s: too many labels", labels->path);
    enum error_code rc = memory_new(&labels->row, count, "a row of labels", err);
    if (rc == ERROR_NONE && is_multi)
        rc = memory_new(&labels->multi, cells, "labels", err);
    else if (rc == ERROR_NONE)
        rc = memory_new(&labels->label, cells, "labels", err);
    return rc;
}

static enum error_code take_class(struct labels *labels, int64_t line, struct error *err)
{
    const double value = labels->row[0];
    const double most = labels->class_count ? (double)labels->class_count - 1 : (double)INT32_MAX;
    if (isnan(value)) {
        labels->label[labels->row_count++] = -1;
        return ERROR_NONE;
    }
    if (!(value >= -1.0 && value <= most) || floor(value) < value)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": label: expected a class from 0 to %.0f, or -1 for none, "
                         "found %.15g",
                         labels->path, line, most, value);
    labels->label[labels->row_count++] = (int64_t)value;
    return ERROR_NONE;
}

static enum error_code take_multi(struct labels *labels, int64_t line, struct error *err)
{
    float *out = labels->multi + labels->row_count * labels->column_count;
    uint32_t nan_count = 0;
    for (uint32_t i = 0; i < labels->column_count; i++) {
        const double value = labels->row[i];
        const bool is_bit = value >= 0.0 && value <= 1.0 && !(floor(value) < value);
        nan_count += isnan(value) ? 1 : 0;
        if (!isnan(value) && !is_bit)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": label in column %" PRIu32 ": expected 0 or 1, found "
                             "%.15g",
                             labels->path, line, i + 1, value);
        out[i] = (float)value;
    }
    if (nan_count && nan_count != labels->column_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected labels in all columns or in none, found %" PRIu32
                         " of %" PRIu32,
                         labels->path, line, labels->column_count - nan_count,
                         labels->column_count);
    labels->row_count++;
    return ERROR_NONE;
}

/* Takes labels->row as the next node's. */
static enum error_code take_row(struct labels *labels, struct error *err)
{
    const int64_t line = labels->first_line + (int64_t)labels->row_count;
    return labels->multi ? take_multi(labels, line, err) : take_class(labels, line, err);
}

static enum error_code parse_line(struct labels *labels, const struct text_line *line,
                                  struct error *err)
{
    struct delimited cursor;
    struct field field;
    uint32_t at = 0;
    must(labels->row);
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    while (delimited_next(&cursor, &field)) {
        if (at < labels->column_count && !text_double(field.text, field.size, &labels->row[at]))
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": label in column %" PRIu32
                             ": expected a number, found '%.*s'",
                             labels->path, line->number, at + 1,
                             field.size < 40 ? (int)field.size : 40, field.text);
        at++;
    }
    if (at != labels->column_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %" PRIu32 " label columns, found %" PRIu32,
                         labels->path, line->number, labels->column_count, at);
    return take_row(labels, err);
}

static enum error_code take_line(struct labels *labels, const struct text_line *line,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (labels->column_count == 0)
        rc = set_columns(labels, delimited_split(line->text, line->size, DELIMITER_COMMA, NULL, 0),
                         err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "line %" PRId64, line->number);
    if ((uint64_t)line->number != labels->row_count + 1)
        return error_set(err, ERROR_INPUT, "%s:%" PRIu64 ": expected a label, found a blank line",
                         labels->path, labels->row_count + 1);
    if (labels->row_count == labels->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected %" PRIu64 " lines, one for each node, found "
                         "more",
                         labels->path, line->number, labels->node_count);
    return parse_line(labels, line, err);
}

static enum error_code read_text(struct labels *labels, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    labels->first_line = 1;
    enum error_code rc = line_reader_open(labels->path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.size)
            rc = take_line(labels, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && labels->row_count != labels->node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRIu64 ": expected %" PRIu64 " lines, one for each node, found the "
                       "end of the file",
                       labels->path, labels->row_count + 1, labels->node_count);
    return rc;
}

/* Rows [first, first + count) of an array, as doubles; one of the two buffers is used. */
static enum error_code take_rows(struct labels *labels, const struct npy_reader *reader,
                                 uint64_t first, uint64_t count, int64_t *whole, float *real,
                                 struct error *err)
{
    const uint64_t columns = labels->column_count;
    const bool is_integer = npy_is_integer(&reader->header);
    enum error_code rc =
        is_integer ? npy_reader_int64(reader, first * columns, count * columns, whole, err)
                   : npy_reader_float(reader, first * columns, count * columns, real, err);
    must(labels->row);
    for (uint64_t r = 0; rc == ERROR_NONE && r < count; r++) {
        for (uint64_t c = 0; c < columns; c++)
            labels->row[c] =
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
        header->shape[0] != labels->node_count)
        return error_set(
            err, ERROR_INPUT,
            "%s: expected %" PRIu64 " rows of labels, one for each node, found %" PRIu64
            " in %" PRIu32 " dimensions",
            labels->path, labels->node_count, header->shape[0], header->dimension_count);
    enum error_code rc =
        set_columns(labels, header->dimension_count == 2 ? header->shape[1] : 1, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&whole, PIECE_ELEMENTS, "a piece of the labels", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&real, PIECE_ELEMENTS, "a piece of the labels", err);
    while (rc == ERROR_NONE && labels->row_count < labels->node_count) {
        must(labels->column_count > 0);
        const uint64_t left = labels->node_count - labels->row_count;
        const uint64_t fit = PIECE_ELEMENTS / labels->column_count;
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
    enum error_code rc = npy_reader_open(&reader, labels->path, err);
    if (rc == ERROR_NONE)
        rc = read_array(labels, &reader, err);
    npy_reader_close(&reader);
    return rc;
}

enum error_code label_reader_run(const char *path, uint64_t node_count, uint32_t class_count,
                                 enum task_choice task, struct dataset_builder *builder,
                                 struct error *err)
{
    struct labels labels = {
        .path = path, .node_count = node_count, .class_count = class_count, .task = task};
    enum error_code rc =
        input_files_ends_in(path, ".npy") ? read_npy(&labels, err) : read_text(&labels, err);
    if (rc == ERROR_NONE && labels.multi)
        rc = dataset_builder_set_multi_labels(builder, path, labels.multi, node_count,
                                              labels.column_count, err);
    else if (rc == ERROR_NONE)
        rc = dataset_builder_set_labels(builder, path, labels.first_line, labels.label, node_count,
                                        err);
    labels_release(&labels);
    return rc;
}
