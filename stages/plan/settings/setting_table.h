/*
 * setting_table - one row for each setting: its name, where its value is kept, which values are
 * valid, and what depends on it.
 *
 * Everything that works on all settings uses these rows: the pipeline file, --set, --help,
 * --print-config, ids.
 */
#ifndef STAGES_PLAN_SETTINGS_SETTING_TABLE_H
#define STAGES_PLAN_SETTINGS_SETTING_TABLE_H

#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/setting_value.h"

enum { SETTING_COUNT_MAX = 192 };

/* All settings, in canonical order. The array ends with a NULL name. */
extern const struct setting_spec setting_table[];
/* Returns the row of that name; NULL if there is none. */
const struct setting_spec *setting_find(const char *name);
/* Returns whether the value has an effect: the format of the input reads the setting, and no other
 * setting rules it out. */
bool setting_matters(const struct setting_spec *spec, const struct pipeline_settings *settings);
/* Returns whether `spec` is in `section`: "sample.fanouts" is in "sample", and the settings without
 * a dot are in "". */
bool setting_in_section(const struct setting_spec *spec, const char *section);
/* Returns whether the setting has an effect only with some values of `other`, and `value` is one of
 * them. */
bool setting_belongs_to(const struct setting_spec *spec, const char *other, const char *value);
/* Prints for --help, to stdout, the settings of `section`, or all of them for NULL, each with its
 * choices and the rows of its items below it. */
void setting_table_print_help(const char *section);

#endif
