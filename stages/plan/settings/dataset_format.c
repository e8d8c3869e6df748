#include "stages/plan/settings/dataset_format.h"

#include "common/base/error.h"
#include "stages/plan/settings/format_list.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdio.h>
#include <string.h>

#define ROW_OF(name, init, text, ...)  {#name, __VA_ARGS__},
#define NAME_OF(name, init, text, ...) #name,
#define TEXT_OF(name, init, text, ...) text,

/* clang-format off */
const struct dataset_format dataset_formats[] = {
    FORMAT_LIST(ROW_OF)
    {"auto",
     .settings = "split_name",
     .traits = FORMAT_IS_AUTO | FORMAT_HAS_NODE_FILES | FORMAT_HAS_COLUMNS | FORMAT_HAS_GRAPHS |
               FORMAT_HOLDS_OUT_EDGES | FORMAT_HAS_NEGATIVES},
    {.name = NULL},
};
const char *const dataset_format_names[] = {FORMAT_LIST(NAME_OF) "auto", NULL};
const char *const dataset_format_texts[] = {
    FORMAT_LIST(TEXT_OF)
    "the format that the names and first bytes of files show; the log names it"};
/* clang-format on */

const struct dataset_format *dataset_format_of(const struct pipeline_settings *settings)
{
    return &dataset_formats[settings->ingest.format];
}

bool dataset_format_has(const struct pipeline_settings *settings, enum dataset_format_trait trait)
{
    return dataset_format_of(settings)->traits & trait;
}

int64_t dataset_format_find(const char *name)
{
    int64_t place = 0;
    while (dataset_formats[place].name && strcmp(dataset_formats[place].name, name) != 0)
        place++;
    must(dataset_formats[place].name);
    return place;
}

bool dataset_format_reads(const struct dataset_format *format, const char *setting)
{
    static const char section[] = "ingest.";
    const char *key = setting + sizeof section - 1;
    if (strncmp(setting, section, sizeof section - 1) != 0)
        return false;
    const size_t size = strlen(key);
    for (const char *at = format->settings; at && *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word == size && memcmp(at, key, size) == 0)
            return true;
        at += word;
    }
    return false;
}

void dataset_format_list(enum dataset_format_trait trait, const char *last, char *out, size_t size)
{
    const char *found[sizeof dataset_format_names / sizeof *dataset_format_names];
    size_t count = 0, at = 0;
    for (const struct dataset_format *f = dataset_formats; f->name; f++)
        if (f->traits & trait && !(f->traits & FORMAT_IS_AUTO))
            found[count++] = f->name;
    for (size_t i = 0; i < count && at < size; i++) {
        const char *between = i + 1 < count ? ", " : last;
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? between : "", found[i]);
    }
    must(count > 0 && at < size);
}

void dataset_format_readers(const char *setting, char *out, size_t size)
{
    size_t at = 0;
    for (const struct dataset_format *f = dataset_formats; f->name && at < size; f++)
        if (dataset_format_reads(f, setting))
            at += (size_t)snprintf(out + at, size - at, "%s%s", at ? "," : "", f->name);
    must(at > 0 && at < size);
}
