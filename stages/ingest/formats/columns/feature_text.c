#include "stages/ingest/formats/columns/feature_text.h"

#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/formats/columns/feature_file.h"

#include <inttypes.h>
#include <math.h>

enum error_code feature_text_dim(const char *path, int64_t line, struct delimited cursor,
                                 uint32_t *dim, struct error *err)
{
    struct field field;
    uint32_t count = 0;
    while (delimited_next(&cursor, &field))
        count++;
    *dim = count;
    if (count >= 1 && count <= FEATURE_DIM_MAX)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected 1 to %d feature columns, found %" PRIu32, path, line,
                     FEATURE_DIM_MAX, count);
}

enum error_code feature_text_parse(const char *path, int64_t line, struct delimited *cursor,
                                   uint32_t before, uint32_t dim, float *row,
                                   struct float_loss *loss, struct error *err)
{
    struct field field;
    uint32_t at = 0;
    for (; delimited_next(cursor, &field); at++) {
        double value = 0.0;
        if (at >= dim)
            continue;
        if (!text_double(field.text, field.size, &value) || !isfinite((float)value))
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": feature in column %" PRIu32
                             ": expected a finite number, found '%.*s'" ADVISE_NUMBER,
                             path, line, before + at + 1, field.size < 40 ? (int)field.size : 40,
                             field.text);
        row[at] = (float)value;
        if (fabsf(row[at]) >= FLOAT_LOSS_FROM) {
            const struct float_place place = {
                .path = path, .line = line, .column = before + at + 1};
            float_loss_note_text(loss, &place, field.text, field.size, row[at]);
        }
    }
    if (at == dim)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected %" PRIu32
                     " feature columns, found %" PRIu32 ADVISE_COLUMNS,
                     path, line, dim, at);
}
