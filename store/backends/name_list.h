/*
 * name_list - gathers names that a server lists in its own order, sorts them by their bytes and
 * visits them.
 *
 * It uses the bytes of the names and 24 more for each name.
 */
#ifndef STORE_BACKENDS_NAME_LIST_H
#define STORE_BACKENDS_NAME_LIST_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct name_list { /* {0} is empty */
    char *text;    /* the names, each with a NUL */
    size_t used, room;
    uint64_t *at; /* [count]: the offset of each name */
    size_t count, at_room;
};

typedef enum error_code (*name_visitor)(void *context, const char *name, struct error *err);

MUST_CHECK enum error_code name_list_add(struct name_list *list, const char *name, size_t size,
                                         struct error *err);
MUST_CHECK enum error_code name_list_sort(struct name_list *list, struct error *err);
/* Returns name `index`, which is valid until the next name is added. */
const char *name_list_get(const struct name_list *list, size_t index);
/* Visits the names in the order of the list. Stops at the first visitor that fails. */
MUST_CHECK enum error_code name_list_visit(const struct name_list *list, name_visitor visit,
                                           void *context, struct error *err);
void name_list_release(struct name_list *list);

#endif
