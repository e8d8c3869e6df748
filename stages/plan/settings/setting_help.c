#include "common/base/text.h"
#include "stages/plan/settings/dataset_format.h"
#include "stages/plan/settings/setting_table.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 30, INDENT = 2, INDENT_BELOW = 6 };

bool setting_in_section(const struct setting_spec *spec, const char *section)
{
    const size_t size = strlen(section);
    return size ? strncmp(spec->name, section, size) == 0 && spec->name[size] == '.'
                : !strchr(spec->name, '.');
}

bool setting_belongs_to(const struct setting_spec *spec, const char *other, const char *value)
{
    const size_t size = strlen(other), value_size = strlen(value);
    const char *at = spec->only_with;
    if (!at || strncmp(at, other, size) != 0 || at[size] != '=')
        return false;
    for (at += size; *at; at += strcspn(at + 1, ",") + 1)
        if (strncmp(at + 1, value, value_size) == 0 && strchr(",", at[value_size + 1]))
            return true;
    return false;
}

static void print_line(int indent, const char *name, const char *text)
{
    const bool is_long = indent + (int)strlen(name) >= NAME_COLUMNS;
    printf("%*s%-*s ", indent, "", NAME_COLUMNS - indent - 1, name);
    if (is_long)
        printf("\n%*s", NAME_COLUMNS, "");
    text_print_wrapped(text, NAME_COLUMNS);
}

static void print_row(const struct setting_spec *spec, int indent)
{
    char text[SETTING_VALUE_SIZE];
    const char *value = spec->default_text ? spec->default_text : "must be given";
    (void)snprintf(text, sizeof text, "%s (%s%s)", spec->help,
                   spec->default_text ? "default: " : "", value[0] ? value : "empty");
    print_line(indent, spec->name, text);
    for (int i = 0; spec->choice_texts && spec->choices[i]; i++)
        if (spec->choice_texts[i])
            print_line(INDENT_BELOW, spec->choices[i], spec->choice_texts[i]);
}

void setting_table_print_help(const char *section)
{
    for (const struct setting_spec *spec = setting_table; spec->name; spec++) {
        if (section && !setting_in_section(spec, section))
            continue;
        print_row(spec, INDENT);
        for (const struct setting_spec *row = spec->items ? spec->items->rows : NULL;
             row && row->name; row++)
            print_row(row, INDENT_BELOW);
    }
}
