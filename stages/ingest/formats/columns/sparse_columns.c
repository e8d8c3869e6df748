#include "stages/ingest/formats/columns/sparse_columns.h"

#include "common/base/text.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/plan/settings/named_entries.h"

#include <stdbool.h>

static enum error_code columns_of(const struct named_entry *entry, int64_t *out, struct error *err)
{
    if (text_int64(entry->value, entry->value_size, out) && *out >= 1 && *out <= FEATURE_DIM_MAX)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "ingest.sparse_columns: expected a number of columns from 1 to %d, or entries "
                     "`type: 300` with `;` between them, found '%.*s'",
                     (int)FEATURE_DIM_MAX, named_entry_shown(entry->size), entry->text);
}

enum error_code sparse_columns_of(const char *setting, const char *name, uint32_t *out,
                                  struct error *err)
{
    struct named_entry entry;
    *out = 0;
    while (named_entry_next(&setting, &entry)) {
        int64_t columns = 0;
        const enum error_code rc = columns_of(&entry, &columns, err);
        if (rc != ERROR_NONE)
            return rc;
        if (entry.name_size == 0 || (name && named_entry_is(&entry, name)))
            *out = (uint32_t)columns;
    }
    return ERROR_NONE;
}

static bool is_type(const struct named_entry *entry, const struct node_type *type, uint32_t count)
{
    bool found = entry->name_size == 0;
    for (uint32_t t = 0; t < count; t++)
        found = found || named_entry_is(entry, type[t].name);
    return found;
}

enum error_code sparse_columns_check(const char *setting, const struct node_type *type,
                                     uint32_t count, struct error *err)
{
    struct named_entry entry;
    while (named_entry_next(&setting, &entry))
        if (!is_type(&entry, type, count))
            return error_set(err, ERROR_INPUT,
                             "expected a node type %.*s, which ingest.sparse_columns names "
                             "(graphmill infer --on "
                             "sets it to the types of the model), found none in the graph",
                             named_entry_shown(entry.name_size), entry.name);
    return ERROR_NONE;
}
