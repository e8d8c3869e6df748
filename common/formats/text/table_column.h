/*
 * table_column - classifies the cells of one column of a text table: integers, numbers, dates or
 * words.
 */
#ifndef COMMON_FORMATS_TEXT_TABLE_COLUMN_H
#define COMMON_FORMATS_TEXT_TABLE_COLUMN_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_column {
    struct field name; /* from the header; size 0: it has none */
    uint64_t values;   /* rows with a cell that is not empty, without the header */
    bool are_integers, are_numbers, are_dates; /* all of these cells, at least one */
    bool has_numbers, has_dates; /* some of these cells; nan and inf count as numbers here */
    bool has_fraction;           /* a number with a point or an exponent */
    bool has_decimal_comma;      /* a number such as 1,5; not all such as 1,500 */
    bool has_leading_zero;       /* a cell of digits such as 007 */
    bool counts_up;              /* each cell is the one above plus 1 */
    double least, most;          /* of the numbers */
    uint64_t distinct;           /* number of different cells */
    uint64_t *hash;              /* [distinct] hashes of the different cells, ascending, owned */
};

/* Counts the cells of a column. */
struct column_tally { /* {0} is empty; release with column_tally_release() */
    uint64_t values, integers, numbers, dates, commas, not_finite;
    bool has_fraction, has_decimal_comma, has_leading_zero;
    bool skips; /* some cell is not the previous one plus 1 */
    int64_t first, last;
    double least, most;
    uint64_t *hash; /* [values] hashes of the cells, in their order, owned */
    size_t capacity;
};

/* Counts the next cell. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code column_tally_take(struct column_tally *tally, const struct field *field,
                                             struct error *err);
/* Counts a cell that comes before all that were counted. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code column_tally_put_first(struct column_tally *tally,
                                                  const struct field *field, struct error *err);
/* Returns the type of the cells so far, without hashes. */
struct table_column column_tally_view(const struct column_tally *tally);
/* Returns the type of one cell. */
struct table_column table_column_of(const struct field *field);
/* Returns whether the column, which is finished, has the cell `field`. */
bool table_column_has(const struct table_column *column, const struct field *field);
/* Returns how many different cells two finished columns share; they may be of two tables. */
uint64_t table_column_shared(const struct table_column *a, const struct table_column *b);
bool column_tally_has(const struct column_tally *tally, const struct field *field);
/* Returns how many different cells there are. *once is the number of those that occur once in the
 * column and not in `other` (NULL: none). */
uint64_t column_tally_distinct(const struct column_tally *tally, const struct column_tally *other,
                               uint64_t *once);
/* Fills *out except for its name, and moves the hashes to it. */
void column_tally_finish(struct column_tally *tally, struct table_column *out);
void column_tally_release(struct column_tally *tally);

/* Reads a cell as a number, 1,5 as 1.5 if `decimal_comma`. Returns false if it is no number, or not
 * finite. */
bool table_number(const struct field *field, bool decimal_comma, double *out);

#endif
