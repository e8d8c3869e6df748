/*
 * packed_widths - the section "width" of records with packed arrays: how many bits a value of each array takes.
 */
#ifndef STORE_RECORDS_PACKED_WIDTHS_H
#define STORE_RECORDS_PACKED_WIDTHS_H

#include "store/objects/record.h"

#include <stdint.h>

/* *out [count], borrowed from the view: one for each array, which `name` [count] calls by its section.
 * Fails: ERROR_CORRUPT for a section that is not there or not as long, and for more bits than packed integers have. */
MUST_CHECK enum error_code packed_widths_get(const struct record_view *view,
                                             const char *const *name, int count,
                                             const uint32_t **out, struct error *err);

#endif
