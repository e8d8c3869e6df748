#include "store/records/round/encoded_values.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { VALUE_BLOCK = 1024, ROW_BLOCK = 64, DRAW_VALUES = 0, DRAW_ROWS = 1 };

/* --- put --- */

static struct random_stream stream_of(const struct gradient_form *form, int64_t round, int slot,
                                      uint32_t draw)
{
    return random_stream_of(form->seed, RANDOM_ROUNDING, (uint32_t)round, draw, (uint32_t)slot);
}

/* Leaves {0} where there is nothing to encode. */
static enum error_code encode(const float *value, uint64_t count, uint32_t block,
                              enum gradient_encoding encoding, const struct random_stream *stream,
                              struct encoded_floats *out, struct error *err)
{
    if (count == 0 || !encoded_floats_suits(encoding, value, count))
        return ERROR_NONE;
    return encoded_floats_make(encoding, value, count, block, stream, out, err);
}

static enum error_code find_error(const float *value, const struct encoded_floats *floats,
                                  double error[2], struct error *err)
{
    float *read = NULL;
    if (floats->count == 0)
        return ERROR_NONE;
    const enum error_code rc = memory_new(&read, (size_t)floats->count, "a gradient", err);
    if (rc != ERROR_NONE)
        return rc;
    encoded_floats_read(floats, read);
    for (uint64_t i = 0; i < floats->count; i++) {
        const double was = (double)value[i], lost = was - (double)read[i];
        error[0] += lost * lost;
        error[1] += was * was;
    }
    memory_free(read);
    return ERROR_NONE;
}

/* `count` floats were to be encoded, beginning at `began`. */
static void note_work(const struct gradient_form *form, double began, uint64_t count,
                      const struct encoded_floats *encoded)
{
    if (!form->work)
        return;
    form->work->seconds += clock_seconds() - began;
    form->work->float_bytes += count * sizeof(float);
    form->work->bytes += encoded->count ? encoded_floats_bytes(encoded) : count * sizeof(float);
}

enum error_code encoded_values_make(const struct gradient *gradient,
                                    const struct gradient_form *form, int64_t round, int slot,
                                    struct encoded_floats *encoded, double error[2],
                                    struct error *err)
{
    *encoded = (struct encoded_floats){0};
    error[0] = gradient->squared_error;
    error[1] = gradient->squared_norm;
    if (!form || form->encoding == GRADIENT_F32 || !gradient->value)
        return ERROR_NONE;
    const double began = clock_seconds();
    const struct random_stream stream = stream_of(form, round, slot, DRAW_VALUES);
    enum error_code rc = encode(gradient->value, form->encoded_count, VALUE_BLOCK, form->encoding,
                                &stream, encoded, err);
    if (rc == ERROR_NONE && form->encoding != GRADIENT_SPARSE)
        rc = find_error(gradient->value, encoded, error, err);
    note_work(form, began, form->encoded_count, encoded);
    return rc;
}

enum error_code encoded_rows_make(const struct gradient *gradient, const struct gradient_form *form,
                                  int64_t round, int slot, struct encoded_floats *encoded,
                                  struct error *err)
{
    uint64_t count = 0;
    *encoded = (struct encoded_floats){0};
    if (!form || !gradient_encodes_rows(form->encoding))
        return ERROR_NONE;
    for (int i = 0; i < gradient->group_count; i++)
        count += gradient->group[i].count * gradient->group[i].width;
    const double began = clock_seconds();
    const struct random_stream stream = stream_of(form, round, slot, DRAW_ROWS);
    const enum error_code rc = encode(gradient->group[0].gradient, count, ROW_BLOCK, form->encoding,
                                      &stream, encoded, err);
    note_work(form, began, count, encoded);
    return rc;
}

void encoded_values_add(struct record *record, const float *value, uint64_t count,
                        const struct encoded_floats *encoded)
{
    const uint64_t first = encoded->count;
    if (first < count || first == 0)
        record_add(record, "value", ELEMENT_F32, value + first, count - first);
    if (first > 0) {
        encoded_floats_add(encoded, "value", record);
        record_add(record, "value_count", ELEMENT_U64, &encoded->count, 1);
    }
}

void encoding_error_add(struct record *record, const double error[2])
{
    if (error[1] > 0)
        record_add(record, "encoding_error", ELEMENT_F64, error, 2);
}

/* --- get --- */

enum error_code encoding_error_get(const struct record_view *view, double error[2],
                                   struct error *err)
{
    const void *data = NULL;
    if (!record_has(view, "encoding_error"))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(view, "encoding_error", ELEMENT_F64, 2, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(error, data, 2 * sizeof *error);
    return error[0] >= 0 && error[1] >= 0
               ? ERROR_NONE
               : error_set(
                     err, ERROR_CORRUPT,
                     "record %s: section encoding_error has %g and %g, expected sums of squares",
                     view->key, error[0], error[1]);
}

static enum error_code get_encoded(const struct record_view *view, enum gradient_encoding encoding,
                                   uint64_t first, struct encoded_floats *out, struct error *err)
{
    const void *data = NULL;
    uint64_t count = 0;
    const enum error_code rc =
        record_section_get(view, "value_count", ELEMENT_U64, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&count, data, sizeof count);
    if (count == 0 || count > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section value_count says %" PRIu64
                         " numbers, expected 1 to 4294967295",
                         view->key, count);
    return encoded_floats_get(view, "value", encoding, first, count, VALUE_BLOCK, out, err);
}

enum error_code value_sections_get(const struct record_view *view, uint64_t first,
                                   struct value_sections *out, struct error *err)
{
    const enum gradient_encoding encoding = encoded_floats_find(view, "value");
    const void *value = NULL;
    enum error_code rc = ERROR_NONE;
    *out = (struct value_sections){0};
    if (encoding == GRADIENT_F32 || record_has(view, "value"))
        rc = record_section_get(view, "value", ELEMENT_F32, -1, &value, &out->value_count, err);
    out->value = value;
    if (rc == ERROR_NONE && encoding != GRADIENT_F32)
        rc = get_encoded(view, encoding, first, &out->encoded, err);
    return rc;
}

void value_sections_read(const struct value_sections *sections, float *out)
{
    const uint64_t encoded = sections->encoded.count;
    if (encoded)
        encoded_floats_read(&sections->encoded, out);
    if (sections->value_count)
        memcpy(out + encoded, sections->value, (size_t)sections->value_count * sizeof *out);
}

enum error_code encoded_rows_get(const struct record_view *view, enum gradient_encoding encoding,
                                 struct encoded_floats *out, struct error *err)
{
    return encoded_floats_get(view, "row", encoding, 0, 0, ROW_BLOCK, out, err);
}
