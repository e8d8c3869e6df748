/*
 * yaml - parses a settings file into a tree of maps, lists and scalars, each with its line number
 * (libyaml).
 *
 * Scalars stay text: the code that reads a setting knows its type (stages/plan/settings/setting_value.h),
 * and reports the line. It refuses, naming the line, anchors, aliases, tags, several documents,
 * duplicate keys in a map, and nesting deeper than any setting has.
 */
#ifndef COMMON_BASE_YAML_H
#define COMMON_BASE_YAML_H

#include "common/base/error.h"

#include <stddef.h>

enum { YAML_DEPTH_MAX = 8, YAML_NODE_MAX = 10000 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    int line;         /* from 1; in a map the line of the key */
    const char *key;  /* in a map; otherwise NULL */
    const char *text; /* of a scalar, "" for a key without a value; otherwise NULL */
    size_t count;     /* of a list or map */
    struct yaml_node *first, *next;
};

/* Parses a text. Messages name it by `name`. *out is NULL when the text has no document. Free with
 * yaml_tree_free(). Fails: ERROR_INVALID with name and line; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code yaml_parse(const char *text, size_t size, const char *name,
                                      struct yaml_node **out, struct error *err);
void yaml_tree_free(struct yaml_node *node);
/* Returns a word such as "a list", for messages. */
const char *yaml_kind_name(enum yaml_kind kind);

#endif
