#include "store/records/dataset/dataset_schema.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/text/time_text.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <string.h>

/*
 * One table names every plain field, so that writing and reading cannot disagree. What has its own
 * form (texts, enums, lists of types) is written out below.
 */
enum { SCHEMA_VERSION = 2, RELATIONS_VERSION = 3 };

enum field_type { FIELD_U32, FIELD_U64, FIELD_BOOL };

struct schema_field {
    const char *name;
    enum field_type type;
    size_t offset;
};

#define FIELD(name, type)                                                                          \
    {                                                                                              \
#name, type, offsetof(struct dataset_schema, name)                                         \
    }
static const struct schema_field fields[] = {
    FIELD(node_count, FIELD_U32),          FIELD(edge_count, FIELD_U64),
    FIELD(self_loop_count, FIELD_U64),     FIELD(input_edge_rows, FIELD_U64),
    FIELD(removed_self_loops, FIELD_U64),  FIELD(removed_duplicates, FIELD_U64),
    FIELD(undirected, FIELD_BOOL),         FIELD(negative_weight_count, FIELD_U64),
    FIELD(feature_dim, FIELD_U32),         FIELD(class_count, FIELD_U32),
    FIELD(train_count, FIELD_U32),         FIELD(valid_count, FIELD_U32),
    FIELD(test_count, FIELD_U32),          FIELD(edge_chunk_count, FIELD_U64),
    FIELD(feature_chunk_count, FIELD_U64),
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

/* Writes a key only if it is true. */
static const struct schema_field together = FIELD(pairs_together, FIELD_BOOL);

/* Entry 0 stands for "unknown", which is never written. */
static const char *const id_form_names[] = {"", "consecutive", "integer", "string", NULL};

static void put_field(struct json_writer *w, const struct schema_field *field,
                      const struct dataset_schema *schema)
{
    const char *place = (const char *)schema + field->offset;
    uint32_t small = 0;
    uint64_t large = 0;
    bool flag = false;
    switch (field->type) {
    case FIELD_U32:
        memcpy(&small, place, sizeof small);
        json_put_int64(w, field->name, small);
        break;
    case FIELD_U64:
        memcpy(&large, place, sizeof large);
        json_put_int64(w, field->name, (int64_t)large);
        break;
    case FIELD_BOOL:
        memcpy(&flag, place, sizeof flag);
        json_put_bool(w, field->name, flag);
        break;
    }
}

static void put_edge_columns(struct json_writer *w, const struct edge_widths *width)
{
    json_open_object(w, "edge_columns");
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (width->of[c])
            json_put_int64(w, edge_column[c].name, width->of[c]);
    json_close_object(w);
}

static void put_types(struct json_writer *w, const struct dataset_schema *schema)
{
    json_open_array(w, "node_types");
    for (uint32_t i = 0; i < schema->node_type_count; i++) {
        json_open_object(w, NULL);
        json_put_string(w, "name", schema->node_type[i].name);
        json_put_int64(w, "first_node", schema->node_type[i].first_node);
        json_put_int64(w, "node_count", schema->node_type[i].node_count);
        if (schema->has_relations)
            json_put_int64(w, "feature_dim", schema->node_type[i].feature_dim);
        if (schema->has_relations && schema->type_origin[i][0])
            json_put_string(w, "feature_origin", schema->type_origin[i]);
        json_close_object(w);
    }
    json_close_array(w);
    json_open_array(w, "edge_types");
    for (uint32_t i = 0; i < schema->edge_type_count; i++) {
        json_open_object(w, NULL);
        json_put_string(w, "name", schema->edge_type[i].name);
        json_put_int64(w, "edge_count", (int64_t)schema->edge_type[i].edge_count);
        if (schema->has_relations) {
            json_put_int64(w, "source_type", schema->edge_type[i].source_type);
            json_put_int64(w, "target_type", schema->edge_type[i].target_type);
        }
        if (schema->back_plus[i])
            json_put_int64(w, "back", schema->back_plus[i] - 1);
        if (schema->lacks[i])
            json_put_int64(w, "lacks", schema->lacks[i]);
        json_close_object(w);
    }
    json_close_array(w);
}

enum error_code dataset_schema_put(struct store *store, const struct dataset_schema *schema,
                                   struct error *err)
{
    return dataset_schema_put_with_report(store, schema, NULL, err);
}

enum error_code dataset_schema_put_with_report(struct store *store,
                                               const struct dataset_schema *schema,
                                               const char *report, struct error *err)
{
    struct json_writer w = {0};
    json_open_object(&w, NULL);
    json_put_string(&w, "id", schema->id);
    json_put_string(&w, "name", schema->name);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        put_field(&w, &fields[i], schema);
    json_put_string(&w, "feature_origin", schema->feature_origin);
    json_put_string(&w, "task", task_name(schema->task));
    json_put_string(&w, "node_id_form", id_form_names[schema->node_id_form]);
    if (schema->pairs_together)
        json_put_bool(&w, "pairs_together", true);
    put_edge_columns(&w, &schema->edge_width);
    if (schema->weight_most > 0) {
        json_put_double(&w, "weight_least", schema->weight_least);
        json_put_double(&w, "weight_most", schema->weight_most);
    }
    if (schema->time_unit[0])
        json_put_string(&w, "time_unit", schema->time_unit);
    json_put_string(&w, "first_negative_weight", schema->first_negative_weight);
    if (schema->has_relations)
        json_put_int64(&w, "target_type", schema->target_type);
    put_types(&w, schema);
    json_close_object(&w);
    enum error_code rc = json_writer_finish(&w, err);
    if (rc == ERROR_NONE) {
        struct record record = {.kind = RECORD_DATASET_SCHEMA,
                                .version =
                                    schema->has_relations ? RELATIONS_VERSION : SCHEMA_VERSION};
        record_add_text(&record, "json", w.text);
        if (report)
            record_add_text(&record, "report", report);
        rc = store_put(store, key_dataset(schema->id, "schema").text, schema->id, &record,
                       STORE_DURABLE, err);
    }
    json_writer_release(&w);
    return rc;
}

/* `key` is the record's, for messages; `least` .. `most` is what the number may be. */
static enum error_code get_number(const struct json_node *object, const char *name, int64_t most,
                                  const char *key, uint64_t *out, struct error *err)
{
    int64_t number = 0;
    const struct json_node *node = json_get(object, name);
    if (!json_int64(node, &number))
        return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected an integer, found %s", key, name,
                         node ? "something else" : "nothing");
    if (number < 0 || number > most)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected 0 to %" PRId64 ", found %" PRId64, key, name, most,
                         number);
    *out = (uint64_t)number;
    return ERROR_NONE;
}

