/*
 * column_encoding - how the columns of a table of nodes become numbers: words of classes and of
 * features.
 *
 * It is computed from one graph and stored with its dataset, so that another graph is read in the
 * same way. As text, fields are separated by tabs:
 *
 *   class   music                                            class 0; the next such line is class 1
 *   column  age     number   mean       34.5                 a missing value counts as 34.5
 *   column  income  log      indicator  0                    log(1 + x); a second number says
 *                                                            whether it is missing
 *   column  city    one_hot  zero       0      Berlin  Paris a number for each word; 0 for others
 *   column  year    buckets  refuse     0      1990    2000  a number for each of below 1990, below
 *                                                            2000, the rest
 *   column  score   standardise refuse  0      3.5     1.2   (x - mean) / deviation; a deviation of
 *                                                            0 gives 0
 *
 * The features of a node are the numbers of all columns, one after another, in this order.
 */
#ifndef COMMON_FORMATS_TEXT_COLUMN_ENCODING_H
#define COMMON_FORMATS_TEXT_COLUMN_ENCODING_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/formats/text/delimited.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLUMN_VALUES_MAX = 4096, COLUMN_CLASSES_MAX = 65536, COLUMN_COUNT_MAX = 65536 };

enum column_kind {
    COLUMN_NUMBER,
    COLUMN_LOG,
    COLUMN_STANDARDISE,
    COLUMN_ONE_HOT,
    COLUMN_BUCKETS,
    COLUMN_KIND_COUNT
};
/* How a missing value is treated. A missing value is an empty cell; readers make one of each word
 * of ingest.missing_words. */
enum missing_value {
    MISSING_VALUE_REFUSE,
    MISSING_VALUE_ZERO,
    MISSING_VALUE_MEAN,
    MISSING_VALUE_INDICATOR, /* 0, and one more number that is 1 */
    MISSING_VALUE_COUNT
};
extern const char *const column_kind_names[COLUMN_KIND_COUNT + 1];     /* NULL-terminated */
extern const char *const missing_value_names[MISSING_VALUE_COUNT + 1]; /* NULL-terminated */

struct column_code {
    char *name; /* owned, like all pointers here */
    enum column_kind kind;
    enum missing_value missing;
    double fill; /* the number for a missing value */
    size_t count;
    char **word;            /* [count] of one_hot, ascending */
    double *edge;           /* [count] of buckets, ascending */
    double mean, deviation; /* of standardise */
};

struct column_encoding { /* {0} is empty and may be released */
    size_t class_count, class_capacity;
    char **class_name; /* [class_count]; empty: classes are numbers */
    size_t column_count, column_capacity;
    /* [column_count]; empty: features are numbers without a conversion */
    struct column_code *column;
};

void column_encoding_release(struct column_encoding *encoding);
/* Parses the text [size]; messages name its source by `where`. Fails: ERROR_INPUT naming where and
 * line; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code column_encoding_parse(struct column_encoding *out, const char *text,
                                                 size_t size, const char *where, struct error *err);
/* Appends the text of an encoding to `out`. */
void column_encoding_print(const struct column_encoding *encoding, struct json_writer *out);
/* Add one class, or one value of a column: a copy of `text` [size]. Fails: ERROR_INPUT for a tab or
 * line end in it, or too many; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code column_encoding_add_class(struct column_encoding *encoding,
                                                     const char *text, size_t size,
                                                     struct error *err);
/* Adds one column with a copy of the name. *out is valid until the next call. */
MUST_CHECK enum error_code column_encoding_add_column(struct column_encoding *encoding,
                                                      const char *name, size_t size,
                                                      struct column_code **out, struct error *err);
MUST_CHECK enum error_code column_code_add_word(struct column_code *column, const char *text,
                                                size_t size, struct error *err);
MUST_CHECK enum error_code column_code_add_edge(struct column_code *column, double edge,
                                                struct error *err);
/* Returns the number of a class, or -1. */
int64_t column_encoding_class(const struct column_encoding *encoding, const struct field *field);

/* Return the number of features that a column makes, or that all columns make. */
uint32_t column_code_width(const struct column_code *column);
uint32_t column_encoding_width(const struct column_encoding *encoding);
bool column_is_missing(const struct field *field);
/* Converts a field to numbers [column_code_width()]. Fails: ERROR_INPUT with the expected and found
 * values, without a position. */
MUST_CHECK enum error_code column_code_take(const struct column_code *column,
                                            const struct field *field, float *out,
                                            struct error *err);

#endif
