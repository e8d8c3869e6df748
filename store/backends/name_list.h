/*
 * name_list - names that a far place lists in an order of its own: gathered, sorted by their bytes, and visited.
 *
 * It takes the bytes of the names, three times 8 more for each, and no more.
 */
#ifndef STORE_BACKENDS_NAME_LIST_H
#define STORE_BACKENDS_NAME_LIST_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct name_list { /* {0} is empty */
    char *text;    /* the names, each with a NUL */
    size_t used, room;
    uint64_t *at; /* [count] where each begins */
    size_t count, at_room;
};

typedef enum error_code (*name_visitor)(void *context, const char *name, struct error *err);

MUST_CHECK enum error_code name_list_add(struct name_list *list, const char *name, size_t size,
                                         struct error *err);
MUST_CHECK enum error_code name_list_sort(struct name_list *list, struct error *err);
/* Borrowed until one is added. */
const char *name_list_get(const struct name_list *list, size_t index);
/* In their order; a visitor that fails ends it. */
MUST_CHECK enum error_code name_list_visit(const struct name_list *list, name_visitor visit,
                                           void *context, struct error *err);
void name_list_release(struct name_list *list);

#endif
