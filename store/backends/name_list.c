#include "store/backends/name_list.h"

#include "common/base/memory.h"
#include "common/numbers/key_sort.h"

#include <string.h>

enum error_code name_list_add(struct name_list *list, const char *name, size_t size,
                              struct error *err)
{
    enum error_code rc =
        memory_grow(&list->text, &list->room, list->used + size + 1, "a list of names", err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&list->at, &list->at_room, list->count + 1, "a list of names", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(list->text + list->used, name, size);
    list->text[list->used + size] = '\0';
    list->at[list->count++] = list->used;
    list->used += size + 1;
    return ERROR_NONE;
}

static bool is_before(const void *context, uint64_t a, uint64_t b)
{
    const char *text = context;
    return strcmp(text + a, text + b) < 0;
}

enum error_code name_list_sort(struct name_list *list, struct error *err)
{
    uint64_t *scratch = NULL;
    const enum error_code rc = memory_new(&scratch, list->count, "a list of names", err);
    if (rc == ERROR_NONE)
        key_sort_by(list->at, scratch, list->count, is_before, list->text);
    memory_free(scratch);
    return rc;
}

const char *name_list_get(const struct name_list *list, size_t index)
{
    return list->text + list->at[index];
}

enum error_code name_list_visit(const struct name_list *list, name_visitor visit, void *context,
                                struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < list->count; i++)
        rc = visit(context, name_list_get(list, i), err);
    return rc;
}

void name_list_release(struct name_list *list)
{
    memory_free(list->text);
    memory_free(list->at);
    *list = (struct name_list){0};
}