static enum error_code get_u32(const struct json_node *object, const char *name, const char *key,
                               uint32_t *out, struct error *err)
{
    uint64_t number = 0;
    const enum error_code rc = get_number(object, name, UINT32_MAX, key, &number, err);
    *out = (uint32_t)number;
    return rc;
}

static enum error_code get_string(const struct json_node *object, const char *name, const char *key,
                                  char *out, size_t size, struct error *err)
{
    const struct json_node *node = json_get(object, name);
    const char *text = json_text(node);
    if (!text)
        return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected a string, found %s", key, name,
                         node ? "something else" : "nothing");
    if (!text_copy(out, size, text))
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected at most %zu bytes, found %zu: %.40s...", key, name,
                         size - 1, strlen(text), text);
    return ERROR_NONE;
}

/* The index of a string among `names`, from 1. */
static enum error_code get_choice(const struct json_node *object, const char *name, const char *key,
                                  const char *const *names, int *out, struct error *err)
{
    char text[32];
    const enum error_code rc = get_string(object, name, key, text, sizeof text, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int i = 1; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return ERROR_NONE;
        }
    }
    return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected %s, %s or %s, found %s", key, name,
                     names[1], names[2], names[3], text);
}

static enum error_code get_task(const struct json_node *object, const char *key,
                                enum task_kind *out, struct error *err)
{
    char text[64];
    const enum error_code rc = get_string(object, "task", key, text, sizeof text, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = task_named(text, strlen(text));
    return *out != TASK_UNKNOWN
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "%s: \"task\": expected one that this program has, found %s", key, text);
}

