/*
 * table_look - finds out the layout of a text table: its separator, its header, and the contents of
 * its columns.
 *
 * All readers of text tables examine the first rows of a file in this way, so all of them interpret
 * the same file in the same way. A look judges the layout alone; the caller decides what the
 * columns are for.
 *
 *   separator   the one of delimited.h that gives most of the first rows the same number of fields,
 *               at least two
 *   header      the first row, if it has a name that the caller knows and no cell that occurs
 *               below, or if one of its cells does not fit the type of the column below it
 *   comments    lines that begin with # or %, and blank lines, are no rows
 *
 * If blanks or tabs separate, a header with one field fewer than the rows names all columns but the
 * first, as R's write.table() does it.
 */
#ifndef COMMON_FORMATS_TEXT_TABLE_LOOK_H
#define COMMON_FORMATS_TEXT_TABLE_LOOK_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/table_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TABLE_COLUMNS_MAX = 512,
    TABLE_WIDE_JUDGED = 64, /* number of columns that are judged in a wide table */
    TABLE_LOOK_ROWS = 1000,
    TABLE_LOOK_LINES = 64
};

struct table_look { /* {0} is empty; release with table_look_release() */
    enum delimiter delimiter;
    bool decimal_comma; /* numbers have a decimal comma instead of a point */
    size_t column_count;
    /* columns that the look describes: all, or the first ones of a wide or uneven table */
    size_t judged;
    int64_t header_line;           /* 0: there is no header */
    int64_t first_line, last_line; /* of the rows */
    uint64_t rows;
    bool is_whole; /* the look has seen all rows */
    /* all cells of the first row are words above words. No name is known, and it counts as a row,
     * although none of its cells occurs again in its column and most other cells do */
    bool header_is_weak;
    char *header; /* the first row, owned */
    size_t header_size;
    struct table_column *column; /* [judged], owned */
};

/* Returns whether the caller knows the name of a column. */
typedef bool (*table_name_test)(const struct field *name);
/* Returns whether the caller knows two names as a pair, such as txId1 and txId2. */
typedef bool (*table_pair_test)(const struct field *first, const struct field *second);

struct table_request {
    const char *path; /* the file, and its name in messages */
    const void *data; /* [size] its bytes, borrowed; NULL: they are read from `path` */
    size_t size;
    table_name_test is_known; /* NULL: no name is known */
    table_pair_test are_pair; /* for neighbouring columns; NULL: no two names are a pair */
    bool has_header;          /* the caller knows that the first row is a header */
    bool has_no_header;       /* the caller knows that the first row is no header */
    /* The table may have more columns than TABLE_COLUMNS_MAX; the first TABLE_WIDE_JUDGED are
     * judged. */
    bool is_wide;
    /* Rows may have different numbers of fields, at least two; the first two are judged. */
    bool is_uneven;
    size_t least_columns; /* 1, or 2 if a row of one field is refused */
    bool may_be_empty;    /* a table without rows has no columns, and is no failure */
    const char *noun;     /* the meaning of rows, for messages: "edges"; NULL: "rows" */
};

/* Looks at up to TABLE_LOOK_ROWS rows.
 * Owns:  the contents of *out; release with table_look_release(), also after a failure.
 * Fails: ERROR_INPUT naming file and line: no row, a row with another number of fields, more than
 * TABLE_COLUMNS_MAX columns, fewer than least_columns; ERROR_NOT_FOUND, ERROR_IO,
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code table_look_read(const struct table_request *request,
                                           struct table_look *out, struct error *err);
void table_look_release(struct table_look *look);

/* Returns the column that is called `name`, or -1. *twice: several columns are. */
int table_look_find(const struct table_look *look, const struct field *name, bool *twice);
/* Returns how many different cells of column `a` are also cells of column `b`. */
uint64_t table_look_shared(const struct table_look *look, size_t a, size_t b);
/* Writes "rating" or "column 3" for messages. Returns `text`. */
enum { TABLE_COLUMN_TEXT_SIZE = 64 };
const char *table_look_column(const struct table_look *look, size_t column,
                              char text[TABLE_COLUMN_TEXT_SIZE]);

#endif
