#include "common/base/yaml.h"

#include "common/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* A list or map that is still open. */
struct level {
    struct yaml_node *node, *last; /* last: the last of its children */
    char *key;                     /* key of the next child; owned */
    int key_line;
};

struct reader {
    yaml_parser_t parser;
    const char *name;
    struct yaml_node *root;
    struct level open[YAML_DEPTH_MAX];
    int depth; /* number of open levels */
    int node_count;
};

const char *yaml_kind_name(enum yaml_kind kind)
{
    static const char *const names[] = {"a scalar", "a list", "a map"};
    return names[kind];
}

void yaml_tree_free(struct yaml_node *node)
{
    while (node) {
        struct yaml_node *next = node->next;
        yaml_tree_free(node->first);
        memory_free((void *)node->key);
        memory_free((void *)node->text);
        memory_free(node);
        node = next;
    }
}

static int line_of(const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

static enum error_code refuse(const struct reader *r, const yaml_event_t *event, const char *what,
                              struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s:%d: %s", r->name, line_of(event), what);
}

static enum error_code copy_text(char **out, const char *text, struct error *err)
{
    const size_t size = strlen(text) + 1;
    const enum error_code rc = memory_new(out, size, "settings", err);
    if (rc == ERROR_NONE)
        memcpy(*out, text, size);
    return rc;
}

/* Takes the key of the next child of the open map. */
static enum error_code take_key(struct reader *r, const yaml_event_t *event, const char *text,
                                struct error *err)
{
    struct level *top = &r->open[r->depth - 1];
    for (const struct yaml_node *child = top->node->first; child; child = child->next)
        if (strcmp(child->key, text) == 0)
            return error_set(err, ERROR_INVALID,
                             "%s:%d: %.100s stands a second time; first on line %d", r->name,
                             line_of(event), text, child->line);
    top->key_line = line_of(event);
    return copy_text(&top->key, text, err);
}

/* Adds a node at the current position. On success the node owns `text`, which is NULL unless it is
 * a scalar. */
static enum error_code add_node(struct reader *r, const yaml_event_t *event, enum yaml_kind kind,
                                const char *text, struct yaml_node **out, struct error *err)
{
    struct level *top = r->depth ? &r->open[r->depth - 1] : NULL;
    struct yaml_node *node = NULL;
    if (top && top->node->kind == YAML_MAP && !top->key)
        return error_set(err, ERROR_INVALID, "%s:%d: expected a key, found %s", r->name,
                         line_of(event), yaml_kind_name(kind));
    if (++r->node_count > YAML_NODE_MAX)
        return error_set(err, ERROR_INVALID, "%s:%d: more than %d values", r->name, line_of(event),
                         YAML_NODE_MAX);
    const enum error_code rc = memory_new(&node, 1, "settings", err);
    if (rc != ERROR_NONE)
        return rc;
    *node = (struct yaml_node){.kind = kind, .line = line_of(event), .text = text};
    if (!top) {
        r->root = node;
    } else {
        if (top->key)
            node->line = top->key_line;
        node->key = top->key;
        top->key = NULL;
        *(top->last ? &top->last->next : &top->node->first) = node;
        top->last = node;
        top->node->count++;
    }
    *out = node;
    return ERROR_NONE;
}

static const char decorated[] = "anchors and tags are not used in settings";

static enum error_code on_scalar(struct reader *r, const yaml_event_t *event, struct error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    struct yaml_node *node = NULL;
    char *copy = NULL;
    if (strlen(text) != event->data.scalar.length)
        return refuse(r, event, "a NUL character inside a value", err);
    if (event->data.scalar.anchor || event->data.scalar.tag)
        return refuse(r, event, decorated, err);
    const struct level *top = r->depth ? &r->open[r->depth - 1] : NULL;
    if (top && top->node->kind == YAML_MAP && !top->key)
        return take_key(r, event, text, err);
    enum error_code rc = copy_text(&copy, text, err);
    if (rc == ERROR_NONE)
        rc = add_node(r, event, YAML_SCALAR, copy, &node, err);
    if (rc != ERROR_NONE)
        memory_free(copy);
    return rc;
}

static enum error_code open_level(struct reader *r, const yaml_event_t *event, enum yaml_kind kind,
                                  bool is_decorated, struct error *err)
{
    struct yaml_node *node = NULL;
    if (is_decorated)
        return refuse(r, event, decorated, err);
    if (r->depth == YAML_DEPTH_MAX)
        return refuse(r, event, "nested deeper than any setting", err);
    const enum error_code rc = add_node(r, event, kind, NULL, &node, err);
    if (rc == ERROR_NONE)
        r->open[r->depth++] = (struct level){.node = node};
    return rc;
}

static enum error_code on_event(struct reader *r, const yaml_event_t *event, struct error *err)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(r, event, err);
    case YAML_MAPPING_START_EVENT:
        return open_level(r, event, YAML_MAP,
                          event->data.mapping_start.anchor || event->data.mapping_start.tag, err);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(r, event, YAML_LIST,
                          event->data.sequence_start.anchor || event->data.sequence_start.tag, err);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        r->depth--;
        return ERROR_NONE;
    case YAML_ALIAS_EVENT:
        return refuse(r, event, "aliases are not used in settings", err);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return ERROR_NONE;
    }
    return ERROR_NONE;
}

/* Returns whether the line (from 0) begins with blanks and a tab. */
static bool is_indented_by_tab(const char *text, size_t size, size_t line)
{
    const char *end = text + size;
    for (; line > 0 && text < end; line--) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        text = feed ? feed + 1 : end;
    }
    while (text < end && *text == ' ')
        text++;
    return text < end && *text == '\t';
}

static enum error_code not_yaml(const yaml_parser_t *parser, const char *text, size_t size,
                                const char *name, struct error *err)
{
    const size_t line = parser->problem_mark.line;
    if (is_indented_by_tab(text, size, line))
        return error_set(err, ERROR_INVALID,
                         "%s:%zu: the line is indented by a tab, which YAML does not allow; " ADVICE
                         "write "
                         "two blanks",
                         name, line + 1);
    return error_set(err, ERROR_INVALID, "%s:%zu: expected YAML, found what is not valid YAML: %s",
                     name, line + 1, parser->problem ? parser->problem : "unreadable");
}

enum error_code yaml_parse(const char *text, size_t size, const char *name, struct yaml_node **out,
                           struct error *err)
{
    enum error_code rc = ERROR_NONE;
    struct reader r = {.name = name};
    int documents = 0;
    *out = NULL;
    if (!yaml_parser_initialize(&r.parser))
        return error_set(err, ERROR_NO_MEMORY, "no memory to read %s", name);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    for (bool more = true; more && rc == ERROR_NONE;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r.parser, &event)) {
            rc = not_yaml(&r.parser, text, size, name, err);
            break;
        }
        more = event.type != YAML_STREAM_END_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT && documents++ > 0)
            rc = refuse(&r, &event, "one document a file", err);
        else
            rc = on_event(&r, &event, err);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r.parser);
    if (rc == ERROR_NONE) {
        *out = r.root;
        return ERROR_NONE;
    }
    for (int i = 0; i < r.depth; i++)
        memory_free(r.open[i].key);
    yaml_tree_free(r.root);
    return rc;
}