static enum error_code get_field(const struct json_node *object, const struct schema_field *field,
                                 const char *key, struct dataset_schema *out, struct error *err)
{
    char *place = (char *)out + field->offset;
    if (field->type == FIELD_BOOL) {
        bool flag = false;
        if (!json_bool(json_get(object, field->name), &flag))
            return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected true or false", key,
                             field->name);
        memcpy(place, &flag, sizeof flag);
        return ERROR_NONE;
    }
    uint64_t large = 0;
    const enum error_code rc = get_number(
        object, field->name, field->type == FIELD_U32 ? UINT32_MAX : INT64_MAX, key, &large, err);
    const uint32_t small = (uint32_t)large;
    if (field->type == FIELD_U32)
        memcpy(place, &small, sizeof small);
    else
        memcpy(place, &large, sizeof large);
    return rc;
}

static enum error_code get_type_list(const struct json_node *object, const char *name,
                                     uint32_t most, const char *key, const struct json_node **list,
                                     uint32_t *count, struct error *err)
{
    *list = json_get(object, name);
    const size_t found = json_count(*list);
    if (found < 1 || found > most || !json_at(*list, 0))
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"%s\": expected an array of 1 to %u types, found %zu", key, name,
                         most, found);
    *count = (uint32_t)found;
    return ERROR_NONE;
}

static enum error_code get_node_types(const struct json_node *object, const char *key,
                                      struct dataset_schema *out, struct error *err)
{
    const struct json_node *list = NULL;
    enum error_code rc = get_type_list(object, "node_types", NODE_TYPE_COUNT_MAX, key, &list,
                                       &out->node_type_count, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < out->node_type_count; i++) {
        struct node_type *type = &out->node_type[i];
        const struct json_node *node = json_at(list, i);
        rc = get_string(node, "name", key, type->name, sizeof type->name, err);
        if (rc == ERROR_NONE)
            rc = get_u32(node, "first_node", key, &type->first_node, err);
        if (rc == ERROR_NONE)
            rc = get_u32(node, "node_count", key, &type->node_count, err);
        if (rc == ERROR_NONE && out->has_relations)
            rc = get_u32(node, "feature_dim", key, &type->feature_dim, err);
        if (rc == ERROR_NONE && out->has_relations && json_get(node, "feature_origin"))
            rc = get_string(node, "feature_origin", key, out->type_origin[i], FEATURE_ORIGIN_SIZE,
                            err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "node type %u", i);
    }
    return rc;
}

/* A node type by its number. */
static enum error_code get_type_number(const struct json_node *object, const char *name,
                                       const struct dataset_schema *schema, const char *key,
                                       uint32_t *out, struct error *err)
{
    uint64_t number = 0;
    const enum error_code rc =
        get_number(object, name, (int64_t)schema->node_type_count - 1, key, &number, err);
    *out = (uint32_t)number;
    return rc;
}

static enum error_code get_ends(const struct json_node *object, const struct dataset_schema *schema,
                                const char *key, struct edge_type *out, struct error *err)
{
    uint32_t source = 0, target = 0;
    enum error_code rc = get_type_number(object, "source_type", schema, key, &source, err);
    if (rc == ERROR_NONE)
        rc = get_type_number(object, "target_type", schema, key, &target, err);
    out->source_type = (uint16_t)source;
    out->target_type = (uint16_t)target;
    return rc;
}

static enum error_code get_back(const struct json_node *object, const struct dataset_schema *schema,
                                const char *key, uint16_t *out, struct error *err)
{
    uint64_t number = 0;
    const enum error_code rc =
        get_number(object, "back", (int64_t)schema->edge_type_count - 1, key, &number, err);
    *out = (uint16_t)(number + 1);
    return rc;
}

