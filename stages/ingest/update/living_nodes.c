#include "stages/ingest/update/living_nodes.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>

static enum error_code note_base(struct living_nodes *nodes, uint32_t node, struct error *err)
{
    const struct node_ids *ids = &nodes->ids;
    if (ids->integer)
        return node_id_assigner_add_integer(&nodes->base.ids, ids->integer[node], err);
    return node_id_assigner_add_text(&nodes->base.ids, ids->text + ids->offset[node],
                                     ids->offset[node + 1] - ids->offset[node], err);
}

static int64_t find_base(const struct living_nodes *nodes, uint32_t node)
{
    const struct node_ids *ids = &nodes->ids;
    if (ids->integer)
        return node_id_assigner_find_integer(&nodes->base.ids, ids->integer[node]);
    return node_id_assigner_find_text(&nodes->base.ids, ids->text + ids->offset[node],
                                      ids->offset[node + 1] - ids->offset[node]);
}

/* The assigner numbers integers in their order; those of a version may stand in another. */
static enum error_code number_base(struct living_nodes *nodes, const struct dataset_schema *schema,
                                   struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t node = 0; rc == ERROR_NONE && node < nodes->base_count; node++)
        rc = note_base(nodes, node, err);
    if (rc == ERROR_NONE && nodes->base.ids.count != nodes->base_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "dataset %s: expected an id for each of %" PRIu32 " nodes, found %" PRIu64
                       " different ones",
                       schema->id, nodes->base_count, nodes->base.ids.count);
    if (rc == ERROR_NONE)
        rc = memory_new(&nodes->number, nodes->base_count, "the numbers of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    named_nodes_finish(&nodes->base);
    for (uint32_t node = 0; node < nodes->base_count; node++)
        nodes->number[find_base(nodes, node)] = node;
    return ERROR_NONE;
}

enum error_code living_nodes_open(struct living_nodes *nodes, struct store *store,
                                  const struct dataset_schema *schema, uint64_t memory_bytes,
                                  struct error *err)
{
    const bool of_strings = schema->node_id_form == NODE_ID_STRING;
    *nodes = (struct living_nodes){.base_count = schema->node_count,
                                   .are_numbers = schema->node_id_form == NODE_ID_CONSECUTIVE};
    named_nodes_init(&nodes->base, of_strings, memory_bytes / 2);
    named_nodes_init(&nodes->added, of_strings, memory_bytes / 4);
    if (nodes->are_numbers)
        return ERROR_NONE;
    bool found = false;
    enum error_code rc = merged_ids_find(store, schema->id, &found, &nodes->ids, err);
    if (rc == ERROR_NONE && !found)
        rc = error_set(err, ERROR_CORRUPT, "dataset %s: expected ids of its nodes, found none",
                       schema->id);
    return rc == ERROR_NONE ? number_base(nodes, schema, err) : rc;
}

void living_nodes_release(struct living_nodes *nodes)
{
    store_release_record(&nodes->ids.view);
    named_nodes_release(&nodes->base);
    named_nodes_release(&nodes->added);
    memory_free(nodes->number);
    *nodes = (struct living_nodes){0};
}

static int64_t find_in_base(const struct living_nodes *nodes, const struct field *field)
{
    int64_t id = 0;
    if (nodes->are_numbers)
        return text_int64(field->text, field->size, &id) && id >= 0 && id < nodes->base_count ? id
                                                                                              : -1;
    const int64_t found = named_nodes_find(&nodes->base, field);
    return found < 0 ? -1 : (int64_t)nodes->number[found];
}

int64_t living_nodes_find(const struct living_nodes *nodes, const struct field *field)
{
    const int64_t in_base = find_in_base(nodes, field);
    if (in_base >= 0 || !nodes->added.ids.is_finished)
        return in_base;
    const int64_t found = named_nodes_find(&nodes->added, field);
    return found < 0 ? -1 : (int64_t)nodes->base_count + found;
}

enum error_code living_nodes_add(struct living_nodes *nodes, const struct field *field,
                                 const char *where, int64_t line, struct error *err)
{
    const uint64_t before = nodes->added.ids.count;
    char text[NODE_ID_TEXT_SIZE];
    const int64_t found = find_in_base(nodes, field);
    if (found >= 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node %s is there already: expected ids of new nodes",
                         where, line, living_nodes_text(nodes, (uint32_t)found, text));
    const enum error_code rc = named_nodes_note(&nodes->added, field, "node", where, line, err);
    if (rc != ERROR_NONE || nodes->added.ids.count > before)
        return rc;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": node '%.*s' is added twice", where, line,
                     field->size < 40 ? (int)field->size : 40, field->text);
}

void living_nodes_finish(struct living_nodes *nodes)
{
    named_nodes_finish(&nodes->added);
}

enum error_code living_nodes_expect(const struct living_nodes *nodes, const struct field *field,
                                    const char *what, const char *where, int64_t line,
                                    uint32_t *number, struct error *err)
{
    const int64_t found = living_nodes_find(nodes, field);
    *number = (uint32_t)found;
    if (found >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: no node is called '%.*s'; new ones stand in the file of "
                     "--add-nodes",
                     where, line, what, field->size < 40 ? (int)field->size : 40, field->text);
}

const char *living_nodes_text(const struct living_nodes *nodes, uint32_t number,
                              char out[NODE_ID_TEXT_SIZE])
{
    if (number >= nodes->base_count)
        return named_nodes_text(&nodes->added, (int64_t)number - nodes->base_count, out);
    return node_ids_text(&nodes->ids, number, out);
}
