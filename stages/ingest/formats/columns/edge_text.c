#include "stages/ingest/formats/columns/edge_text.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/tables/edge_fields.h"

#include <assert.h>
#include <inttypes.h>

static_assert(EDGE_COLUMN_WIDTH_MAX == 65536, "as a message says");

struct edge_text {
    char path[FILE_PATH_SIZE];
    enum edge_column column;
    uint32_t width;
    struct value_notes *notes;
    struct line_reader *reader;
    struct text_line line; /* the next line to read; after the last one, its number is kept */
    bool found;            /* false after the last line */
};

static enum error_code take_width(struct edge_text *text, struct error *err)
{
    struct field none;
    const size_t count =
        text->found ? delimited_split(text->line.text, text->line.size, DELIMITER_COMMA, &none, 1)
                    : 0;
    text->width = count <= EDGE_COLUMN_WIDTH_MAX ? (uint32_t)count : 0;
    if (text->width && edge_column_may_be(text->column, text->width))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT, "%s:1: expected %s for the %s, found %zu", text->path,
                     edge_column[text->column].has_width ? "1 to 65536 columns" : "1 column",
                     edge_column[text->column].plural, count);
}

/* Opens a column on an open reader. Owns the reader from here on, also if it fails. */
static enum error_code open_on(struct line_reader *reader, enum edge_column column,
                               struct edge_text **out, struct error *err)
{
    struct edge_text *text = NULL;
    enum error_code rc = memory_new(&text, 1, "a file of a column of edges", err);
    if (rc != ERROR_NONE) {
        line_reader_close(reader);
        return rc;
    }
    text->column = column;
    text->reader = reader;
    rc = file_path(text->path, err, "%s", line_reader_name(reader));
    if (rc == ERROR_NONE)
        rc = line_reader_next(text->reader, &text->line, &text->found, err);
    if (rc == ERROR_NONE)
        rc = take_width(text, err);
    if (rc == ERROR_NONE)
        *out = text;
    else
        edge_text_close(text);
    return rc;
}

enum error_code edge_text_open(const char *path, enum edge_column column, struct edge_text **out,
                               struct error *err)
{
    struct line_reader *reader = NULL;
    *out = NULL;
    const enum error_code rc = line_reader_open(path, &reader, err);
    return rc == ERROR_NONE ? open_on(reader, column, out, err) : rc;
}

enum error_code edge_text_open_memory(const char *name, const void *data, size_t size,
                                      enum edge_column column, struct edge_text **out,
                                      struct error *err)
{
    struct line_reader *reader = NULL;
    *out = NULL;
    const enum error_code rc = line_reader_open_memory(name, data, size, &reader, err);
    return rc == ERROR_NONE ? open_on(reader, column, out, err) : rc;
}

void edge_text_close(struct edge_text *text)
{
    if (!text)
        return;
    line_reader_close(text->reader);
    memory_free(text);
}

uint32_t edge_text_width(const struct edge_text *text)
{
    return text->width;
}

const char *edge_text_path(const struct edge_text *text)
{
    return text->path;
}

void edge_text_set_notes(struct edge_text *text, struct value_notes *notes)
{
    text->notes = notes;
}

bool edge_text_is_done(const struct edge_text *text)
{
    return !text->found;
}

static enum error_code parse_line(const struct edge_text *text, void *row, struct error *err)
{
    const struct text_line *line = &text->line;
    struct delimited cursor;
    struct field field;
    uint32_t found = 0;
    enum error_code rc = ERROR_NONE;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    for (; rc == ERROR_NONE && delimited_next(&cursor, &field); found++)
        if (found < text->width)
            rc = edge_fields_value(&field, text->column, text->notes, text->path, line->number, row,
                                   found, err);
    if (rc == ERROR_NONE && found != text->width)
        rc = error_set(
            err, ERROR_INPUT, "%s:%" PRId64 ": expected %" PRIu32 " columns of %s, found %" PRIu32,
            text->path, line->number, text->width, edge_column[text->column].plural, found);
    return rc;
}

enum error_code edge_text_read(struct edge_text *text, size_t count, void *data, struct error *err)
{
    const size_t row_bytes = edge_column_bytes(text->column, text->width);
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        if (!text->found)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": expected a line for each edge, found the end of the "
                             "file and more edges" ADVISE_COPY,
                             text->path, text->line.number + 1);
        rc = parse_line(text, (char *)data + i * row_bytes, err);
        if (rc == ERROR_NONE)
            rc = line_reader_next(text->reader, &text->line, &text->found, err);
    }
    return rc;
}
