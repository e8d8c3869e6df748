#include "store/records/round/gradient_encoding.h"

#include "common/base/memory.h"
#include "common/math/bf16.h"
#include "common/math/stochastic_rounding.h"
#include "common/numbers/ascending.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct encoding_array {
    const char *suffix; /* of the section's name; NULL: there is none */
    enum element_type type;
};

struct encoding_row {
    struct encoding_array array[ENCODED_ARRAY_COUNT];
    /* The elements of each array for floats->count of `value`. */
    void (*measure)(const float *value, struct encoded_floats *floats);
    void (*encode)(const float *value, const struct random_stream *stream,
                   const struct encoded_floats *floats, void *const array[ENCODED_ARRAY_COUNT]);
    /* Returns what is wrong with the arrays of floats->count numbers, or NULL. */
    const char *(*check)(const struct encoded_floats *floats);
    void (*decode)(const struct encoded_floats *floats, float *out);
    /* Sets arrays and lengths of `part`, whose first and count are those of a slice. */
    void (*slice)(const struct encoded_floats *whole, struct encoded_floats *part);
};

/* --- bf16 --- */

static void measure_bf16(const float *value, struct encoded_floats *floats)
{
    (void)value;
    floats->length[0] = floats->count;
}

static void encode_bf16(const float *value, const struct random_stream *stream,
                        const struct encoded_floats *floats, void *const array[])
{
    bf16_of_floats_stochastic(stream, value, (size_t)floats->count, array[0]);
}

static const char *check_bf16(const struct encoded_floats *floats)
{
    return floats->length[0] == floats->count ? NULL : "a number for each parameter";
}

static void decode_bf16(const struct encoded_floats *floats, float *out)
{
    bf16_to_floats(out, floats->array[0], (size_t)floats->count);
}

static void slice_bf16(const struct encoded_floats *whole, struct encoded_floats *part)
{
    const bf16 *value = whole->array[0];
    part->array[0] = value + part->first;
    part->length[0] = part->count;
}

/* --- int8 --- */

/* Those before the first one, in its block. */
static uint64_t in_block(const struct encoded_floats *floats)
{
    return floats->first % floats->block;
}

static void measure_int8(const float *value, struct encoded_floats *floats)
{
    (void)value;
    floats->length[0] = floats->count;
    floats->length[1] = (in_block(floats) + floats->count + floats->block - 1) / floats->block;
}

static void encode_int8(const float *value, const struct random_stream *stream,
                        const struct encoded_floats *floats, void *const array[])
{
    int8_of_floats_stochastic(stream, value, (size_t)floats->count, floats->block, array[0],
                              array[1]);
}

static const char *check_int8(const struct encoded_floats *floats)
{
    struct encoded_floats expected = *floats;
    measure_int8(NULL, &expected);
    return floats->length[0] == expected.length[0] && floats->length[1] == expected.length[1]
               ? NULL
               : "a number for each parameter and a scale for each block";
}

static void decode_int8(const struct encoded_floats *floats, float *out)
{
    const int8_t *value = floats->array[0];
    const float *scale = floats->array[1];
    const uint64_t left = in_block(floats) ? floats->block - in_block(floats) : 0;
    const size_t begun = (size_t)(left < floats->count ? left : floats->count);
    if (begun > 0) /* of a block whose beginning is elsewhere */
        int8_to_floats(value, scale++, begun, begun, out);
    int8_to_floats(value + begun, scale, (size_t)floats->count - begun, floats->block, out + begun);
}

static void slice_int8(const struct encoded_floats *whole, struct encoded_floats *part)
{
    const int8_t *value = whole->array[0];
    const float *scale = whole->array[1];
    part->array[0] = value + part->first;
    part->array[1] = scale + part->first / part->block;
    measure_int8(NULL, part);
}

/* --- sparse --- */

/* So many numbers for each that is kept, and no more: what a reader allocates is bounded by what
 * the record holds. */
enum { SPARSE_NUMBERS_MOST = 1 << 16 };

