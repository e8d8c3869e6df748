#include "stages/ingest/build/nodes/declared_types.h"

#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum error_code take_node_types(const struct declared_types *types,
                                       struct dataset_schema *schema, struct error *err)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < types->node_type_count; i++) {
        const struct node_type *type = &types->node_type[i];
        if (type->first_node != next)
            return error_set(err, ERROR_INPUT,
                             "node type %s: expected first node %" PRIu64 ", found %u", type->name,
                             next, type->first_node);
        for (uint32_t j = 0; schema->has_relations && j < i; j++)
            if (strcmp(types->node_type[j].name, type->name) == 0)
                return error_set(
                    err, ERROR_INPUT,
                    "node types %u and %u are both called %s: expected a name for each", j, i,
                    type->name);
        next += type->node_count;
        if (type != &schema->node_type[i])
            schema->node_type[i] = *type;
    }
    if (next != schema->node_count)
        return error_set(err, ERROR_INPUT, "node types: expected %u nodes in all, found %" PRIu64,
                         schema->node_count, next);
    schema->node_type_count = types->node_type_count;
    return ERROR_NONE;
}

/* Checks relation `i` of the schema against those before it and the settings. */
static enum error_code check_relation(const struct pipeline_settings *settings,
                                      const struct dataset_schema *schema, uint32_t i,
                                      struct error *err)
{
    const struct edge_type *type = &schema->edge_type[i];
    const char *source = schema->node_type[type->source_type].name;
    const char *target = schema->node_type[type->target_type].name;
    for (uint32_t j = 0; j < i; j++) {
        const struct edge_type *other = &schema->edge_type[j];
        if (strcmp(other->name, type->name) == 0 && other->source_type == type->source_type &&
            other->target_type == type->target_type)
            return error_set(err, ERROR_INPUT,
                             "edge types %u and %u are both %s from %s to %s: expected a name for "
                             "each%s",
                             j, i, type->name, source, target,
                             settings->ingest.add_reverse ? "; ingest.add_reverse takes rev_<name>"
                                                          : "");
    }
    if (type->source_type == type->target_type || settings->ingest.add_reverse)
        return ERROR_NONE;
    if (schema->undirected)
        return error_set(err, ERROR_INVALID,
                         "edges go both ways, but those of %s go from %s to %s: " ADVICE
                         "write `add_reverse: "
                         "true` below `ingest:`, or `direction: as_given`",
                         type->name, source, target);
    return ERROR_NONE;
}

static enum error_code check_relations(const struct pipeline_settings *settings,
                                       const struct dataset_schema *schema, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (settings->ingest.direction == DIRECTION_REVERSED)
        return error_set(err, ERROR_INVALID,
                         "ingest.direction is reversed, but ingest.relations fixes the direction "
                         "of edges: " ADVICE
                         "swap the node types of the relations, or write `direction: as_given`");
    for (uint32_t i = 0; rc == ERROR_NONE && i < schema->edge_type_count; i++)
        rc = check_relation(settings, schema, i, err);
    return rc;
}

/* Appends a reverse for each relation. */
static enum error_code add_reverses(struct dataset_schema *schema, struct error *err)
{
    const uint32_t given = schema->edge_type_count;
    if (given > EDGE_TYPE_COUNT_MAX / 2)
        return error_set(err, ERROR_INPUT,
                         "expected at most %d relations where each has a reverse, found %u: " ADVICE
                         "write "
                         "`add_reverse: false` below `ingest:`",
                         EDGE_TYPE_COUNT_MAX / 2, given);
    for (uint32_t i = 0; i < given; i++) {
        const struct edge_type *type = &schema->edge_type[i];
        struct edge_type *reverse = &schema->edge_type[given + i];
        *reverse =
            (struct edge_type){.source_type = type->target_type, .target_type = type->source_type};
        if (snprintf(reverse->name, sizeof reverse->name, "rev_%s", type->name) >=
            (int)sizeof reverse->name)
            return error_set(err, ERROR_INPUT,
                             "relation %s: expected a name of at most %d bytes, so that its "
                             "reverse can have one, found %zu",
                             type->name, TYPE_NAME_SIZE - 5, strlen(type->name));
    }
    schema->edge_type_count = 2 * given;
    return ERROR_NONE;
}

enum error_code declared_types_take(const struct declared_types *types,
                                    const struct pipeline_settings *settings,
                                    struct dataset_schema *schema, struct error *err)
{
    if (types->node_type_count < 1 || types->node_type_count > NODE_TYPE_COUNT_MAX ||
        types->edge_type_count < 1 || types->edge_type_count > EDGE_TYPE_COUNT_MAX)
        return error_set(err, ERROR_INPUT,
                         "expected 1 to %d node types and 1 to %d edge types, found %u and %u",
                         NODE_TYPE_COUNT_MAX, EDGE_TYPE_COUNT_MAX, types->node_type_count,
                         types->edge_type_count);
    enum error_code rc = take_node_types(types, schema, err);
    for (uint32_t i = 0; i < types->edge_type_count; i++) {
        if (types->edge_type != schema->edge_type)
            schema->edge_type[i] = types->edge_type[i];
        schema->edge_type[i].edge_count = 0;
    }
    schema->edge_type_count = types->edge_type_count;
    if (rc == ERROR_NONE && schema->has_relations && settings->ingest.add_reverse)
        rc = add_reverses(schema, err);
    return rc == ERROR_NONE && schema->has_relations ? check_relations(settings, schema, err) : rc;
}

/* Sets the target type that ingest.target_type names. */
static enum error_code take_target(const char *name, struct dataset_schema *schema,
                                   struct error *err)
{
    for (uint32_t t = 0; t < schema->node_type_count; t++)
        if (strcmp(schema->node_type[t].name, name) == 0) {
            schema->target_type = t;
            return ERROR_NONE;
        }
    return error_set(err, ERROR_INVALID,
                     "ingest.target_type is '%s', expected one of the node types, such as %s", name,
                     schema->node_type[0].name);
}

enum error_code declared_types_find_target(const struct node_targets *targets,
                                           const struct pipeline_settings *settings,
                                           struct dataset_schema *schema, struct error *err)
{
    const char *name = settings->ingest.target_type;
    const enum error_code rc = *name ? take_target(name, schema, err) : ERROR_NONE;
    bool is_found = false;
    uint32_t first = 0;
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t node = 0; node < targets->node_count; node++) {
        const uint32_t type = dataset_type_of(schema, node);
        const bool is_split = targets->split_of && targets->split_of[node];
        const bool is_labelled = targets->label && node_targets_has_label(targets, node);
        if (!is_split && !is_labelled)
            continue;
        if (*name && type != schema->target_type)
            return error_set(err, ERROR_INPUT,
                             "node %" PRIu32 " of type %s has a label or a split, but "
                             "ingest.target_type is %s: " ADVICE "give the others -1",
                             node, schema->node_type[type].name, name);
        if (is_found && type != schema->target_type)
            return error_set(err, ERROR_INPUT,
                             "node %" PRIu32 " of type %s and node %" PRIu32
                             " of type %s both have a label or a split: expected those of one "
                             "type; " ADVICE "give the others -1, or write `relations: false`",
                             first, schema->node_type[schema->target_type].name, node,
                             schema->node_type[type].name);
        if (!is_found)
            first = node;
        is_found = true;
        schema->target_type = type;
    }
    return ERROR_NONE;
}
