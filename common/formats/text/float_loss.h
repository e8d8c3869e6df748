/*
 * float_loss - counts the integers of an input that 32-bit floating point cannot represent, and
 * keeps the first in each column.
 *
 * Features are stored as floats, which represent every integer up to 2^24 = 16,777,216 and not
 * every one above. An id, a time or an amount in cents may lose its last digits, and two of them
 * may become equal.
 */
#ifndef COMMON_FORMATS_TEXT_FLOAT_LOSS_H
#define COMMON_FORMATS_TEXT_FLOAT_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOAT_LOSS_COLUMNS = 4, FLOAT_LOSS_TEXT_SIZE = 256, FLOAT_LOSS_PATH_SIZE = 101 };
#define FLOAT_LOSS_FROM 0x1p24F

struct float_loss { /* {0}: none */
    uint64_t count;
    int column_count; /* number of entries of first[] */
    struct {
        uint64_t column;
        char path[FLOAT_LOSS_PATH_SIZE]; /* the end of the file's path, as in the text */
        char text[FLOAT_LOSS_TEXT_SIZE]; /* "f.csv:3: column 2: 1562112001 became 1562112000" */
        /* the first loss of each of the first columns that have one */
    } first[FLOAT_LOSS_COLUMNS];
};

struct float_place {
    const char *path;
    int64_t line; /* or the row of an array */
    bool is_of_array;
    uint64_t column;  /* in the counting of messages */
    const char *name; /* of the column, or NULL */
};

/* Notes a value that was stored as `stored` if it is an integer that changed. `loss` may be
 * NULL. */
void float_loss_note_text(struct float_loss *loss, const struct float_place *place,
                          const char *text, size_t size, float stored);
void float_loss_note_int64(struct float_loss *loss, const struct float_place *place, int64_t value);
void float_loss_note_double(struct float_loss *loss, const struct float_place *place, double value);

#endif
