/*
 * edge_sections - the edge columns of a record: one section for each column that is there, with the
 * name in edge_column[].
 *
 *   "edge_widths"  U32 [.]  elements of an edge in each column, in the order of enum edge_column,
 *                           up to the last column that is there; without any column there is no
 *                           such section
 *   <column name>  [edges * width], of the column's element type
 *
 * So a new kind of column does not change records that lack it.
 */
#ifndef STORE_RECORDS_DATASET_EDGE_SECTIONS_H
#define STORE_RECORDS_DATASET_EDGE_SECTIONS_H

#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "store/objects/record.h"

#include <stdint.h>

/* Adds only the section "edge_widths"; `width` is borrowed until the record is stored. */
void edge_sections_add_widths(struct record *record, const struct edge_widths *width);
/* Fails: ERROR_CORRUPT for an unknown column, or a width that the column cannot have. */
MUST_CHECK enum error_code edge_sections_get_widths(const struct record_view *view,
                                                    struct edge_widths *out, struct error *err);

/* Adds all of `columns` [edge_count], which are borrowed until the record is stored. */
void edge_sections_add(struct record *record, const struct edge_columns_view *columns,
                       uint64_t edge_count);
/* Borrows from the view. Fails: ERROR_CORRUPT naming record and section. */
MUST_CHECK enum error_code edge_sections_get(const struct record_view *view, uint64_t edge_count,
                                             struct edge_columns_view *out, struct error *err);

#endif
