/*
 * table_survey - examines the first rows of a text table: its header, and the contents of each
 * column.
 */
#ifndef PIPELINES_DRAFT_TABLE_SURVEY_H
#define PIPELINES_DRAFT_TABLE_SURVEY_H

#include "common/base/error.h"
#include "common/formats/text/table_look.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SURVEY_COLUMNS_MAX = TABLE_COLUMNS_MAX, SURVEY_ROWS_MAX = 100000, SURVEY_WORDS_MAX = 256 };

enum { SURVEY_GAPS_MAX = 4, SURVEY_GAP_SIZE = 16 };

struct survey_column {
    char *name;      /* from the header, or NULL; owned, like all pointers here */
    uint64_t values; /* rows that have a value */
    bool are_numbers, are_integers;
    double least, most;
    /* Words such as NA in a column of numbers mean that a value is missing. A column of words has
     * none. */
    char gap[SURVEY_GAPS_MAX][SURVEY_GAP_SIZE];
    size_t gap_count;
    uint64_t gaps;     /* rows with one of these words */
    char **word;       /* [word_count] different words, in order of appearance */
    size_t word_count; /* SURVEY_WORDS_MAX: that many or more */
};

struct table_survey { /* {0} is empty; release with table_survey_release() */
    struct survey_column column[SURVEY_COLUMNS_MAX];
    size_t column_count;
    uint64_t rows; /* rows that were examined, without the header */
};

/* Examines up to SURVEY_ROWS_MAX rows of the table whose layout is `look`, and which has at most
 * SURVEY_COLUMNS_MAX columns. Fails: ERROR_INPUT naming file and line, for a row with another
 * number of columns, or a name that contains a line end; ERROR_NOT_FOUND. */
MUST_CHECK enum error_code table_survey_read(const char *path, const struct table_look *look,
                                             struct table_survey *out, struct error *err);
void table_survey_release(struct table_survey *survey);

#endif
