#include "stages/ingest/formats/columns/feature_rows.h"

#include "common/base/memory.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/columns/feature_text.h"

#include <inttypes.h>

enum { PIECE_FLOATS = 1 << 20 };

struct feature_table { /* the state of one run */
    const char *path;
    struct dataset_builder *builder;
    uint64_t expected;   /* number of rows */
    uint64_t row_count;  /* rows read so far */
    uint64_t piece_rows; /* of these, rows not pushed yet */
    uint64_t piece_limit;
    uint32_t dim;
    float *row; /* [piece_limit, dim] */
};

static enum error_code push_piece(struct feature_table *table, struct error *err)
{
    const uint64_t rows = table->piece_rows;
    table->piece_rows = 0;
    if (rows == 0)
        return ERROR_NONE;
    return dataset_builder_add_features(table->builder, table->path, table->row, rows, table->dim,
                                        err);
}

static enum error_code set_dim(struct feature_table *table, const struct text_line *line,
                               struct error *err)
{
    struct delimited cursor;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    const enum error_code rc =
        feature_text_dim(table->path, line->number, cursor, &table->dim, err);
    if (rc != ERROR_NONE)
        return rc;
    table->piece_limit = table->dim < PIECE_FLOATS ? PIECE_FLOATS / table->dim : 1;
    return memory_new(&table->row, table->piece_limit * table->dim, "a piece of the features", err);
}

static enum error_code parse_features(const struct feature_table *table,
                                      const struct text_line *line, float *out, struct error *err)
{
    struct delimited cursor;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    return feature_text_parse(table->path, line->number, &cursor, 0, table->dim, out,
                              &dataset_builder_notes(table->builder)->loss, err);
}

static enum error_code take_features(struct feature_table *table, const struct text_line *line,
                                     struct error *err)
{
    enum error_code rc = table->dim ? ERROR_NONE : set_dim(table, line, err);
    if (rc == ERROR_NONE && table->row_count == table->expected)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %" PRIu64 " lines, one for each node, found more",
                       table->path, line->number, table->expected);
    if (rc == ERROR_NONE)
        rc = parse_features(table, line, table->row + table->piece_rows * table->dim, err);
    if (rc != ERROR_NONE)
        return rc;
    table->row_count++;
    table->piece_rows++;
    return table->piece_rows == table->piece_limit ? push_piece(table, err) : ERROR_NONE;
}

enum error_code feature_rows_push(const char *path, uint64_t row_count,
                                  struct dataset_builder *builder, struct error *err)
{
    struct feature_table table = {.path = path, .builder = builder, .expected = row_count};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = take_features(&table, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && table.row_count != row_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRIu64 ": expected %" PRIu64 " lines, one for each node, found the "
                       "end of the file" ADVISE_COPY,
                       path, table.row_count + 1, row_count);
    if (rc == ERROR_NONE)
        rc = push_piece(&table, err);
    memory_free(table.row);
    return rc;
}

enum error_code feature_rows_dim(const char *path, uint32_t *dim, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    struct delimited cursor;
    bool found = false;
    *dim = 0;
    enum error_code rc = line_reader_open(path, &reader, err);
    if (rc == ERROR_NONE)
        rc = line_reader_next(reader, &line, &found, err);
    if (rc == ERROR_NONE && found) {
        delimited_begin(&cursor, line.text, line.size, DELIMITER_COMMA);
        rc = feature_text_dim(path, line.number, cursor, dim, err);
    }
    line_reader_close(reader);
    return rc;
}
