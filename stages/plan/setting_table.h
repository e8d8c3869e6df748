/*
 * setting_table - one row a setting: its name, where it is kept, what it may be and what depends on it.
 *
 * Everything that goes over all settings goes over these rows: the pipeline file, --set, --help, --print-config, ids.
 */
#ifndef STAGES_PLAN_SETTING_TABLE_H
#define STAGES_PLAN_SETTING_TABLE_H

#include "stages/plan/pipeline_settings.h"

#include <stddef.h>

enum setting_type {
    SETTING_INT,
    SETTING_DOUBLE,
    SETTING_BOOL,
    SETTING_TEXT,
    SETTING_PATH, /* absolute once it is read */
    SETTING_CHOICE,
    SETTING_CHOICE_OR_PATH,
    SETTING_INT_LIST
};

struct setting_spec {
    const char *name; /* "sample.fanouts"; top level has no dot */
    enum setting_type type;
    unsigned part_of;      /* enum setting_part */
    const char *only_with; /* "name=value,value": has no effect with other values; or NULL */
    size_t offset, size;
    const char *default_text;
    double least, most;         /* of numbers and list items */
    const char *const *choices; /* NULL-terminated */
    const char *help;
};

/* All settings, in canonical order; ends with a NULL name. */
extern const struct setting_spec setting_table[];
/* NULL when there is none of that name. */
const struct setting_spec *setting_find(const char *name);
/* The value as the pipeline file has it, into `out` [size], as snprintf() does it. */
int setting_print(const struct setting_spec *spec, const struct pipeline_settings *settings,
                  char *out, size_t size);
/* The path in the field of a setting that has one, or NULL. Borrowed. */
char *setting_path(const struct setting_spec *spec, struct pipeline_settings *settings);

#endif
