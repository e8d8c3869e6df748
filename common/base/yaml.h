/*
 * yaml - a settings file as a flat list of scalars with the line each stands on (libyaml).
 *
 * Settings files are two mappings deep: `section:` and `key: value` below it, or `key: value` at the
 * top. A sequence of scalars becomes one value with the items joined by commas ("[10, 5]" is "10,5"; an item has no comma itself).
 * Anchors, aliases, tags, several documents and deeper nesting are refused by line.
 */
#ifndef COMMON_BASE_YAML_H
#define COMMON_BASE_YAML_H

#include "common/base/error.h"

#include <stddef.h>

enum { YAML_NAME_SIZE = 128, YAML_VALUE_SIZE = 1024 };

struct yaml_entry {
    char name[YAML_NAME_SIZE]; /* "section.key", or "key" */
    char value[YAML_VALUE_SIZE];
    int line; /* from 1 */
};

struct yaml_file { /* {0} is empty */
    struct yaml_entry *entry;
    size_t count;
};

/* `name` stands in messages. Fails: ERROR_INVALID with name and line. Release with
 * yaml_file_release(). A key or section that stands twice is refused. */
MUST_CHECK enum error_code yaml_parse(const char *text, size_t size, const char *name,
                                      struct yaml_file *out, struct error *err);
void yaml_file_release(struct yaml_file *file);

#endif
