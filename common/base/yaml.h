/*
 * yaml - a settings file as a tree of maps, lists and scalars, each with the line it stands on (libyaml).
 *
 * Scalars stay text: what a setting may be is known to whoever asks for it (stages/plan/setting_value.h), and says so with
 * the line. Anchors, aliases, tags, several documents, a key that stands twice in a map and what is nested deeper than any
 * setting are refused by line.
 */
#ifndef COMMON_BASE_YAML_H
#define COMMON_BASE_YAML_H

#include "common/base/error.h"

#include <stddef.h>

enum { YAML_DEPTH_MAX = 8, YAML_NODE_MAX = 10000 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    int line;         /* from 1; that of the key for what stands in a map */
    const char *key;  /* in a map; else NULL */
    const char *text; /* of a scalar, "" for a key without a value; else NULL */
    size_t count;     /* of a list or map */
    struct yaml_node *first, *next;
};

/* `name` stands in messages. *out is NULL when the text has no document. Free with yaml_tree_free().
 * Fails: ERROR_INVALID with name and line; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code yaml_parse(const char *text, size_t size, const char *name,
                                      struct yaml_node **out, struct error *err);
void yaml_tree_free(struct yaml_node *node);
/* "a list", for messages. */
const char *yaml_kind_name(enum yaml_kind kind);

#endif
