#include "pipelines/export/metrics_events.h"

#include "common/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_number_of_something(const char *key)
{
    static const char *const keys[] = {"round", "snapshot", "epoch", "best"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static enum error_code add_values(struct event_file *file, const struct json_node *line,
                                  const char *kind, int64_t step, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < json_count(line); i++) {
        const struct json_node *node = NULL;
        const char *key = json_member(line, i, &node);
        char tag[EVENT_TAG_MAX];
        double value = 0.0;
        if (!key || is_number_of_something(key) || !json_double(node, &value))
            continue;
        (void)snprintf(tag, sizeof tag, "%s/%s", kind, key);
        rc = event_file_add(file, tag, step, (float)value, err);
    }
    return rc;
}

static enum error_code add_line(struct event_file *file, const char *text, size_t size,
                                const char *name, int64_t number, struct error *err)
{
    struct json_document *document = NULL;
    int64_t step = -1;
    enum error_code rc = json_parse(text, size, name, &document, err);
    const struct json_node *line = rc == ERROR_NONE ? json_root(document) : NULL;
    const bool is_round = line && json_get(line, "round");
    if (rc == ERROR_NONE &&
        (!json_int64(json_get(line, is_round ? "round" : "snapshot"), &step) || step < 0))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s:%" PRId64 ": expected the number of a round or of a snapshot", name,
                       number);
    if (rc == ERROR_NONE)
        rc = add_values(file, line, is_round ? "round" : "snapshot", step, err);
    json_free(document);
    return rc;
}

enum error_code metrics_events_add(struct event_file *file, const char *text, size_t size,
                                   const char *name, struct error *err)
{
    const char *end = text + size;
    enum error_code rc = ERROR_NONE;
    for (int64_t number = 1; rc == ERROR_NONE && text < end; number++) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            break;
        rc = add_line(file, text, (size_t)(line_end - text), name, number, err);
        text = line_end + 1;
    }
    return rc;
}