static bool says_enough(uint64_t count, uint64_t kept)
{
    return count / SPARSE_NUMBERS_MOST <= kept;
}

static void measure_sparse(const float *value, struct encoded_floats *floats)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < floats->count; i++)
        kept += value[i] != 0.0F;
    floats->length[0] = floats->length[1] = kept;
}

static void encode_sparse(const float *value, const struct random_stream *stream,
                          const struct encoded_floats *floats, void *const array[])
{
    uint32_t *index = array[0];
    float *kept = array[1];
    (void)stream;
    for (uint64_t i = 0, at = 0; i < floats->count; i++)
        if (value[i] != 0.0F) {
            index[at] = (uint32_t)i;
            kept[at++] = value[i];
        }
}

static const char *check_sparse(const struct encoded_floats *floats)
{
    const uint32_t *index = floats->array[0];
    bool ascends =
        floats->length[0] == floats->length[1] && says_enough(floats->count, floats->length[0]);
    for (uint64_t i = 0; ascends && i < floats->length[0]; i++)
        ascends = index[i] >= floats->first && index[i] - floats->first < floats->count &&
                  (i == 0 || index[i] > index[i - 1]);
    return ascends ? NULL : "as many places as numbers, ascending, of parameters that there are";
}

static void decode_sparse(const struct encoded_floats *floats, float *out)
{
    const uint32_t *index = floats->array[0];
    const float *kept = floats->array[1];
    memset(out, 0, (size_t)floats->count * sizeof *out);
    for (uint64_t i = 0; i < floats->length[0]; i++)
        out[index[i] - floats->first] = kept[i];
}

static void slice_sparse(const struct encoded_floats *whole, struct encoded_floats *part)
{
    const uint32_t *index = whole->array[0];
    const float *kept = whole->array[1];
    const uint64_t from = ascending_below(index, whole->length[0], part->first);
    const uint64_t to = ascending_below(index, whole->length[0], part->first + part->count);
    part->array[0] = index + from;
    part->array[1] = kept + from;
    part->length[0] = part->length[1] = to - from;
}

/* --- all --- */

static const struct encoding_row rows[GRADIENT_ENCODING_COUNT] = {
    [GRADIENT_BF16] =
        {{{"_bf16", ELEMENT_U16}}, measure_bf16, encode_bf16, check_bf16, decode_bf16, slice_bf16},
    [GRADIENT_INT8] = {{{"_int8", ELEMENT_U8}, {"_scale", ELEMENT_F32}},
                       measure_int8,
                       encode_int8,
                       check_int8,
                       decode_int8,
                       slice_int8},
    [GRADIENT_SPARSE] = {{{"_index", ELEMENT_U32}, {"_kept", ELEMENT_F32}},
                         measure_sparse,
                         encode_sparse,
                         check_sparse,
                         decode_sparse,
                         slice_sparse},
};

bool encoded_floats_suits(enum gradient_encoding encoding, const float *value, uint64_t count)
{
    struct encoded_floats floats = {.count = count};
    if (encoding != GRADIENT_SPARSE)
        return true;
    measure_sparse(value, &floats);
    return says_enough(count, floats.length[0]) && floats.length[0] <= count / 2;
}

bool encoded_floats_slice(const struct encoded_floats *whole, uint64_t first, uint64_t count,
                          struct encoded_floats *out)
{
    *out = (struct encoded_floats){
        .encoding = whole->encoding, .first = first, .count = count, .block = whole->block};
    must(whole->first == 0 && first <= whole->count && count <= whole->count - first);
    if (count > 0)
        rows[whole->encoding].slice(whole, out);
    if (count > 0 && (whole->encoding != GRADIENT_SPARSE || says_enough(count, out->length[0])))
        return true;
    *out = (struct encoded_floats){0};
    return false;
}

