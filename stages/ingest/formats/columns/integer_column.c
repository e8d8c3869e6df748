#include "stages/ingest/formats/columns/integer_column.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>

static enum error_code append(struct integer_column *column, int64_t value, struct error *err)
{
    const enum error_code rc =
        memory_grow(&column->value, &column->capacity, column->count + 1, "integers", err);
    if (rc == ERROR_NONE)
        column->value[column->count++] = value;
    return rc;
}

static enum error_code add_line(struct integer_column *column, const struct text_line *line,
                                const char *path, uint64_t limit, struct error *err)
{
    struct field field = {0};
    int64_t value = 0;
    const size_t count = delimited_split(line->text, line->size, DELIMITER_COMMA, &field, 1);
    if (count != 1 || !text_int64(field.text, field.size, &value))
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected one integer, found '%.*s'",
                         path, line->number, line->size < 40 ? (int)line->size : 40, line->text);
    if ((uint64_t)line->number != column->count + 1)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRIu64 ": expected one integer, found a blank line", path,
                         column->count + 1);
    if (column->count == limit)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected at most %" PRIu64 " lines, found more", path,
                         line->number, limit);
    return append(column, value, err);
}

static enum error_code read_text(struct integer_column *column, const char *path, uint64_t limit,
                                 struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    column->first_line = 1;
    enum error_code rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.size)
            rc = add_line(column, &line, path, limit, err);
    }
    line_reader_close(reader);
    return rc;
}

static enum error_code read_npy(struct integer_column *column, const char *path, uint64_t limit,
                                struct error *err)
{
    struct npy_reader reader = {0};
    enum error_code rc = npy_reader_open(&reader, path, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t count = reader.header.element_count;
    if (reader.header.dimension_count != 1)
        rc = error_set(err, ERROR_INPUT, "%s: expected 1 dimension, found %" PRIu32, path,
                       reader.header.dimension_count);
    else if (count > limit)
        rc =
            error_set(err, ERROR_INPUT, "%s: expected at most %" PRIu64 " elements, found %" PRIu64,
                      path, limit, count);
    if (rc == ERROR_NONE)
        rc = memory_new(&column->value, count, "a column of integers", err);
    if (rc == ERROR_NONE) {
        column->count = column->capacity = count;
        rc = npy_reader_int64(&reader, 0, count, column->value, err);
    }
    npy_reader_close(&reader);
    return rc;
}

enum error_code integer_column_read(struct integer_column *column, const char *path, uint64_t limit,
                                    struct error *err)
{
    *column = (struct integer_column){0};
    const enum error_code rc = input_files_ends_in(path, ".npy")
                                   ? read_npy(column, path, limit, err)
                                   : read_text(column, path, limit, err);
    if (rc != ERROR_NONE)
        integer_column_release(column);
    return rc;
}

void integer_column_release(struct integer_column *column)
{
    memory_free(column->value);
    *column = (struct integer_column){0};
}
