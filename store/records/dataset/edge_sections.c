#include "store/records/dataset/edge_sections.h"

#include <inttypes.h>

static const char widths[] = "edge_widths";

void edge_sections_add_widths(struct record *record, const struct edge_widths *width)
{
    uint64_t count = EDGE_COLUMN_COUNT;
    while (count > 0 && !width->of[count - 1])
        count--;
    if (count > 0)
        record_add(record, widths, ELEMENT_U32, width->of, count);
}

enum error_code edge_sections_get_widths(const struct record_view *view, struct edge_widths *out,
                                         struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    *out = (struct edge_widths){0};
    if (!record_has(view, widths))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, widths, ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *width = data;
    if (count < 1 || count > EDGE_COLUMN_COUNT || !width[count - 1])
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected 1 to %d columns, the last of them there, "
                         "found %" PRIu64,
                         view->key, widths, EDGE_COLUMN_COUNT, count);
    for (uint64_t c = 0; c < count; c++) {
        if (!edge_column_may_be((enum edge_column)c, width[c]))
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section %s: column %s: expected at most %d elements an "
                             "edge, found %" PRIu32,
                             view->key, widths, edge_column[c].name,
                             edge_column[c].has_width ? EDGE_COLUMN_WIDTH_MAX : 1, width[c]);
        out->of[c] = width[c];
    }
    return ERROR_NONE;
}

void edge_sections_add(struct record *record, const struct edge_columns_view *columns,
                       uint64_t edge_count)
{
    edge_sections_add_widths(record, &columns->width);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (columns->width.of[c])
            record_add(record, edge_column[c].name, edge_column[c].type, columns->data[c],
                       edge_count * columns->width.of[c]);
}

enum error_code edge_sections_get(const struct record_view *view, uint64_t edge_count,
                                  struct edge_columns_view *out, struct error *err)
{
    *out = (struct edge_columns_view){0};
    enum error_code rc = edge_sections_get_widths(view, &out->width, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (out->width.of[c])
            rc = record_section_get(view, edge_column[c].name, edge_column[c].type,
                                    (int64_t)(edge_count * out->width.of[c]), &out->data[c], NULL,
                                    err);
    if (rc != ERROR_NONE)
        *out = (struct edge_columns_view){0};
    return rc;
}
