#include "store/records/section_checks.h"

#include "common/numbers/cpu_kernel.h"
#include "store/records/parameter_values.h"
#include "store/records/section_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool section_text_is_id(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    return text[0] && text[0] != '.' && strspn(text, allowed) == strlen(text);
}

static enum error_code check_finite(const struct record_view *view, const char *name,
                                    enum element_type type, const void *data, uint64_t count,
                                    struct error *err)
{
    const double *wide = data;
    uint64_t bad = type == ELEMENT_F64 ? 0 : count; /* integers are finite */
    if (type == ELEMENT_F32)
        bad = parameter_values_first_bad(data, count);
    while (type == ELEMENT_F64 && bad < count && isfinite(wide[bad]))
        bad++;
    if (bad == count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: \"%s\" entry %" PRIu64 ": expected a finite number, found %g",
                     view->key, name, bad,
                     type == ELEMENT_F32 ? (double)((const float *)data)[bad] : wide[bad]);
}

static uint64_t element_at(enum element_type type, const void *data, uint64_t i)
{
    const size_t width = element_size(type);
    uint64_t value = 0;
    memcpy(&value, (const char *)data + i * width, width);
    return value;
}

/* Node ids are the long arrays, and nearly all of them are sound: these loops have no exit, so that
 * they run in vectors. */
CPU_KERNEL_OF(bool, are_outside,
              (const uint32_t *value, uint64_t count, uint32_t least, uint32_t most),
              (value, count, least, most))
{
    uint32_t bad = 0;
    for (uint64_t i = 0; i < count; i++)
        bad |= (uint32_t)(value[i] < least) | (uint32_t)(value[i] > most);
    return bad;
}

CPU_KERNEL_OF(bool, fall, (const uint32_t *value, uint64_t count), (value, count))
{
    uint32_t bad = 0;
    for (uint64_t i = 1; i < count; i++)
        bad |= (uint32_t)(value[i] <= value[i - 1]);
    return bad;
}

/* Returns whether one look at an array of U32 shows that each element is as it must be. */
static bool is_sound(enum element_type type, const void *data, uint64_t count,
                     const struct element_bounds *bounds)
{
    if (type != ELEMENT_U32 ||
        bounds->checks & (SECTION_FROM_0 | SECTION_RISES | SECTION_TO_LIMIT) ||
        bounds->limit == 0 || bounds->least > UINT32_MAX)
        return false;
    const uint64_t most = bounds->limit - 1 < UINT32_MAX ? bounds->limit - 1 : UINT32_MAX;
    return !are_outside(data, count, (uint32_t)bounds->least, (uint32_t)most) &&
           !(bounds->checks & SECTION_ASCENDS && fall(data, count));
}

const char *section_range_text(uint64_t least, uint64_t most, char out[SECTION_RANGE_SIZE])
{
    if (most == UINT64_MAX)
        (void)snprintf(out, SECTION_RANGE_SIZE, "%" PRIu64 " or more", least);
    else
        (void)snprintf(out, SECTION_RANGE_SIZE, "%" PRIu64 " to %" PRIu64, least, most);
    return out;
}

enum error_code section_refuse_number(const struct record_view *view, const char *section,
                                      const char *what, uint64_t least, uint64_t most,
                                      uint64_t found, struct error *err)
{
    char range[SECTION_RANGE_SIZE];
    return error_set(err, ERROR_CORRUPT, "record %s: \"%s\"%s%s: expected %s, found %" PRIu64,
                     view->key, section, what ? " " : "", what ? what : "",
                     section_range_text(least, most, range), found);
}

/* The walk that finds the first element that is not as it must be, and says why. */
static enum error_code check_each(const struct record_view *view, const char *name,
                                  enum element_type type, const void *data, uint64_t count,
                                  const struct element_bounds *bounds, struct error *err)
{
    for (uint64_t i = 0, before = 0; i < count; i++) {
        const uint64_t value = element_at(type, data, i);
        const char *expected = NULL;
        uint64_t number = before;
        if (i && bounds->checks & SECTION_ASCENDS && value <= before)
            expected = "above ";
        else if (i && bounds->checks & SECTION_RISES && value < before)
            expected = "at least ";
        else if (!i && bounds->checks & SECTION_FROM_0 && value)
            expected = "";
        else if (value >= bounds->limit && bounds->limit != UINT64_MAX)
            expected = "below ", number = bounds->limit;
        else if (value < bounds->least)
            expected = "at least ", number = bounds->least;
        else if (i == count - 1 && bounds->checks & SECTION_TO_LIMIT && value != bounds->limit - 1)
            expected = "", number = bounds->limit - 1;
        if (expected)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: \"%s\" entry %" PRIu64 ": expected %s%" PRIu64
                             ", found %" PRIu64,
                             view->key, name, i, expected, number, value);
        before = value;
    }
    return ERROR_NONE;
}

enum error_code section_elements_check(const struct record_view *view, const char *name,
                                       enum element_type type, const void *data, uint64_t count,
                                       const struct element_bounds *bounds, struct error *err)
{
    if (bounds->checks & SECTION_FINITE)
        return check_finite(view, name, type, data, count, err);
    if ((!bounds->checks && !bounds->least && bounds->limit == UINT64_MAX) ||
        is_sound(type, data, count, bounds))
        return ERROR_NONE;
    return check_each(view, name, type, data, count, bounds, err);
}
