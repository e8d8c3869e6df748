/* Reads a card from the text in a model file. Anybody may have written that text, so every value is
 * checked. */
#include "common/base/memory.h"
#include "stages/plan/model/model_card.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct reader {
    struct model_card *card;
    const struct json_node *root;
    const char *name;
    struct error *err;
};

static enum error_code expected(const struct reader *r, const char *key, const char *what)
{
    return error_set(r->err, ERROR_INPUT, "%s: its card: %s: expected %s", r->name, key, what);
}

static enum error_code take_count(const struct reader *r, const struct json_node *node,
                                  const char *key, int64_t most, uint32_t *out)
{
    char what[64];
    int64_t value = -1;
    if (json_int64(json_get(node, key), &value) && value >= 0 && value <= most) {
        *out = (uint32_t)value;
        return ERROR_NONE;
    }
    (void)snprintf(what, sizeof what, "a whole number from 0 to %" PRId64, most);
    return expected(r, key, what);
}

static enum error_code take_text(const struct reader *r, const struct json_node *node,
                                 const char *key, char *out, size_t size)
{
    char what[48];
    const char *text = json_text(json_get(node, key));
    if (text && strlen(text) < size) {
        memcpy(out, text, strlen(text) + 1);
        return ERROR_NONE;
    }
    (void)snprintf(what, sizeof what, "a text below %zu bytes", size);
    return expected(r, key, what);
}

static enum error_code take_settings(const struct reader *r)
{
    struct pipeline_settings *settings = &r->card->settings;
    char where[256];
    const char *lines = json_text(json_get(r->root, "settings"));
    (void)snprintf(where, sizeof where, "%s: its card", r->name);
    pipeline_settings_defaults(settings);
    if (!lines)
        return expected(r, "settings", "lines of settings");
    const enum error_code rc = pipeline_settings_apply(settings, lines, where, r->err);
    pipeline_settings_date(settings, lines);
    return rc == ERROR_NONE ? take_text(r, r->root, "name", settings->name, sizeof settings->name)
                            : rc;
}

static enum error_code take_edges(const struct reader *r)
{
    const struct json_node *columns = json_get(r->root, "edge_columns");
    struct edge_widths *width = &r->card->book.edge_width;
    enum error_code rc = ERROR_NONE;
    if (!json_node_is_object(columns))
        return expected(r, "edge_columns", "an object");
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        if (!json_get(columns, edge_column[c].name))
            continue;
        rc = take_count(r, columns, edge_column[c].name, EDGE_COLUMN_WIDTH_MAX, &width->of[c]);
        if (rc == ERROR_NONE && !edge_column_may_be((enum edge_column)c, width->of[c]))
            rc = expected(r, edge_column[c].name, "a width that the column may have");
    }
    r->card->dataset.edge_width = *width;
    return rc;
}

static enum error_code take_schema(const struct reader *r)
{
    struct model_card *card = r->card;
    const char *task = json_text(json_get(r->root, "task"));
    card->book.task = task ? task_named(task, strlen(task)) : TASK_UNKNOWN;
    card->dataset.task = card->book.task;
    (void)snprintf(card->dataset.id, sizeof card->dataset.id, "of a file");
    if (card->book.task == TASK_UNKNOWN)
        return expected(r, "task", "the name of a task");
    enum error_code rc = take_count(r, r->root, "class_count", INT32_MAX, &card->book.class_count);
    if (rc == ERROR_NONE)
        rc = take_count(r, r->root, "feature_dim", INT32_MAX, &card->book.feature_dim);
    if (rc == ERROR_NONE)
        rc = take_text(r, r->root, "feature_origin", card->dataset.feature_origin,
                       sizeof card->dataset.feature_origin);
    card->dataset.feature_dim = card->book.feature_dim;
    card->dataset.class_count = card->book.class_count;
    return rc == ERROR_NONE ? take_edges(r) : rc;
}

/* --- relations --- */

static enum error_code take_type(const struct reader *r, const struct json_node *node, uint32_t t)
{
    struct node_type *type = &r->card->dataset.node_type[t];
    enum error_code rc = take_text(r, node, "name", type->name, sizeof type->name);
    if (rc == ERROR_NONE)
        rc = take_count(r, node, "feature_dim", INT32_MAX, &type->feature_dim);
    memcpy(r->card->type_name[t], type->name, sizeof type->name);
    r->card->type_dim[t] = type->feature_dim;
    return rc;
}

static enum error_code take_relation(const struct reader *r, const struct json_node *node,
                                     uint32_t number)
{
    struct model_card *card = r->card;
    struct edge_type *type = &card->dataset.edge_type[number];
    const int64_t last = (int64_t)card->dataset.node_type_count - 1;
    uint32_t source = 0, target = 0;
    enum error_code rc = take_text(r, node, "name", type->name, sizeof type->name);
    if (rc == ERROR_NONE)
        rc = take_count(r, node, "source", last, &source);
    if (rc == ERROR_NONE)
        rc = take_count(r, node, "target", last, &target);
    type->source_type = (uint16_t)source;
    type->target_type = (uint16_t)target;
    card->relation[number] =
        (struct relation){.source_type = type->source_type, .target_type = type->target_type};
    memcpy(card->relation[number].name, type->name, sizeof type->name);
    return rc;
}

