/*
 * edge_sections - edge columns in a record: one section a column that is there, by the name in edge_column[].
 *
 *   "edge_widths"  U32 [.]  elements of an edge in each column, in the order of enum edge_column, up to the last one
 *                           that is there; without any column there is no such section
 *   <column name>  [edges * width], of the column's element type
 *
 * So a column more changes no record that lacks it.
 */
#ifndef STORE_RECORDS_EDGE_SECTIONS_H
#define STORE_RECORDS_EDGE_SECTIONS_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "store/objects/record.h"

#include <stdint.h>

/* The section "edge_widths" alone; `width` is borrowed until the record is stored. */
void edge_sections_add_widths(struct record *record, const struct edge_widths *width);
/* Fails: ERROR_CORRUPT for a column that there is not, or a width that it cannot have. */
MUST_CHECK enum error_code edge_sections_get_widths(const struct record_view *view,
                                                    struct edge_widths *out, struct error *err);

/* All of `columns` [edge_count], borrowed until the record is stored. */
void edge_sections_add(struct record *record, const struct edge_columns_view *columns,
                       uint64_t edge_count);
/* Borrowed from the view. Fails: ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code edge_sections_get(const struct record_view *view, uint64_t edge_count,
                                             struct edge_columns_view *out, struct error *err);

#endif
