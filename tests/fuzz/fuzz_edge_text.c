/*
 * fuzz_edge_text - any bytes as one column of edges in a file of its own: refused naming line and file, or the same values
 * whatever pieces it is read in, as many lines as the text has, each number one that the column may hold.
 *
 * The first byte says which column and how many lines a piece has; the rest is the file, plain or gzip.
 */
#include "common/base/memory.h"
#include "stages/ingest/formats/columns/edge_text.h"

#include <math.h>
#include <string.h>

static const char name[] = "edges.csv";

enum { LINES_MAX = 1 << 12 };

/* The name is libFuzzer's. NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(enum error_code rc, const struct error *err)
{
    must(rc == ERROR_INPUT && strstr(err->message, name));
}

/* The result of reading the whole file in pieces. */
struct values {
    uint32_t width;
    size_t lines, row_bytes;
    char *bytes; /* [lines, width] */
    enum error_code rc;
};

static struct values read_all(enum edge_column column, const uint8_t *data, size_t size,
                              size_t piece)
{
    struct values v = {.rc = ERROR_NONE};
    struct edge_text *text = NULL;
    struct error err = {0};
    v.rc = edge_text_open_memory(name, data, size, column, &text, &err);
    if (v.rc != ERROR_NONE) {
        check_refusal(v.rc, &err);
        must(!text);
        return v;
    }
    struct value_notes notes = {0};
    edge_text_set_notes(text, &notes);
    v.width = edge_text_width(text);
    v.row_bytes = edge_column_bytes(column, v.width);
    must(edge_column_may_be(column, v.width) && v.width > 0);
    must(strcmp(edge_text_path(text), name) == 0);
    must(!edge_text_is_done(text));
    while (v.rc == ERROR_NONE && !edge_text_is_done(text) && v.lines < LINES_MAX) {
        char *more = memory_resize(v.bytes, (v.lines + piece) * v.row_bytes, 1);
        must(more != NULL);
        v.bytes = more;
        v.rc = edge_text_read(text, piece, v.bytes + v.lines * v.row_bytes, &err);
        v.lines += piece;
    }
    if (v.rc != ERROR_NONE)
        check_refusal(v.rc, &err);
    edge_text_close(text);
    return v;
}

/* Numbers of the file are finite. */
static void check_values(enum edge_column column, const struct values *v)
{
    const size_t count = v->lines * v->width;
    for (size_t i = 0; i < count; i++)
        if (edge_column[column].type == ELEMENT_F32) {
            float value = 0;
            memcpy(&value, v->bytes + i * sizeof value, sizeof value);
            must(isfinite(value));
        } else if (edge_column[column].type == ELEMENT_F64) {
            double value = 0;
            memcpy(&value, v->bytes + i * sizeof value, sizeof value);
            must(isfinite(value));
        }
}

/* Counts the lines of plain text. */
static size_t count_lines(const uint8_t *data, size_t size)
{
    size_t lines = size > 0 && data[size - 1] != '\n';
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const enum edge_column column = (enum edge_column)(data[0] % EDGE_COLUMN_COUNT);
    const size_t piece = 1 + data[0] / EDGE_COLUMN_COUNT % 7;
    const bool is_packed = size > 2 && data[1] == 0x1f && data[2] == 0x8b;
    struct values one = read_all(column, data + 1, size - 1, 1);
    struct values many = read_all(column, data + 1, size - 1, piece);
    if (one.rc == ERROR_NONE && one.lines < LINES_MAX) {
        must(is_packed || one.lines == count_lines(data + 1, size - 1));
        check_values(column, &one);
        /* A piece that goes beyond the last line is refused. */
        must((many.rc == ERROR_NONE) == (one.lines % piece == 0));
        must(many.rc != ERROR_NONE ||
             (many.lines == one.lines && one.bytes && many.bytes &&
              memcmp(many.bytes, one.bytes, one.lines * one.row_bytes) == 0));
    } else if (one.rc != ERROR_NONE) {
        must(many.rc != ERROR_NONE || many.lines >= LINES_MAX);
    }
    memory_free(one.bytes);
    memory_free(many.bytes);
    return 0;
}
