/* section_checks - what the elements of a section may be, and the messages that refuse others. */
#ifndef STORE_RECORDS_SECTION_CHECKS_H
#define STORE_RECORDS_SECTION_CHECKS_H

#include "common/base/error.h"
#include "store/objects/record.h"

#include <stdbool.h>
#include <stdint.h>

struct element_bounds {
    unsigned checks;       /* enum section_check (section_table.h) */
    uint64_t least, limit; /* least <= element < limit; UINT64_MAX for `limit`: any */
};

/* Checks `data` [count]. Bounds and order are those of unsigned integers; SECTION_FINITE is for
 * floats. Fails: ERROR_CORRUPT naming record, section, entry, expected and found. */
MUST_CHECK enum error_code section_elements_check(const struct record_view *view, const char *name,
                                                  enum element_type type, const void *data,
                                                  uint64_t count,
                                                  const struct element_bounds *bounds,
                                                  struct error *err);
enum { SECTION_RANGE_SIZE = 64 };
/* Returns `out`: "3 to 7", or "3 or more" if any number may be. */
const char *section_range_text(uint64_t least, uint64_t most, char out[SECTION_RANGE_SIZE]);
/* Says that a number of a section, `what` or the only one if that is NULL, is not `least` to
 * `most`. Returns ERROR_CORRUPT. */
enum error_code section_refuse_number(const struct record_view *view, const char *section,
                                      const char *what, uint64_t least, uint64_t most,
                                      uint64_t found, struct error *err);
/* Returns whether the text may be part of a key: [A-Za-z0-9._-]+ without a dot in front. An id with
 * a '/' or a ".." in it would lead out of its place. */
bool section_text_is_id(const char *text);

#endif
