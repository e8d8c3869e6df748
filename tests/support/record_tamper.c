#include "tests/support/record_tamper.h"

#include <string.h>

static void copy_sections(const struct record_view *view, const struct tamper *change,
                          struct record *out)
{
    bool found = false;
    *out = (struct record){.kind = view->kind, .version = view->version};
    for (uint32_t i = 0; i < view->section_count; i++) {
        const struct record_section *s = &view->section[i];
        if (strcmp(s->name, change->section) != 0)
            record_add(out, s->name, s->type, s->data, s->count);
        else if (change->type != ELEMENT_UNKNOWN)
            record_add(out, s->name, change->type, change->data, change->count);
        found = found || strcmp(s->name, change->section) == 0;
    }
    if (!found && change->type != ELEMENT_UNKNOWN)
        record_add(out, change->section, change->type, change->data, change->count);
}

void record_tamper(struct store *store, const char *key, const char *owner_id,
                   const struct tamper *change)
{
    struct record_view view = {0};
    struct record copy;
    enum error_code rc = store_get(store, key, owner_id, &view, NULL);
    must(rc == ERROR_NONE);
    copy_sections(&view, change, &copy);
    rc = store_remove(store, key, NULL);
    must(rc == ERROR_NONE);
    rc = store_put(store, key, owner_id, &copy, STORE_RECOMPUTABLE, NULL);
    must(rc == ERROR_NONE);
    store_release_record(&view);
}