static enum error_code get_edge_types(const struct json_node *object, const char *key,
                                      struct dataset_schema *out, struct error *err)
{
    const struct json_node *list = NULL;
    enum error_code rc = get_type_list(object, "edge_types", EDGE_TYPE_COUNT_MAX, key, &list,
                                       &out->edge_type_count, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < out->edge_type_count; i++) {
        struct edge_type *type = &out->edge_type[i];
        const struct json_node *node = json_at(list, i);
        rc = get_string(node, "name", key, type->name, sizeof type->name, err);
        if (rc == ERROR_NONE)
            rc = get_number(node, "edge_count", INT64_MAX, key, &type->edge_count, err);
        if (rc == ERROR_NONE && out->has_relations)
            rc = get_ends(node, out, key, type, err);
        if (rc == ERROR_NONE && json_get(node, "back"))
            rc = get_back(node, out, key, &out->back_plus[i], err);
        if (rc == ERROR_NONE && json_get(node, "lacks"))
            rc = get_u32(node, "lacks", key, &out->lacks[i], err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "edge type %u", i);
    }
    return rc;
}

static enum error_code get_edge_columns(const struct json_node *root, const char *key,
                                        struct edge_widths *out, struct error *err)
{
    const struct json_node *object = json_get(root, "edge_columns");
    enum error_code rc = ERROR_NONE;
    size_t known = 0;
    if (!json_node_is_object(object))
        return error_set(err, ERROR_CORRUPT, "%s: \"edge_columns\": expected an object, found %s",
                         key, object ? "something else" : "nothing");
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++)
        if (json_get(object, edge_column[c].name)) {
            known++;
            rc = get_u32(object, edge_column[c].name, key, &out->of[c], err);
            if (rc == ERROR_NONE &&
                (out->of[c] == 0 || !edge_column_may_be((enum edge_column)c, out->of[c])))
                rc = error_set(err, ERROR_CORRUPT,
                               "%s: \"edge_columns\": \"%s\": expected 1 to %d elements an edge, "
                               "found %u",
                               key, edge_column[c].name,
                               edge_column[c].has_width ? EDGE_COLUMN_WIDTH_MAX : 1, out->of[c]);
        }
    if (rc == ERROR_NONE && known != json_count(object))
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: \"edge_columns\": expected columns of edges, found %zu of another name",
                       key, json_count(object) - known);
    return rc;
}

/* Reads both. A schema of an earlier release has neither. */
static enum error_code get_weights(const struct json_node *root, const char *key,
                                   struct dataset_schema *out, struct error *err)
{
    double *least = &out->weight_least, *most = &out->weight_most;
    if (!json_get(root, "weight_least") && !json_get(root, "weight_most"))
        return ERROR_NONE;
    if (json_double(json_get(root, "weight_least"), least) &&
        json_double(json_get(root, "weight_most"), most) && *least > 0 && *least <= *most)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: \"weight_least\", \"weight_most\": expected two numbers above 0, the "
                     "first not the larger one",
                     key);
}

static enum error_code get_time_unit(const struct json_node *root, const char *key,
                                     struct dataset_schema *out, struct error *err)
{
    struct time_format format;
    const enum error_code rc =
        get_string(root, "time_unit", key, out->time_unit, sizeof out->time_unit, err);
    if (rc != ERROR_NONE || time_format_of_meaning(out->time_unit, &format))
        return rc;
    return error_set(err, ERROR_CORRUPT,
                     "%s: \"time_unit\": expected a unit of times that this program has, found %s",
                     key, out->time_unit);
}

