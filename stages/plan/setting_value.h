/*
 * setting_value - the value of one setting, by the row that describes it: read, checked, printed, compared.
 *
 * Works over any table of rows: that of a pipeline file (setting_table.h), or that of the items of a setting which is a
 * list of maps, as in
 *
 *     layers:
 *       - {kind: gat, hidden: 64, heads: 8}
 *       - {kind: sage}
 *
 * Such a setting is a row of type SETTING_ITEMS with a table of its own. In its struct it is the number of items and then
 * the items; in text it is the flow form, `[{kind: gat, hidden: 64, heads: 8}, {}]`, with what differs from the defaults
 * of the item's rows and has an effect. So a new row in an item's table changes no text, and no id, of before.
 */
#ifndef STAGES_PLAN_SETTING_VALUE_H
#define STAGES_PLAN_SETTING_VALUE_H

#include "common/base/error.h"
#include "common/base/yaml.h"
#include "store/records/mini_batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SETTING_NAME_SIZE = 64,
    SETTING_TEXT_LONG = 256,
    SETTING_COLUMNS_SIZE = 1536,
    SETTING_PATH_SIZE = 1024,
    SETTING_VALUE_SIZE = 8192,
    SETTING_NUMBER_COUNT_MAX = 256
};

enum setting_type {
    SETTING_INT,         /* int64_t, or uint32_t */
    SETTING_INT_OR_MOST, /* a number, or `up_to` and a number */
    SETTING_DOUBLE,      /* double */
    SETTING_BOOL,        /* bool */
    SETTING_TEXT,        /* char[] */
    SETTING_PATH,        /* char[]; absolute once it is read */
    SETTING_PATHS,       /* the same, or a list of them as one text (common/base/file_pattern.h) */
    SETTING_WORDS,       /* a word, or a list of them as the same text */
    SETTING_CHOICE,      /* the place of the word in the row's list: its enum, or int64_t */
    SETTING_CHOICE_OR_PATH, /* of paths, too */
    SETTING_INT_LIST,
    SETTING_CHOICE_OR_NUMBERS, /* a word of the row's list, or a list of numbers */
    SETTING_ITEMS              /* struct { int64_t count; struct item item[most]; } */
};

struct int_or_most {
    int64_t value;
    bool is_most; /* behind `up_to` */
};

struct int_list {
    int count;
    int64_t value[HOP_COUNT_MAX];
};

struct choice_or_path {
    int64_t choice; /* one more than the last of the names when it is a path */
    char path[SETTING_PATH_SIZE];
};

struct choice_or_numbers {
    int64_t choice; /* of the words, when `count` is 0 */
    int64_t count;
    double value[SETTING_NUMBER_COUNT_MAX];
};

struct setting_spec {
    const char *name; /* "sample.fanouts"; top level has no dot */
    enum setting_type type;
    unsigned part_of;      /* enum setting_part */
    const char *only_with; /* "name=value,value": has no effect with other values; or NULL */
    size_t offset, size;
    const char *
        default_text; /* NULL, in an item: must be given; "" for SETTING_ITEMS, which begins empty */
    double least, most;         /* of numbers and list items; how many items */
    const char *const *choices; /* NULL-terminated */
    const char *help;
    const struct setting_items *items;
    const char *const *choice_texts; /* what each choice does; NULL: the help says it. An entry that
                                      * is NULL is a choice that people need not be told about */
};

/* What an item of SETTING_ITEMS is. Its rows end with a NULL name; offsets are inside an item. They are numbers, booleans,
 * choices and lists of whole numbers. */
struct setting_items {
    const struct setting_spec *rows;
    size_t offset, size; /* of the first item in the setting's field; of each item */
};

/* Where a value comes from, for messages: "cora.yaml:12: ", or "--set: ". */
struct setting_source {
    const char *name;
    bool has_lines;
};

/* Sets the field of `spec` in the struct at `base`. A list of whole numbers may also be the scalar `10,5`.
 * Fails: ERROR_INVALID with source, line, name, value and what was expected; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code setting_assign(const struct setting_spec *spec, void *base,
                                          const struct yaml_node *value,
                                          const struct setting_source *source, struct error *err);
/* The same of text, as --set and setting_print() have it: lists may be in the flow form. */
MUST_CHECK enum error_code setting_assign_text(const struct setting_spec *spec, void *base,
                                               const char *text,
                                               const struct setting_source *source,
                                               struct error *err);
/* The number in the field of a row of type SETTING_INT or SETTING_CHOICE. */
int64_t setting_number(const struct setting_spec *spec, const void *base);
/* What its default says. */
void setting_reset(const struct setting_spec *spec, void *base);
/* The value as the pipeline file has it, into `out` [size], as snprintf() does it. */
int setting_print(const struct setting_spec *spec, const void *base, char *out, size_t size);
/* Do the fields of `spec` in both structs say the same? */
bool setting_equal(const struct setting_spec *spec, const void *a, const void *b);
/* Does the value of that row of `table` matter, beside those of the others? Not if the row that it goes by does not. */
bool setting_has_effect(const struct setting_spec *table, const struct setting_spec *spec,
                        const void *base);
/* The path, or list of paths, in the field of a setting that has one, or NULL. Borrowed. */
char *setting_path(const struct setting_spec *spec, void *base);
/* A row by name; NULL when `table` has none. */
const struct setting_spec *setting_row(const struct setting_spec *table, const char *name);

#endif
