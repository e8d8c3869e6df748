#include "common/graph/edge_column.h"

#include "common/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct edge_column_row edge_column[EDGE_COLUMN_COUNT] = {
    [EDGE_WEIGHT] = {.name = "weight",
                     .what = "weight",
                     .plural = "edge weights",
                     .file = "edge-weight",
                     .type = ELEMENT_F32},
    [EDGE_TYPE] = {.name = "edge_type",
                   .what = "edge type",
                   .plural = "edge types",
                   .file = "edge-type",
                   .type = ELEMENT_U16,
                   .distinguishes = true},
    [EDGE_TIME_F64] = {.name = "time",
                       .shown = "time",
                       .what = "time",
                       .plural = "edge times",
                       .type = ELEMENT_F64,
                       .distinguishes = true},
    [EDGE_ID] = {.name = "edge_id",
                 .what = "edge id",
                 .plural = "edge ids",
                 .file = "edge-id",
                 .type = ELEMENT_I64},
    [EDGE_FEATURE] = {.name = "edge_feature",
                      .what = "edge feature",
                      .plural = "edge features",
                      .file = "edge-feat",
                      .type = ELEMENT_F32,
                      .has_width = true},
    [EDGE_LABEL] = {.name = "label",
                    .what = "edge label",
                    .plural = "edge labels",
                    .type = ELEMENT_F32},
    [EDGE_TIME] = {.name = "time64",
                   .shown = "time",
                   .what = "time",
                   .plural = "edge times",
                   .file = "edge-time",
                   .type = ELEMENT_I64,
                   .distinguishes = true},
};

const char *edge_column_shown(enum edge_column column)
{
    const struct edge_column_row *row = &edge_column[column];
    return row->shown ? row->shown : row->name;
}

size_t edge_widths_bytes(const struct edge_widths *width)
{
    size_t bytes = 0;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        bytes += edge_column_bytes((enum edge_column)c, width->of[c]);
    return bytes;
}

bool edge_widths_equal(const struct edge_widths *a, const struct edge_widths *b)
{
    return memcmp(a->of, b->of, sizeof a->of) == 0;
}

bool edge_column_may_be(enum edge_column column, uint32_t width)
{
    return width <= (edge_column[column].has_width ? (uint32_t)EDGE_COLUMN_WIDTH_MAX : 1U);
}

void edge_widths_text(const struct edge_widths *width, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (int c = 0; c < EDGE_COLUMN_COUNT && at < size; c++)
        if (width->of[c])
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "",
                                   edge_column[c].plural);
}

enum error_code edge_columns_new(struct edge_columns *out, const struct edge_widths *width,
                                 uint64_t count, const char *what, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *out = (struct edge_columns){.width = *width};
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (width->of[c])
            rc = memory_new_bytes(&out->data[c], count,
                                  edge_column_bytes((enum edge_column)c, width->of[c]), what, err);
    if (rc != ERROR_NONE)
        edge_columns_release(out);
    return rc;
}

void edge_columns_release(struct edge_columns *columns)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        memory_free(columns->data[c]);
    *columns = (struct edge_columns){0};
}

struct edge_columns_view edge_columns_from(const struct edge_columns_view *columns, uint64_t first)
{
    struct edge_columns_view view = {.width = columns->width};
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (columns->data[c])
            view.data[c] = edge_columns_at(columns, (enum edge_column)c, first);
    return view;
}

struct edge_columns_view edge_columns_read(const struct edge_columns *columns, uint64_t first)
{
    struct edge_columns_view view = {.width = columns->width};
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        view.data[c] = columns->data[c];
    return edge_columns_from(&view, first);
}

const void *edge_columns_at(const struct edge_columns_view *columns, enum edge_column column,
                            uint64_t edge)
{
    return (const char *)columns->data[column] +
           edge * edge_column_bytes(column, columns->width.of[column]);
}

void edge_columns_copy(const struct edge_columns *to, uint64_t at,
                       const struct edge_columns_view *from, uint64_t first, uint64_t count)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        if (!to->width.of[c] || !count)
            continue;
        const size_t bytes = edge_column_bytes((enum edge_column)c, to->width.of[c]);
        memcpy((char *)to->data[c] + at * bytes, (const char *)from->data[c] + first * bytes,
               count * bytes);
    }
}

void edge_columns_gather(const struct edge_columns *to, uint64_t at,
                         const struct edge_columns_view *from, const uint64_t *order,
                         uint64_t count)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        if (!to->width.of[c])
            continue;
        const size_t bytes = edge_column_bytes((enum edge_column)c, to->width.of[c]);
        char *out = (char *)to->data[c] + at * bytes;
        for (uint64_t i = 0; i < count; i++)
            memcpy(out + i * bytes, (const char *)from->data[c] + (uint32_t)order[i] * bytes,
                   bytes);
    }
}

void edge_columns_pack(const struct edge_columns_view *from, uint64_t edge, char *bytes)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        if (!from->width.of[c])
            continue;
        const size_t size = edge_column_bytes((enum edge_column)c, from->width.of[c]);
        memcpy(bytes, (const char *)from->data[c] + edge * size, size);
        bytes += size;
    }
}

void edge_columns_unpack(const struct edge_columns *to, uint64_t edge, const char *bytes)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        if (!to->width.of[c])
            continue;
        const size_t size = edge_column_bytes((enum edge_column)c, to->width.of[c]);
        memcpy((char *)to->data[c] + edge * size, bytes, size);
        bytes += size;
    }
}

/* Returns one element as a double. A large integer is rounded. */
static double number_at(enum element_type type, const void *data, uint64_t i)
{
    if (type == ELEMENT_U16)
        return ((const uint16_t *)data)[i];
    if (type == ELEMENT_F32)
        return (double)((const float *)data)[i];
    return type == ELEMENT_F64 ? ((const double *)data)[i] : (double)((const int64_t *)data)[i];
}

/* Compares element `i` of x with element `j` of y. Integers of 64 bits are compared exactly. */
static int compare_at(enum element_type type, const void *x, uint64_t i, const void *y, uint64_t j)
{
    if (type == ELEMENT_I64) {
        const int64_t a = ((const int64_t *)x)[i], b = ((const int64_t *)y)[j];
        return (a > b) - (a < b);
    }
    const double a = number_at(type, x, i), b = number_at(type, y, j);
    return (a > b) - (a < b);
}

int edge_columns_compare(const struct edge_columns_view *a, uint64_t i,
                         const struct edge_columns_view *b, uint64_t j)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        if (!a->data[c] || !edge_column[c].distinguishes)
            continue;
        const int order = compare_at(edge_column[c].type, a->data[c], i, b->data[c], j);
        if (order)
            return order;
    }
    return 0;
}

bool edge_widths_distinguish(const struct edge_widths *width)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (width->of[c] && edge_column[c].distinguishes)
            return true;
    return false;
}

enum edge_column edge_columns_not_finite(const struct edge_columns_view *columns, uint64_t i,
                                         double *value)
{
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t width = columns->width.of[c];
        for (uint32_t k = 0; k < width; k++) {
            *value = number_at(edge_column[c].type, columns->data[c], i * width + k);
            if (!isfinite(*value))
                return (enum edge_column)c;
        }
    }
    return EDGE_COLUMN_COUNT;
}