static enum error_code get_all(const struct json_node *root, const char *key,
                               struct dataset_schema *out, struct error *err)
{
    int form = 0;
    enum error_code rc = get_string(root, "id", key, out->id, sizeof out->id, err);
    if (rc == ERROR_NONE)
        rc = get_string(root, "name", key, out->name, sizeof out->name, err);
    for (size_t i = 0; rc == ERROR_NONE && i < FIELD_COUNT; i++)
        rc = get_field(root, &fields[i], key, out, err);
    if (rc == ERROR_NONE)
        rc = get_string(root, "feature_origin", key, out->feature_origin,
                        sizeof out->feature_origin, err);
    if (rc == ERROR_NONE)
        rc = get_task(root, key, &out->task, err);
    if (rc == ERROR_NONE)
        rc = get_choice(root, "node_id_form", key, id_form_names, &form, err);
    if (rc == ERROR_NONE && json_get(root, "pairs_together"))
        rc = get_field(root, &together, key, out, err);
    if (rc == ERROR_NONE)
        rc = get_edge_columns(root, key, &out->edge_width, err);
    if (rc == ERROR_NONE)
        rc = get_weights(root, key, out, err);
    if (rc == ERROR_NONE && json_get(root, "time_unit"))
        rc = get_time_unit(root, key, out, err);
    if (rc == ERROR_NONE)
        rc = get_string(root, "first_negative_weight", key, out->first_negative_weight,
                        sizeof out->first_negative_weight, err);
    if (rc == ERROR_NONE)
        rc = get_node_types(root, key, out, err);
    if (rc == ERROR_NONE && out->has_relations)
        rc = get_type_number(root, "target_type", out, key, &out->target_type, err);
    if (rc == ERROR_NONE)
        rc = get_edge_types(root, key, out, err);
    out->node_id_form = (enum node_id_form)form;
    return rc;
}

static enum error_code check_types(const struct dataset_schema *schema, const char *key,
                                   struct error *err)
{
    uint64_t next = 0, edges = 0;
    for (uint32_t i = 0; i < schema->node_type_count; i++) {
        const struct node_type *type = &schema->node_type[i];
        if (type->first_node != next)
            return error_set(err, ERROR_CORRUPT,
                             "%s: node type %s: expected first node %" PRIu64 ", found %u", key,
                             type->name, next, type->first_node);
        next += type->node_count;
    }
    if (next != schema->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: node types: expected %u nodes in all, found %" PRIu64, key,
                         schema->node_count, next);
    for (uint32_t i = 0; i < schema->edge_type_count; i++) {
        const uint64_t count = schema->edge_type[i].edge_count;
        if (count > schema->edge_count - edges)
            return error_set(err, ERROR_CORRUPT,
                             "%s: edge type %s: expected at most %" PRIu64 " edges, found %" PRIu64,
                             key, schema->edge_type[i].name, schema->edge_count - edges, count);
        edges += count;
    }
    if (edges != schema->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: edge types: expected %" PRIu64 " edges in all, found %" PRIu64, key,
                         schema->edge_count, edges);
    return ERROR_NONE;
}

/* Chunk counts follow from the other numbers exactly (features) or within bounds (edges). */
static enum error_code check_chunks(const struct dataset_schema *schema, const char *key,
                                    struct error *err)
{
    const uint64_t wanted = dataset_feature_chunks(schema);
    if (schema->feature_chunk_count != wanted)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"feature_chunk_count\": expected %" PRIu64 ", found %" PRIu64, key,
                         wanted, schema->feature_chunk_count);
    if (schema->edge_chunk_count < 1 || schema->edge_chunk_count > schema->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"edge_chunk_count\": expected 1 to %u, found %" PRIu64, key,
                         schema->node_count, schema->edge_chunk_count);
    return ERROR_NONE;
}

static enum error_code check_labels(const struct dataset_schema *schema, const char *key,
                                    struct error *err)
{
    const bool labelled = schema->task != TASK_NONE;
    if (labelled != (schema->class_count > 0))
        return error_set(err, ERROR_CORRUPT, "%s: \"class_count\": expected %s, found %u", key,
                         labelled ? "1 or more" : "0 without a task", schema->class_count);
    const uint64_t in_splits =
        (uint64_t)schema->train_count + schema->valid_count + schema->test_count;
    if (task_has(schema->task, TASK_LABELS_NODES | TASK_HAS_GRAPHS) &&
        in_splits > schema->node_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: splits: expected at most %u nodes in all, found %" PRIu64, key,
                         schema->node_count, in_splits);
    return ERROR_NONE;
}

