/*
 * gradient_encoding - the forms in which the numbers of a gradient are stored, one row for each.
 *
 *   encoding  sections; x is "value" or "row"             bytes a number
 *   f32       (those of gradient.h)                       4
 *   bf16      x_bf16 U16 [count]                          2
 *   int8      x_int8 U8 [count], x_scale F32 [blocks]     1, and 4 for a block
 *   sparse    x_index U32 [kept], x_kept F32 [kept]       8 for each number that is not 0
 *
 * bf16 and int8 round at random (common/math/stochastic_rounding.h); sparse loses nothing. A slice
 * of encoded numbers has the scales of all blocks that it overlaps. The places in a slice are
 * counted from the beginning of the whole.
 */
#ifndef STORE_RECORDS_ROUND_GRADIENT_ENCODING_H
#define STORE_RECORDS_ROUND_GRADIENT_ENCODING_H

#include "common/base/error.h"
#include "common/numbers/random.h"
#include "store/objects/record.h"

#include <stdbool.h>
#include <stdint.h>

/* ROW(number, name, help): the number in this program, the name in train-step.gradient and its
 * help. */
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

/* Returns whether learnable rows read back differently from how they were put. */
static inline bool gradient_encodes_rows(enum gradient_encoding encoding)
{
    return encoding != GRADIENT_F32 && encoding != GRADIENT_SPARSE;
}

/* `count` floats, encoded; each `block` of them shares a scale. */
struct encoded_floats {
    enum gradient_encoding encoding; /* not GRADIENT_F32 */
    uint64_t first; /* place in the whole that was encoded: blocks and places count from there */
    uint64_t count;
    uint32_t block;
    const void *array[ENCODED_ARRAY_COUNT]; /* the arrays of the encoding; the second may be NULL */
    uint64_t length[ENCODED_ARRAY_COUNT];   /* their elements */
};

/* The time of encoding or decoding, and the bytes of the result. */
struct encoding_work {
    double seconds;
    uint64_t bytes, float_bytes; /* as stored, and as floats */
};

/* Returns false if an encoding does not make `value` [count] shorter, or would keep almost nothing
 * (GRADIENT_SPARSE of zeros only). Such values are stored as floats. */
bool encoded_floats_suits(enum gradient_encoding encoding, const float *value, uint64_t count);
/* Encodes `value` [count]. The caller owns the arrays: encoded_floats_free(). Fails:
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code encoded_floats_make(enum gradient_encoding encoding, const float *value,
                                               uint64_t count, uint32_t block,
                                               const struct random_stream *stream,
                                               struct encoded_floats *out, struct error *err);
void encoded_floats_free(struct encoded_floats *floats);
/* Returns the bytes of its arrays. */
uint64_t encoded_floats_bytes(const struct encoded_floats *floats);
/* Sets *out to `count` numbers of `whole` from `first` on, which decode to the same values as in
 * `whole`. Borrows its arrays. Returns false if there are none, or if they would keep almost
 * nothing (encoded_floats_suits()). */
bool encoded_floats_slice(const struct encoded_floats *whole, uint64_t first, uint64_t count,
                          struct encoded_floats *out);
/* Adds its sections, whose names begin with `prefix` (at most nine letters). The record borrows the
 * arrays. */
void encoded_floats_add(const struct encoded_floats *floats, const char *prefix,
                        struct record *record);

/* Returns the encoding whose sections a record has for `prefix`; GRADIENT_F32 if it has none. */
enum gradient_encoding encoded_floats_find(const struct record_view *view, const char *prefix);
/* Reads `count` floats that begin at `first` of the whole that was encoded; a count of 0 means as
 * many as the first array has. Borrows from the view. Fails: ERROR_CORRUPT naming record, section,
 * expected and found. */
MUST_CHECK enum error_code encoded_floats_get(const struct record_view *view, const char *prefix,
                                              enum gradient_encoding encoding, uint64_t first,
                                              uint64_t count, uint32_t block,
                                              struct encoded_floats *out, struct error *err);
/* Decodes the numbers into out [count]. */
void encoded_floats_read(const struct encoded_floats *floats, float *out);

#endif
