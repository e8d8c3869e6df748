#include "common/formats/text/float_loss.h"

#include "common/base/text.h"
#include "common/formats/text/scaled_decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool holds(float stored, int64_t value)
{
    return stored >= -0x1p63F && stored < 0x1p63F && (int64_t)stored == value;
}

/* Returns the end of a path, which is the part that a reader looks for. */
static const char *end_of(const char *path)
{
    const size_t size = strlen(path);
    return size >= FLOAT_LOSS_PATH_SIZE ? path + size - (FLOAT_LOSS_PATH_SIZE - 1) : path;
}

static void note(struct float_loss *loss, const struct float_place *place, const char *text,
                 float stored)
{
    char column[96];
    loss->count++;
    for (int i = 0; i < loss->column_count; i++)
        if (loss->first[i].column == place->column &&
            strcmp(loss->first[i].path, end_of(place->path)) == 0)
            return;
    if (loss->column_count == FLOAT_LOSS_COLUMNS)
        return;
    if (place->name)
        (void)snprintf(column, sizeof column, "column %.60s", place->name);
    else
        (void)snprintf(column, sizeof column, "column %" PRIu64, place->column);
    loss->first[loss->column_count].column = place->column;
    must(
        text_copy(loss->first[loss->column_count].path, FLOAT_LOSS_PATH_SIZE, end_of(place->path)));
    (void)snprintf(loss->first[loss->column_count++].text, FLOAT_LOSS_TEXT_SIZE,
                   "%s:%s%" PRId64 ": %s: %.24s became %.0f", end_of(place->path),
                   place->is_of_array ? " row " : "", place->line, column, text, (double)stored);
}

void float_loss_note_int64(struct float_loss *loss, const struct float_place *place, int64_t value)
{
    char text[24];
    const float stored = (float)value;
    if (!loss || fabsf(stored) < FLOAT_LOSS_FROM || holds(stored, value))
        return;
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    note(loss, place, text, stored);
}

void float_loss_note_double(struct float_loss *loss, const struct float_place *place, double value)
{
    if (loss && fabs(value) < 0x1p63 && value == trunc(value))
        float_loss_note_int64(loss, place, (int64_t)value);
}

static bool are_digits(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr("+-0123456789", text[i]))
            return false;
    return true;
}

void float_loss_note_text(struct float_loss *loss, const struct float_place *place,
                          const char *text, size_t size, float stored)
{
    char shown[24];
    int64_t value = 0;
    if (!loss || fabsf(stored) < FLOAT_LOSS_FROM)
        return;
    const enum scaled_decimal form = scaled_decimal_read(text, size, 0, &value);
    const bool is_long =
        form == SCALED_DECIMAL_TOO_LARGE && are_digits(text, size); /* 20 digits, but not 1e30 */
    if (!is_long && (form != SCALED_DECIMAL_EXACT || holds(stored, value)))
        return;
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(size < 23 ? size : 23), text);
    note(loss, place, shown, stored);
}
