/*
 * section_table - one table describes how a struct and the sections of its record correspond.
 *
 * A kind of record has one table, and the functions here write and read every kind that has one. So
 * writing and reading cannot disagree, and a new section is a new row. Rows are written and read in
 * their order: a row that uses a field comes after the row that sets it.
 *
 *     #define SECTION_STRUCT struct walk_counts
 *     static const struct section_row rows[] = {
 *         {SECTION_VALUE("drawn", U64, drawn), .least = 1},
 *         {SECTION_ARRAY("node", U32, node), .sets = AT(node_count), .limit = AT(drawn)},
 *     };
 *     static const struct section_table table = SECTION_TABLE(RECORD_WALK_COUNTS, 1, 1, rows);
 *
 * Lengths: an array has `count` items of (`times` + `times_plus`) * `unit` elements, and `plus` more
 * elements behind them; without `times` and `unit` an item is one element. `count` is a field that
 * is known before the row is read. `sets` replaces it in a row whose length sets the field.
 *
 * Presence: a row without `when`, `since` and `if_there` is always there. `when` is a field; with
 * `if_there` or `since` it is the row's pointer unless the row names another one. A section is
 * written if `when` is not zero. It is read
 *   with `if_there`   if the record has it; a `when` that is a bool then becomes true
 *   with `since`      if the record has at least that version
 *   else              if `when` is not zero, which an earlier row has set
 *
 * Functions do the rest: `add` of a row runs before its section is added, and `read` after its
 * section is read. A row without a name has only them.
 */
#ifndef STORE_RECORDS_SECTION_TABLE_H
#define STORE_RECORDS_SECTION_TABLE_H

#include "common/base/error.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A field of the struct; {0} is none. */
struct section_field {
    uint16_t at, size;
};
/* A field of SECTION_STRUCT, a macro of the file with the table. */
#define AT(member)                                                                                 \
    {                                                                                              \
        offsetof(SECTION_STRUCT, member), sizeof(((SECTION_STRUCT *)0)->member)                    \
    }
/* Fields that lie one behind the other. */
#define AT_ALL(first, last)                                                                        \
    {                                                                                              \
        offsetof(SECTION_STRUCT, first), offsetof(SECTION_STRUCT, last) +                          \
                                             sizeof(((SECTION_STRUCT *)0)->last) -                 \
                                             offsetof(SECTION_STRUCT, first)                       \
    }

enum section_form {
    SECTION_IN_VIEW, /* the struct has a pointer, which borrows from the view after reading */
    SECTION_COPIED,  /* the struct has the elements themselves */
    SECTION_WIDENED, /* the struct has each element in a field of its own (`number`) */
    SECTION_STRING   /* the struct has a char array, which ends with a NUL */
};

enum section_check {
    SECTION_FINITE = 1 << 0,   /* no element is NaN or infinite */
    SECTION_ASCENDS = 1 << 1,  /* each element is above the one before it */
    SECTION_RISES = 1 << 2,    /* each element is at least the one before it */
    SECTION_FROM_0 = 1 << 3,   /* the first element is 0 */
    SECTION_TO_LIMIT = 1 << 4, /* the last element is the one below the limit */
    SECTION_OFFSETS = SECTION_RISES | SECTION_FROM_0 | SECTION_TO_LIMIT,
    SECTION_ID = 1 << 5 /* a text is an id: [A-Za-z0-9._-]+ without a dot in front */
};

/* One element of a section of numbers. */
struct section_number {
    const char *name;           /* in messages; NULL: 0 is written, and any number is read */
    struct section_field place; /* an unsigned number or a bool; none: it must be 0 */
    uint64_t least, most;       /* 0 for `most`: as much as the field holds, of a bool 1 */
};

/* Numbers that a record borrows until it is stored. */
struct section_scratch {
    uint64_t word[192];
    size_t used;
};
/* Returns room for `size` bytes, of those that are left. */
void *section_scratch_take(struct section_scratch *scratch, size_t size);

