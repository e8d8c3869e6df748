/*
 * gradient_encoding - the forms in which the numbers of a gradient lie in its record: a row each.
 *
 *   encoding  sections, `x` being "value" or "row"        bytes a number
 *   f32       (those of gradient.h)                       4
 *   bf16      x_bf16 U16 [count]                          2
 *   int8      x_int8 U8 [count], x_scale F32 [blocks]     1, and 4 for a block
 *   sparse    x_index U32 [kept], x_kept F32 [kept]       8 for each number that is not 0
 *
 * bf16 and int8 round at random (common/math/stochastic_rounding.h); sparse loses nothing. A slice of what was encoded has the
 * scales of the blocks that it lies in, whole or not, and places counted from where all begin.
 */
#ifndef STORE_RECORDS_GRADIENT_ENCODING_H
#define STORE_RECORDS_GRADIENT_ENCODING_H

#include "common/base/error.h"
#include "common/base/random.h"
#include "store/objects/record.h"

#include <stdbool.h>
#include <stdint.h>

/* ROW(number, name, help): the number in this program, the name in train-step.gradient and its help. */
/* clang-format off */
#define GRADIENT_ENCODING_LIST(ROW)                                                                \
    ROW(GRADIENT_F32, f32, "4 bytes a number, as it was computed")                                 \
    ROW(GRADIENT_BF16, bf16, "2 bytes a number: 8 significant bits, rounded at random")            \
    ROW(GRADIENT_INT8, int8,                                                                       \
        "1 byte a number; 1,024 numbers (64 of embeddings) share a scale, a 127th of the "         \
        "largest of them; rounded at random")                                                      \
    ROW(GRADIENT_SPARSE, top_k,                                                                    \
        "8 bytes for each number that is kept: the share train-step.gradient_kept of them, "       \
        "those with the largest magnitudes; the rest is added to the slot's next gradient")
/* clang-format on */

#define GRADIENT_ENCODING_NUMBER(number, name, help) number,
enum gradient_encoding { GRADIENT_ENCODING_LIST(GRADIENT_ENCODING_NUMBER) GRADIENT_ENCODING_COUNT };
#undef GRADIENT_ENCODING_NUMBER
enum { ENCODED_ARRAY_COUNT = 2 };

/* Whether learnable rows that are read back are others than those that were put. */
static inline bool gradient_encodes_rows(enum gradient_encoding encoding)
{
    return encoding != GRADIENT_F32 && encoding != GRADIENT_SPARSE;
}

/* `count` floats, encoded; `block` of them share a scale. */
struct encoded_floats {
    enum gradient_encoding encoding; /* not GRADIENT_F32 */
    uint64_t
        first; /* of these among all that were encoded at once: its blocks, and its places, are counted there */
    uint64_t count;
    uint32_t block;
    const void *array[ENCODED_ARRAY_COUNT]; /* as the row says; the second may be NULL */
    uint64_t length[ENCODED_ARRAY_COUNT];   /* their elements */
};

/* What encoding took, or reading what was encoded, and how long what was encoded became. */
struct encoding_work {
    double seconds;
    uint64_t bytes, float_bytes; /* as stored, and as floats */
};

/* False where an encoding makes `value` [count] no shorter, or would say almost nothing (GRADIENT_SPARSE of zeros alone): it is
 * stored as floats then. */
bool encoded_floats_suits(enum gradient_encoding encoding, const float *value, uint64_t count);
/* What `value` [count] becomes. Its arrays are the caller's: free with encoded_floats_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code encoded_floats_make(enum gradient_encoding encoding, const float *value,
                                               uint64_t count, uint32_t block,
                                               const struct random_stream *stream,
                                               struct encoded_floats *out, struct error *err);
void encoded_floats_free(struct encoded_floats *floats);
/* Of its arrays. */
uint64_t encoded_floats_bytes(const struct encoded_floats *floats);
/* Those from `first` on, `count` of them, which `whole` has: what they are read as is what they are in `whole`. Borrows its arrays.
 * False where they would say almost nothing (as encoded_floats_suits()), or there are none. */
bool encoded_floats_slice(const struct encoded_floats *whole, uint64_t first, uint64_t count,
                          struct encoded_floats *out);
/* Adds its sections, whose names begin with `prefix` (at most nine letters). The record borrows. */
void encoded_floats_add(const struct encoded_floats *floats, const char *prefix,
                        struct record *record);

/* Whether a record has sections of an encoding for `prefix`, and of which. GRADIENT_F32: of none. */
enum gradient_encoding encoded_floats_find(const struct record_view *view, const char *prefix);
/* `count` is how many floats there are to be, from `first` on of all that were encoded; 0: as many as the first array has. Borrows
 * from the view. Fails: ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code encoded_floats_get(const struct record_view *view, const char *prefix,
                                              enum gradient_encoding encoding, uint64_t first,
                                              uint64_t count, uint32_t block,
                                              struct encoded_floats *out, struct error *err);
/* out [count]. */
void encoded_floats_read(const struct encoded_floats *floats, float *out);

#endif