enum error_code encoded_floats_make(enum gradient_encoding encoding, const float *value,
                                    uint64_t count, uint32_t block,
                                    const struct random_stream *stream, struct encoded_floats *out,
                                    struct error *err)
{
    const struct encoding_row *row = &rows[encoding];
    void *array[ENCODED_ARRAY_COUNT] = {NULL};
    enum error_code rc = ERROR_NONE;
    *out = (struct encoded_floats){.encoding = encoding, .count = count, .block = block};
    must(row->measure && count <= UINT32_MAX);
    row->measure(value, out);
    for (int i = 0; i < ENCODED_ARRAY_COUNT && rc == ERROR_NONE; i++)
        if (row->array[i].suffix) {
            rc = memory_new_bytes(&array[i], (size_t)out->length[i],
                                  element_size(row->array[i].type), "an encoded gradient", err);
            out->array[i] = array[i];
        }
    if (rc == ERROR_NONE)
        row->encode(value, stream, out, array);
    else
        encoded_floats_free(out);
    return rc;
}

void encoded_floats_free(struct encoded_floats *floats)
{
    for (int i = 0; i < ENCODED_ARRAY_COUNT; i++)
        memory_free((void *)floats->array[i]);
    *floats = (struct encoded_floats){0};
}

uint64_t encoded_floats_bytes(const struct encoded_floats *floats)
{
    uint64_t bytes = 0;
    for (int i = 0; i < ENCODED_ARRAY_COUNT; i++)
        if (floats->array[i])
            bytes += floats->length[i] * element_size(rows[floats->encoding].array[i].type);
    return bytes;
}

static void section_name(char name[RECORD_SECTION_NAME_SIZE], const char *prefix,
                         const struct encoding_array *array)
{
    const int size = snprintf(name, RECORD_SECTION_NAME_SIZE, "%s%s", prefix, array->suffix);
    must(size < RECORD_SECTION_NAME_SIZE);
}

void encoded_floats_add(const struct encoded_floats *floats, const char *prefix,
                        struct record *record)
{
    for (int i = 0; i < ENCODED_ARRAY_COUNT; i++) {
        const struct encoding_array *array = &rows[floats->encoding].array[i];
        char name[RECORD_SECTION_NAME_SIZE];
        if (!array->suffix)
            continue;
        section_name(name, prefix, array);
        record_add(record, name, array->type, floats->array[i], floats->length[i]);
    }
}

enum gradient_encoding encoded_floats_find(const struct record_view *view, const char *prefix)
{
    for (int e = GRADIENT_F32 + 1; e < GRADIENT_ENCODING_COUNT; e++) {
        char name[RECORD_SECTION_NAME_SIZE];
        section_name(name, prefix, &rows[e].array[0]);
        if (record_has(view, name))
            return (enum gradient_encoding)e;
    }
    return GRADIENT_F32;
}

enum error_code encoded_floats_get(const struct record_view *view, const char *prefix,
                                   enum gradient_encoding encoding, uint64_t first, uint64_t count,
                                   uint32_t block, struct encoded_floats *out, struct error *err)
{
    const struct encoding_row *row = &rows[encoding];
    char name[RECORD_SECTION_NAME_SIZE];
    *out = (struct encoded_floats){
        .encoding = encoding, .first = first, .count = count, .block = block};
    for (int i = 0; i < ENCODED_ARRAY_COUNT; i++) {
        if (!row->array[i].suffix)
            continue;
        section_name(name, prefix, &row->array[i]);
        const enum error_code rc = record_section_get(view, name, row->array[i].type, -1,
                                                      &out->array[i], &out->length[i], err);
        if (rc != ERROR_NONE)
            return rc;
    }
    out->count = count ? count : out->length[0];
    section_name(name, prefix, &row->array[0]);
    const char *expected = row->check(out);
    return expected ? error_set(err, ERROR_CORRUPT,
                                "record %s: section %s has %" PRIu64 " elements for %" PRIu64
                                " numbers, expected %s",
                                view->key, name, out->length[0], out->count, expected)
                    : ERROR_NONE;
}

void encoded_floats_read(const struct encoded_floats *floats, float *out)
{
    rows[floats->encoding].decode(floats, out);
}