struct section_row {
    const char *name; /* NULL: only the functions */
    enum element_type type;
    enum section_form form;
    struct section_field place;              /* the pointer, the elements or the text */
    struct section_field count, sets, times; /* the length of an array, as above */
    uint32_t times_plus, unit, plus;
    uint64_t least, most; /* of the items that `sets` counts, or of a value; 0 for `most`: any */
    unsigned checks;      /* enum section_check */
    /* Each element is at least `floor`, and below the field `limit` plus `behind` if there is one
     * of the two. */
    struct section_field limit;
    uint64_t behind, floor;
    struct section_field when;
    uint32_t since;
    int number_count;
    bool if_there;
    const struct section_number *number;
    void (*add)(struct record *record, const void *from, struct section_scratch *scratch);
    enum error_code (*read)(const struct record_view *view, void *out, struct error *err);
};

/* These macros begin a row; more fields of the row may follow them. */
#define SECTION_ARRAY(text, elements, member)                                                      \
    .name = (text), .type = ELEMENT_##elements, .place = AT(member)
#define SECTION_VALUE(text, elements, member)                                                      \
    .name = (text), .type = ELEMENT_##elements, .form = SECTION_COPIED, .place = AT(member)
#define SECTION_VALUES(text, elements, first, last)                                                \
    .name = (text), .type = ELEMENT_##elements, .form = SECTION_COPIED, .place = AT_ALL(first, last)
#define SECTION_NUMBERS(text, elements, array)                                                     \
    .name = (text), .type = ELEMENT_##elements, .form = SECTION_WIDENED, .number = (array),        \
    .number_count = (int)(sizeof(array) / sizeof *(array))
#define SECTION_TEXT(text, member)                                                                 \
    .name = (text), .type = ELEMENT_U8, .form = SECTION_STRING, .place = AT(member)
#define SECTION_HAND(adds, reads) .add = (adds), .read = (reads)

struct section_table {
    enum record_kind kind;
    /* The versions that are read. The oldest is written, unless a row with `since` is there. */
    uint32_t oldest, newest;
    size_t size;               /* of the struct */
    struct section_field view; /* its struct record_view; {0}: it has none, and borrows nothing */
    const struct section_row *row;
    size_t row_count;
};
#define SECTION_TABLE(record_kind, first, last, rows)                                              \
    {                                                                                              \
        .kind = (record_kind), .oldest = (first), .newest = (last),                                \
        .size = sizeof(SECTION_STRUCT), .view = AT(view), .row = (rows),                           \
        .row_count = sizeof(rows) / sizeof *(rows)                                                 \
    }
/* The same for a struct that has a copy of everything, and so no view. */
#define SECTION_TABLE_OF_COPIES(record_kind, first, last, rows)                                    \
    {                                                                                              \
        .kind = (record_kind), .oldest = (first), .newest = (last),                                \
        .size = sizeof(SECTION_STRUCT), .row = (rows), .row_count = sizeof(rows) / sizeof *(rows)  \
    }

/* Returns the record of the struct `from`; it borrows from `from` and from `scratch`. */
struct record section_table_record(const struct section_table *table, const void *from,
                                   struct section_scratch *scratch);
MUST_CHECK enum error_code section_table_put(struct store *store, const struct section_table *table,
                                             const char *key, const char *owner_id,
                                             const void *from, enum store_durability durability,
                                             struct error *err);
/* Fills the fields that the rows name, and leaves all other fields of `out` as they are. Pointers
 * borrow from `view`. Fails: ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code section_table_read(const struct section_table *table,
                                              const struct record_view *view, void *out,
                                              struct error *err);
/* Clears `out`, reads, and makes its view a copy of `view`, of which only one is to be released.
 * After a failure `out` is clear. */
MUST_CHECK enum error_code section_table_decode(const struct section_table *table,
                                                const struct record_view *view, void *out,
                                                struct error *err);
/* Fetches and decodes a record. The caller releases the view in `out`, if the struct has one; after
 * a failure `out` is clear. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT. */
MUST_CHECK enum error_code section_table_get(struct store *store, const struct section_table *table,
                                             const char *key, const char *owner_id, void *out,
                                             struct error *err);
/* The same for a struct of which the caller has filled fields that the rows use. */
MUST_CHECK enum error_code section_table_fetch(struct store *store,
                                               const struct section_table *table, const char *key,
                                               const char *owner_id, void *out, struct error *err);
/* The end of a get that checks more than its table: after a failure releases the view, and clears
 * `out`. Returns `rc`. */
enum error_code section_table_keep(const struct section_table *table, enum error_code rc,
                                   void *out);

#endif
