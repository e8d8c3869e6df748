#include "store/records/batch/packed_widths.h"

#include "common/numbers/packed_integers.h"

#include <inttypes.h>

enum error_code packed_widths_get(const struct record_view *view, const char *const *name,
                                  int count, const uint32_t **out, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, "width", ELEMENT_U32, count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = data;
    for (int i = 0; i < count; i++)
        if ((*out)[i] > PACKED_WIDTH_MAX)
            return error_set(
                err, ERROR_CORRUPT,
                "record %s: width[%d]: expected at most %d bits for section %s, found %" PRIu32,
                view->key, i, PACKED_WIDTH_MAX, name[i], (*out)[i]);
    return ERROR_NONE;
}
