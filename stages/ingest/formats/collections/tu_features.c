#include "stages/ingest/formats/collections/tu_features.h"

#include "common/base/memory.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/columns/feature_text.h"
#include "stages/ingest/formats/columns/integer_column.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_FLOATS = 1 << 20, LABEL_COLUMNS_MOST = 65536 };

struct rows {         /* the state of one run */
    const char *path; /* for messages */
    struct float_loss *loss;
    uint64_t node_count, done;
    struct line_reader *reader; /* the file of attributes; NULL: there is none */
    struct integer_column label;
    int64_t least; /* the least label */
    uint32_t attributes, columns;
    uint64_t piece_limit;
    float *piece; /* [piece_limit, attributes + columns] */
};

/* Reads the labels, which become one column for each number from the least to the largest. */
static enum error_code read_labels(struct rows *rows, const char *path, struct error *err)
{
    enum error_code rc = integer_column_read(&rows->label, path, rows->node_count, err);
    if (rc == ERROR_NONE && rows->label.count != rows->node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " lines, one for each node, found %" PRIu64, path,
                       rows->node_count, rows->label.count);
    if (rc != ERROR_NONE)
        return rc;
    int64_t most = rows->least = rows->label.value[0];
    for (uint64_t i = 1; i < rows->label.count; i++) {
        const int64_t value = rows->label.value[i];
        most = value > most ? value : most;
        rows->least = value < rows->least ? value : rows->least;
    }
    if (most < INT32_MIN || most > INT32_MAX || rows->least < INT32_MIN ||
        most - rows->least >= LABEL_COLUMNS_MOST)
        return error_set(err, ERROR_INPUT,
                         "%s: labels go from %" PRId64 " to %" PRId64
                         ", which would be more than %d columns: are these numbers attributes?",
                         path, rows->least, most, LABEL_COLUMNS_MOST);
    rows->columns = (uint32_t)(most - rows->least + 1);
    return ERROR_NONE;
}

static enum error_code next_line(struct rows *rows, struct text_line *line, struct error *err)
{
    bool found = false;
    const enum error_code rc = line_reader_next(rows->reader, line, &found, err);
    if (rc != ERROR_NONE || found)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRIu64 ": expected %" PRIu64
                     " lines, one for each node, found the end of the file" ADVISE_COPY,
                     rows->path, rows->done + 1, rows->node_count);
}

static enum error_code read_attributes(struct rows *rows, float *out, struct error *err)
{
    struct text_line line;
    struct delimited cursor;
    enum error_code rc = next_line(rows, &line, err);
    if (rc != ERROR_NONE)
        return rc;
    delimited_begin(&cursor, line.text, line.size, DELIMITER_COMMA);
    return feature_text_parse(rows->path, line.number, &cursor, 0, rows->attributes, out,
                              rows->loss, err);
}

/* Opens the attributes. The first line shows how many there are; it is read again with the
 * others. */
static enum error_code open_attributes(struct rows *rows, struct error *err)
{
    struct text_line line;
    struct delimited cursor;
    enum error_code rc = line_reader_open(rows->path, &rows->reader, err);
    if (rc == ERROR_NONE)
        rc = next_line(rows, &line, err);
    if (rc != ERROR_NONE)
        return rc;
    delimited_begin(&cursor, line.text, line.size, DELIMITER_COMMA);
    rc = feature_text_dim(rows->path, line.number, cursor, &rows->attributes, err);
    line_reader_close(rows->reader);
    rows->reader = NULL;
    return rc == ERROR_NONE ? line_reader_open(rows->path, &rows->reader, err) : rc;
}

static enum error_code push_piece(struct rows *rows, struct dataset_builder *builder,
                                  struct error *err)
{
    const uint32_t dim = rows->attributes + rows->columns;
    const uint64_t left = rows->node_count - rows->done;
    const uint64_t count = left < rows->piece_limit ? left : rows->piece_limit;
    enum error_code rc = ERROR_NONE;
    memset(rows->piece, 0, count * dim * sizeof *rows->piece);
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++, rows->done++) {
        float *row = rows->piece + i * dim;
        if (rows->reader)
            rc = read_attributes(rows, row, err);
        if (rows->columns)
            row[rows->attributes + (rows->label.value[rows->done] - rows->least)] = 1;
    }
    return rc == ERROR_NONE
               ? dataset_builder_add_features(builder, rows->path, rows->piece, count, dim, err)
               : rc;
}

static enum error_code expect_end(struct rows *rows, struct error *err)
{
    struct text_line line;
    bool found = false;
    const enum error_code rc =
        rows->reader ? line_reader_next(rows->reader, &line, &found, err) : ERROR_NONE;
    if (rc != ERROR_NONE || !found || line.size == 0)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected %" PRIu64 " lines, one for each node, found more",
                     rows->path, line.number, rows->node_count);
}

enum error_code tu_features_push(const char *attributes, const char *labels, uint64_t node_count,
                                 struct dataset_builder *builder, struct error *err)
{
    struct rows rows = {.path = *attributes ? attributes : labels,
                        .loss = &dataset_builder_notes(builder)->loss,
                        .node_count = node_count};
    enum error_code rc = *labels ? read_labels(&rows, labels, err) : ERROR_NONE;
    if (rc == ERROR_NONE && *attributes)
        rc = open_attributes(&rows, err);
    const uint32_t dim = rows.attributes + rows.columns;
    if (rc == ERROR_NONE && dim) {
        rows.piece_limit = dim < PIECE_FLOATS ? PIECE_FLOATS / dim : 1;
        rc = memory_new(&rows.piece, rows.piece_limit * dim, "a piece of the features", err);
        while (rc == ERROR_NONE && rows.done < node_count)
            rc = push_piece(&rows, builder, err);
        if (rc == ERROR_NONE)
            rc = expect_end(&rows, err);
    }
    memory_free(rows.piece);
    line_reader_close(rows.reader);
    integer_column_release(&rows.label);
    return rc;
}
