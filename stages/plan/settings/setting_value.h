/*
 * setting_value - the value of one setting, read, checked, printed and compared by the row that
 * describes it.
 *
 * It works on any table of rows: the table of a pipeline file (setting_table.h), or the table of
 * the items of a setting that is a list of maps, as in
 *
 *     layers:
 *       - {kind: gat, hidden: 64, heads: 8}
 *       - {kind: sage}
 *
 * Such a setting is a row of type SETTING_ITEMS with a table of its own. Its field in the struct is
 * the number of items followed by the items. Its text is the flow form, `[{kind: gat, hidden: 64,
 * heads: 8}, {}]`, with only those values that have an effect and differ from the defaults of the
 * item's rows. So a new row in an item's table changes no earlier text and no id.
 */
#ifndef STAGES_PLAN_SETTINGS_SETTING_VALUE_H
#define STAGES_PLAN_SETTINGS_SETTING_VALUE_H

#include "common/base/error.h"
#include "common/base/yaml.h"
#include "store/records/batch/mini_batch.h"

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
    SETTING_PATH,        /* char[]; made absolute when it is read */
    /* A path, or a list of paths as one text (common/files/file_pattern.h). */
    SETTING_PATHS,
    SETTING_WORDS, /* a word, or a list of words as one text */
    /* The index of the word in the row's list; the field is its enum, or int64_t. */
    SETTING_CHOICE,
    SETTING_CHOICE_OR_PATH, /* a word of the row's list, or a path */
    SETTING_INT_LIST,
    SETTING_CHOICE_OR_NUMBERS, /* a word of the row's list, or a list of numbers */
    SETTING_ITEMS              /* struct { int64_t count; struct item item[most]; } */
};

struct int_or_most {
    int64_t value;
    bool is_most; /* the text had `up_to` */
};

struct int_list {
    int count;
    int64_t value[HOP_COUNT_MAX];
};

struct choice_or_path {
    int64_t choice; /* number of choices + 1 if it is a path */
    char path[SETTING_PATH_SIZE];
};

struct choice_or_numbers {
    int64_t choice; /* index of the word, if `count` is 0 */
    int64_t count;
    double value[SETTING_NUMBER_COUNT_MAX];
};

struct setting_spec {
    const char *name; /* "sample.fanouts"; settings of the top level have no dot */
    enum setting_type type;
    unsigned part_of; /* enum setting_part */
    /* "name=value,value": the setting has no effect with other values; or NULL. */
    const char *only_with;
    size_t offset, size;
    /* NULL, only in an item: the value must be given. "" for SETTING_ITEMS, which begins empty. */
    const char *default_text;
    double least, most;         /* bounds of numbers, of list items, or of the number of items */
    const char *const *choices; /* NULL-terminated */
    const char *help;
    const struct setting_items *items;
    /* The effect of each choice; NULL: the help has it. An entry of NULL is a choice that the help
     * does not show. */
    const char *const *choice_texts;
};

/* Describes the items of SETTING_ITEMS. The rows end with a NULL name; their offsets are inside an
 * item. The values are numbers, booleans, choices and lists of whole numbers. */
struct setting_items {
    const struct setting_spec *rows;
    /* The offset of the first item in the setting's field; the size of each item. */
    size_t offset, size;
};

/* Says where a value comes from, for messages: "cora.yaml:12: ", or "--set: ". */
struct setting_source {
    const char *name;
    bool has_lines;
};

/* Sets the field of `spec` in the struct at `base`. A list of whole numbers may also be the scalar
 * `10,5`. Fails: ERROR_INVALID with source, line, name, value and what was expected;
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code setting_assign(const struct setting_spec *spec, void *base,
                                          const struct yaml_node *value,
                                          const struct setting_source *source, struct error *err);
/* Sets the field from a text as --set takes it and setting_print() writes it: lists may be in the
 * flow form. */
MUST_CHECK enum error_code setting_assign_text(const struct setting_spec *spec, void *base,
                                               const char *text,
                                               const struct setting_source *source,
                                               struct error *err);
/* Returns the number in the field of a row of type SETTING_INT or SETTING_CHOICE. */
int64_t setting_number(const struct setting_spec *spec, const void *base);
/* Sets the field to its default. */
void setting_reset(const struct setting_spec *spec, void *base);
/* Prints the value as the pipeline file has it into `out` [size]. Returns the length, like
 * snprintf(). */
int setting_print(const struct setting_spec *spec, const void *base, char *out, size_t size);
/* Returns whether the fields of `spec` in both structs have equal values. */
bool setting_equal(const struct setting_spec *spec, const void *a, const void *b);
/* Returns whether the value of `spec` has an effect, given the other values of `table`. It has none
 * if the row that only_with names has another value, or has no effect itself. */
bool setting_has_effect(const struct setting_spec *table, const struct setting_spec *spec,
                        const void *base);
/* Returns the path, or list of paths, in the field of a setting that has one, and NULL otherwise.
 * The result is borrowed. */
char *setting_path(const struct setting_spec *spec, void *base);
/* Returns the row of that name; NULL if `table` has none. */
const struct setting_spec *setting_row(const struct setting_spec *table, const char *name);

#endif