static enum error_code take_relations(const struct reader *r)
{
    struct model_card *card = r->card;
    const struct json_node *types = json_get(r->root, "node_types");
    const struct json_node *relations = json_get(r->root, "relations");
    const size_t type_count = json_count(types), relation_count = json_count(relations);
    enum error_code rc = ERROR_NONE;
    if (!types && !relations)
        return ERROR_NONE;
    if (!json_node_is_array(types) || type_count < 1 || type_count > NODE_TYPE_COUNT_MAX)
        return expected(r, "node_types", "some node types");
    if (!json_node_is_array(relations) || relation_count < 1 ||
        relation_count > EDGE_TYPE_COUNT_MAX)
        return expected(r, "relations", "some relations");
    card->dataset.has_relations = true;
    card->dataset.node_type_count = (uint32_t)type_count;
    card->dataset.edge_type_count = (uint32_t)relation_count;
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count; t++)
        rc = take_type(r, json_at(types, t), t);
    for (uint32_t k = 0; rc == ERROR_NONE && k < relation_count; k++)
        rc = take_relation(r, json_at(relations, k), k);
    if (rc == ERROR_NONE)
        rc = take_count(r, r->root, "target_type", (int64_t)type_count - 1,
                        &card->dataset.target_type);
    card->book.type_count = (uint32_t)type_count;
    card->book.relation_count = (uint32_t)relation_count;
    card->book.target_type = card->dataset.target_type;
    card->book.type_name = (const char(*)[RELATION_NAME_SIZE])card->type_name;
    card->book.type_dim = card->type_dim;
    card->book.relation = card->relation;
    return rc;
}

/* --- numbers --- */

static enum error_code take_scaling(const struct reader *r)
{
    const struct pipeline_settings *settings = &r->card->settings;
    const char *text = json_text(json_get(r->root, "feature_scaling"));
    if (!settings->ingest.standardise && !settings->ingest.normalise_rows)
        return ERROR_NONE;
    if (!text)
        return error_set(r->err, ERROR_INPUT,
                         "%s does not say how the model's features were scaled: expected the "
                         "folder of the run that trained it instead",
                         r->name);
    const size_t size = strlen(text) + 1;
    const enum error_code rc = memory_new(&r->card->scaling, size, "statistics of columns", r->err);
    if (rc == ERROR_NONE)
        memcpy(r->card->scaling, text, size);
    return rc;
}

static enum error_code take_encoding(const struct reader *r)
{
    const struct json_node *node = json_get(r->root, "column_encoding");
    const char *text = json_text(node);
    if (!node)
        return ERROR_NONE;
    if (!text)
        return error_set(r->err, ERROR_INPUT,
                         "%s does not say how the model's columns were encoded: expected the "
                         "folder of the run that trained it instead",
                         r->name);
    const size_t size = strlen(text) + 1;
    const enum error_code rc = memory_new(&r->card->encoding, size, "encoded columns", r->err);
    if (rc == ERROR_NONE)
        memcpy(r->card->encoding, text, size);
    return rc;
}

static enum error_code take_class_weights(const struct reader *r)
{
    const struct json_node *weights = json_get(r->root, "class_weights");
    const uint32_t count = r->card->book.class_count;
    if (!weights)
        return ERROR_NONE;
    if (json_count(weights) != count)
        return expected(r, "class_weights", "a number for each class");
    enum error_code rc = memory_new(&r->card->class_weight, count, "weights of classes", r->err);
    for (uint32_t c = 0; rc == ERROR_NONE && c < count; c++)
        if (!json_double(json_at(weights, c), &r->card->class_weight[c]) ||
            !(r->card->class_weight[c] >= 0))
            rc = expected(r, "class_weights", "numbers of 0 or more");
    return rc;
}

enum error_code model_card_parse(struct model_card *out, const char *text, const char *name,
                                 struct error *err)
{
    static enum error_code (*const take[])(const struct reader *) = {
        take_settings, take_schema,   take_relations,
        take_scaling,  take_encoding, take_class_weights};
    struct json_document *document = NULL;
    char where[256];
    (void)snprintf(where, sizeof where, "%s: its card", name);
    enum error_code rc = json_parse(text, strlen(text), where, &document, err);
    const struct reader r = {.card = out,
                             .root = rc == ERROR_NONE ? json_root(document) : NULL,
                             .name = name,
                             .err = err};
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof take / sizeof *take; i++)
        rc = take[i](&r);
    json_free(document);
    return rc;
}
