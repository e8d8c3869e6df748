#include "common/base/yaml.h"

#include "common/base/memory.h"
#include "common/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 2 };

/* Where in the document the parser stands. */
struct reader {
    yaml_parser_t parser;
    const char *name;
    struct yaml_file *file;
    int depth; /* mappings open */
    bool in_sequence;
    bool have_key;
    int key_line;
    char section[YAML_NAME_SIZE / 2];
    char key[YAML_NAME_SIZE / 2];
    char value[YAML_VALUE_SIZE]; /* items of the open sequence */
};

static enum error_code refuse(const struct reader *r, const yaml_event_t *event, const char *what,
                              struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s:%zu: %s", r->name, event->start_mark.line + 1, what);
}

static enum error_code add_entry(struct reader *r, const char *value, struct error *err)
{
    struct yaml_entry *grown =
        memory_resize(r->file->entry, r->file->count + 1, sizeof *r->file->entry);
    if (!grown)
        return error_set(err, ERROR_NO_MEMORY, "no memory for %s", r->name);
    r->file->entry = grown;
    struct yaml_entry *entry = &grown[r->file->count];
    (void)snprintf(entry->name, sizeof entry->name, "%s%s%s", r->section, r->section[0] ? "." : "",
                   r->key);
    entry->line = r->key_line;
    if (!text_copy(entry->value, sizeof entry->value, value))
        return error_set(err, ERROR_INVALID, "%s:%d: value of %s is longer than %zu bytes", r->name,
                         r->key_line, entry->name, sizeof entry->value - 1);
    for (size_t i = 0; i < r->file->count; i++)
        if (strcmp(grown[i].name, entry->name) == 0)
            return error_set(err, ERROR_INVALID, "%s:%d: %s stands a second time; first on line %d",
                             r->name, entry->line, entry->name, grown[i].line);
    r->file->count++;
    r->have_key = false;
    return ERROR_NONE;
}

static const char decorated[] = "anchors and tags are not used in settings";

static enum error_code on_scalar(struct reader *r, const yaml_event_t *event, struct error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length)
        return refuse(r, event, "a NUL character inside a value", err);
    if (event->data.scalar.anchor || event->data.scalar.tag)
        return refuse(r, event, decorated, err);
    if (r->in_sequence) {
        if (!*text || strchr(text, ','))
            return refuse(r, event, "an item of a list is empty or has a comma", err);
        const size_t used = strlen(r->value);
        const int n =
            snprintf(r->value + used, sizeof r->value - used, "%s%s", used ? "," : "", text);
        if (n < 0 || (size_t)n >= sizeof r->value - used)
            return refuse(r, event, "the list is too long", err);
        return ERROR_NONE;
    }
    if (r->have_key)
        return add_entry(r, text, err);
    if (r->depth == 0)
        return refuse(r, event, "expected 'key: value' lines, found a bare value", err);
    if (!text_copy(r->key, sizeof r->key, text))
        return refuse(r, event, "the key is too long", err);
    r->have_key = true;
    r->key_line = (int)event->start_mark.line + 1;
    return ERROR_NONE;
}

/* A section is a key like any other: all that belongs to it stands in one place. */
static enum error_code open_section(struct reader *r, const yaml_event_t *event, struct error *err)
{
    (void)text_copy(r->section, sizeof r->section, r->key);
    const size_t size = strlen(r->section);
    for (size_t i = 0; i < r->file->count; i++) {
        const struct yaml_entry *entry = &r->file->entry[i];
        if (strncmp(entry->name, r->section, size) == 0 &&
            (entry->name[size] == '.' || entry->name[size] == '\0'))
            return error_set(err, ERROR_INVALID, "%s:%zu: %s stands a second time; see line %d",
                             r->name, event->start_mark.line + 1, r->section, entry->line);
    }
    return ERROR_NONE;
}

static enum error_code on_mapping(struct reader *r, const yaml_event_t *event, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (event->data.mapping_start.anchor || event->data.mapping_start.tag)
        return refuse(r, event, decorated, err);
    if (r->in_sequence || (r->depth > 0 && !r->have_key))
        return refuse(r, event, "expected a value, found a mapping", err);
    if (r->depth == DEPTH_MAX)
        return refuse(r, event, "settings are two levels deep, this is a third", err);
    if (r->depth++ == 1)
        rc = open_section(r, event, err);
    r->have_key = false;
    return rc;
}

static enum error_code on_sequence(struct reader *r, const yaml_event_t *event, struct error *err)
{
    if (event->data.sequence_start.anchor || event->data.sequence_start.tag)
        return refuse(r, event, decorated, err);
    if (!r->have_key || r->in_sequence)
        return refuse(r, event, "a list can only be the value of a key", err);
    r->in_sequence = true;
    r->value[0] = '\0';
    return ERROR_NONE;
}

static enum error_code on_event(struct reader *r, const yaml_event_t *event, struct error *err)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(r, event, err);
    case YAML_MAPPING_START_EVENT:
        return on_mapping(r, event, err);
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        r->section[0] = '\0';
        return ERROR_NONE;
    case YAML_SEQUENCE_START_EVENT:
        return on_sequence(r, event, err);
    case YAML_SEQUENCE_END_EVENT:
        r->in_sequence = false;
        return add_entry(r, r->value, err);
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

/* Does that line (from 0) begin with blanks and a tab? */
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
                         "%s:%zu: the line is indented by a tab, which YAML does not allow; write "
                         "two blanks",
                         name, line + 1);
    return error_set(err, ERROR_INVALID, "%s:%zu: not valid YAML: %s", name, line + 1,
                     parser->problem ? parser->problem : "unreadable");
}

enum error_code yaml_parse(const char *text, size_t size, const char *name, struct yaml_file *out,
                           struct error *err)
{
    enum error_code rc = ERROR_NONE;
    struct reader r = {.name = name, .file = out};
    int documents = 0;
    *out = (struct yaml_file){0};
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
    if (rc != ERROR_NONE)
        yaml_file_release(out);
    return rc;
}

void yaml_file_release(struct yaml_file *file)
{
    memory_free(file->entry);
    *file = (struct yaml_file){0};
}
