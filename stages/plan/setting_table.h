/*
 * setting_table - one row a setting: its name, where it is kept, what it may be and what depends on it.
 *
 * Everything that goes over all settings goes over these rows: the pipeline file, --set, --help, --print-config, ids.
 */
#ifndef STAGES_PLAN_SETTING_TABLE_H
#define STAGES_PLAN_SETTING_TABLE_H

#include "stages/plan/pipeline_settings.h"
#include "stages/plan/setting_value.h"

enum { SETTING_COUNT_MAX = 192 };

/* All settings, in canonical order; ends with a NULL name. */
extern const struct setting_spec setting_table[];
/* NULL when there is none of that name. */
const struct setting_spec *setting_find(const char *name);
/* Whether the value has an effect: the format of the input reads the setting, and no other setting
 * rules it out. */
bool setting_matters(const struct setting_spec *spec, const struct pipeline_settings *settings);
/* Whether `spec` is in `section`: "sample" has "sample.fanouts", and "" the settings without a dot. */
bool setting_in_section(const struct setting_spec *spec, const char *section);
/* Whether the setting has an effect only with some values of `other`, and `value` is one of them. */
bool setting_belongs_to(const struct setting_spec *spec, const char *other, const char *value);
/* Prints to stdout, for --help: the settings of `section`, or all of them for NULL, each with its
 * choices and the rows of its items below it. */
void setting_table_print_help(const char *section);

#endif
