/*
 * packed_widths - the section "width" of records with packed arrays: the bits of a value of each
 * array.
 */
#ifndef STORE_RECORDS_BATCH_PACKED_WIDTHS_H
#define STORE_RECORDS_BATCH_PACKED_WIDTHS_H

#include "store/objects/record.h"

#include <stdint.h>

/* Sets *out [count], borrowed from the view, to the width of each array; `name` [count] are their
 * sections. Fails: ERROR_CORRUPT if the section is missing or has another length, or a width is
 * above that of packed integers. */
MUST_CHECK enum error_code packed_widths_get(const struct record_view *view,
                                             const char *const *name, int count,
                                             const uint32_t **out, struct error *err);

#endif