static enum error_code check(const struct dataset_schema *schema, const char *key,
                             struct error *err)
{
    if (schema->node_count < 1 || schema->node_count > UINT32_MAX - 1)
        return error_set(err, ERROR_CORRUPT, "%s: \"node_count\": expected 1 to %u, found %u", key,
                         UINT32_MAX - 1, schema->node_count);
    if (schema->feature_dim < 1 && !schema->has_relations &&
        strcmp(schema->feature_origin, "none") != 0)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"feature_dim\": expected 1 or more of \"feature_origin\" \"%s\", "
                         "found 0",
                         key, schema->feature_origin);
    if (schema->has_relations &&
        schema->feature_dim != schema->node_type[schema->target_type].feature_dim)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"feature_dim\": expected %u as the target type has, found %u", key,
                         schema->node_type[schema->target_type].feature_dim, schema->feature_dim);
    if (schema->self_loop_count > schema->edge_count)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"self_loop_count\": expected at most %" PRIu64 ", found %" PRIu64,
                         key, schema->edge_count, schema->self_loop_count);
    enum error_code rc = check_types(schema, key, err);
    if (rc == ERROR_NONE)
        rc = check_chunks(schema, key, err);
    if (rc == ERROR_NONE)
        rc = check_labels(schema, key, err);
    return rc;
}

/* The version to expect of a record: its own, where that is known. */
static uint32_t version_of(const struct record_view *view)
{
    return view->version == RELATIONS_VERSION ? RELATIONS_VERSION : SCHEMA_VERSION;
}

enum error_code dataset_schema_decode(const struct record_view *view, struct dataset_schema *out,
                                      struct error *err)
{
    const void *text = NULL;
    uint64_t size = 0;
    struct json_document *document = NULL;
    *out = (struct dataset_schema){0};
    out->has_relations = view->version == RELATIONS_VERSION;
    enum error_code rc = record_expect(view, RECORD_DATASET_SCHEMA, version_of(view), err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "json", ELEMENT_U8, -1, &text, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = json_parse(text, size, view->key, &document, err);
    if (rc == ERROR_INPUT) /* what is wrong is not the user's data but a record */
        rc = error_context(err, ERROR_CORRUPT, "schema");
    if (rc == ERROR_NONE)
        rc = get_all(json_root(document), view->key, out, err);
    if (rc == ERROR_NONE)
        rc = check(out, view->key, err);
    json_free(document);
    return rc;
}

enum error_code dataset_schema_get(struct store *store, const char *dataset_id,
                                   struct dataset_schema *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct dataset_schema){0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "schema").text, dataset_id, &view, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_decode(&view, out, err);
    if (rc == ERROR_NONE && strcmp(out->id, dataset_id) != 0)
        rc = error_set(err, ERROR_CORRUPT, "%s: \"id\": expected %s, found %s", view.key,
                       dataset_id, out->id);
    store_release_record(&view);
    return rc;
}

enum error_code dataset_report_get(struct store *store, const char *dataset_id, char **report,
                                   struct error *err)
{
    struct record_view view = {0};
    const void *text = NULL;
    uint64_t size = 0;
    *report = NULL;
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "schema").text, dataset_id, &view, err);
    if (rc == ERROR_NONE)
        rc = record_expect(&view, RECORD_DATASET_SCHEMA, version_of(&view), err);
    if (rc == ERROR_NONE &&
        record_section_get(&view, "report", ELEMENT_U8, -1, &text, &size, NULL) == ERROR_NONE) {
        rc = memory_new(report, (size_t)size + 1, "the report of a dataset", err);
        if (rc == ERROR_NONE)
            memcpy(*report, text, (size_t)size);
    }
    store_release_record(&view);
    return rc;
}
