#include "stages/ingest/update/living_nodes.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* Finds the number of each base node by the number that the assigner gives its id: the assigner
 * numbers integers in ascending order, a version may have them in another order. */
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

/* ---- ids that begin with types
 * -------------------------------------------------------------------- */

static bool has_types(const struct living_nodes *nodes)
{
    return nodes->schema->node_type_count > 1;
}

/* Returns whether a text begins with the name of the type and a colon. */
static bool begins_with(const struct living_nodes *nodes, uint32_t type, const char *text,
                        size_t size)
{
    const char *name = nodes->schema->node_type[type].name;
    const size_t length = strlen(name);
    return size > length && memcmp(text, name, length) == 0 && text[length] == ':';
}

static bool all_begin_with_types(const struct living_nodes *nodes)
{
    const struct node_ids *ids = &nodes->ids;
    if (!has_types(nodes) || !ids->offset)
        return false;
    for (uint32_t node = 0; node < nodes->base_count; node++)
        if (!begins_with(nodes, living_nodes_type(nodes, node), ids->text + ids->offset[node],
                         ids->offset[node + 1] - ids->offset[node]))
            return false;
    return true;
}

enum { WHOLE_ID_SIZE = 4096 + TYPE_NAME_SIZE };

/* Returns a number in the form in which it is stored, in `text`; any other field unchanged. */
static struct field counted_id(const struct living_nodes *nodes, const struct field *field,
                               char text[WHOLE_ID_SIZE])
{
    int64_t id = 0;
    if (!text_int64(field->text, field->size, &id) || id < INT64_MIN + nodes->first_id)
        return *field;
    const int size = snprintf(text, WHOLE_ID_SIZE, "%" PRId64, id - nodes->first_id);
    return (struct field){text, (size_t)size};
}

/* Returns the full id of a node of the type; in `text`, if it differs from the field. */
static struct field whole_id(const struct living_nodes *nodes, uint32_t type,
                             const struct field *field, char text[WHOLE_ID_SIZE])
{
    if (nodes->first_id)
        return counted_id(nodes, field, text);
    if (!nodes->has_prefix || type == LIVING_ANY_TYPE ||
        begins_with(nodes, type, field->text, field->size))
        return *field;
    const int size = snprintf(text, WHOLE_ID_SIZE, "%s:%.*s", nodes->schema->node_type[type].name,
                              (int)field->size, field->text);
    /* A text that is too long for an id is looked up unchanged, and not found. */
    return size > 0 && size < WHOLE_ID_SIZE ? (struct field){text, (size_t)size} : *field;
}

/* ---- the base
 * --------------------------------------------------------------------------------------- */

enum error_code living_nodes_open(struct living_nodes *nodes, struct store *store,
                                  const struct dataset_schema *schema, uint64_t memory_bytes,
                                  struct error *err)
{
    const bool of_strings = schema->node_id_form == NODE_ID_STRING;
    *nodes = (struct living_nodes){.schema = schema,
                                   .base_count = schema->node_count,
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
    if (rc == ERROR_NONE)
        nodes->has_prefix = all_begin_with_types(nodes);
    return rc == ERROR_NONE ? number_base(nodes, schema, err) : rc;
}

void living_nodes_release(struct living_nodes *nodes)
{
    int64_t *integer = NULL;
    uint64_t *offset = NULL;
    char *text = NULL;
    /* These arrays are const for readers only. */
    memcpy(&integer, &nodes->ordered.integer, sizeof integer);
    memcpy(&offset, &nodes->ordered.offset, sizeof offset);
    memcpy(&text, &nodes->ordered.text, sizeof text);
    memory_free(integer);
    memory_free(offset);
    memory_free(text);
    store_release_record(&nodes->ids.view);
    named_nodes_release(&nodes->base);
    named_nodes_release(&nodes->added);
    memory_free(nodes->number);
    memory_free(nodes->added_type);
    memory_free(nodes->added_place);
    memory_free(nodes->added_at);
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

/* ---- added nodes
 * ------------------------------------------------------------------------------------ */

enum error_code living_nodes_add(struct living_nodes *nodes, uint32_t type,
                                 const struct field *field, const char *where, int64_t line,
                                 struct error *err)
{
    const uint64_t before = nodes->added.ids.count;
    char text[NODE_ID_TEXT_SIZE], whole[WHOLE_ID_SIZE];
    const struct field id = field->size ? whole_id(nodes, type, field, whole) : *field;
    const int64_t found = find_in_base(nodes, &id);
    if (found >= 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": node %s is there already: expected ids of new nodes",
                         where, line, living_nodes_text(nodes, (uint32_t)found, text));
    const enum error_code rc = named_nodes_note(&nodes->added, &id, "node", where, line, err);
    if (rc != ERROR_NONE || nodes->added.ids.count > before)
        return rc;
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": node '%.*s' is added twice", where, line,
                     field->size < 40 ? (int)field->size : 40, field->text);
}

enum error_code living_nodes_finish(struct living_nodes *nodes, struct error *err)
{
    named_nodes_finish(&nodes->added);
    return has_types(nodes)
               ? memory_new(&nodes->added_type, nodes->added.ids.count, "types of new nodes", err)
               : ERROR_NONE;
}

void living_nodes_set_type(struct living_nodes *nodes, uint32_t type, const struct field *field)
{
    char whole[WHOLE_ID_SIZE];
    const struct field id = whole_id(nodes, type, field, whole);
    const int64_t found = named_nodes_find(&nodes->added, &id);
    must(found >= 0);
    nodes->added_type[found] = (uint8_t)type;
}

static enum error_code order_ids(struct living_nodes *nodes, struct error *err)
{
    const struct node_ids ids = node_id_assigner_view(&nodes->added.ids);
    const uint32_t count = ids.node_count;
    int64_t *integer = NULL;
    uint64_t *offset = NULL;
    char *text = NULL;
    enum error_code rc = ERROR_NONE;
    if (count == 0)
        return ERROR_NONE;
    if (ids.integer)
        rc = memory_new(&integer, count, "ids of new nodes", err);
    else
        rc = memory_new(&offset, (size_t)count + 1, "ids of new nodes", err);
    if (rc == ERROR_NONE && !ids.integer)
        rc = memory_new(&text, ids.offset[count], "ids of new nodes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const uint32_t at = nodes->added_at[i];
        if (ids.integer) {
            integer[i] = ids.integer[at];
            continue;
        }
        const uint64_t size = ids.offset[at + 1] - ids.offset[at];
        memcpy(text + offset[i], ids.text + ids.offset[at], size);
        offset[i + 1] = offset[i] + size;
    }
    nodes->ordered =
        (struct node_ids){.node_count = count, .integer = integer, .offset = offset, .text = text};
    return rc;
}

enum error_code living_nodes_order(struct living_nodes *nodes, uint32_t *added_of_type,
                                   struct error *err)
{
    const uint32_t count = (uint32_t)nodes->added.ids.count;
    enum error_code rc = memory_new(&nodes->added_place, count, "places of new nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&nodes->added_at, count, "places of new nodes", err);
    uint32_t place = 0;
    for (uint32_t t = 0; rc == ERROR_NONE && t < nodes->schema->node_type_count; t++) {
        const uint32_t first = place;
        for (uint32_t i = 0; i < count; i++)
            if (nodes->added_type[i] == t) {
                nodes->added_at[place] = i;
                nodes->added_place[i] = place++;
            }
        added_of_type[t] = place - first;
    }
    return rc == ERROR_NONE ? order_ids(nodes, err) : rc;
}

struct node_ids living_nodes_added_ids(const struct living_nodes *nodes)
{
    return nodes->added_place ? nodes->ordered : node_id_assigner_view(&nodes->added.ids);
}

/* ---- base and added nodes
 * ---------------------------------------------------------------------------- */

int64_t living_nodes_find(const struct living_nodes *nodes, uint32_t type,
                          const struct field *field)
{
    char whole[WHOLE_ID_SIZE];
    const struct field id = whole_id(nodes, type, field, whole);
    const int64_t in_base = find_in_base(nodes, &id);
    if (in_base >= 0 || !nodes->added.ids.is_finished)
        return in_base;
    const int64_t found = named_nodes_find(&nodes->added, &id);
    if (found < 0)
        return -1;
    return (int64_t)nodes->base_count + (nodes->added_place ? nodes->added_place[found] : found);
}

uint32_t living_nodes_type(const struct living_nodes *nodes, uint32_t number)
{
    const struct dataset_schema *schema = nodes->schema;
    uint32_t type = schema->node_type_count - 1;
    if (!has_types(nodes))
        return 0;
    if (number >= nodes->base_count)
        return nodes->added_type[nodes->added_at[number - nodes->base_count]];
    while (type > 0 && number < schema->node_type[type].first_node)
        type--;
    return type;
}

enum error_code living_nodes_expect(const struct living_nodes *nodes, uint32_t type,
                                    const struct field *field, const char *what, const char *where,
                                    int64_t line, uint32_t *number, struct error *err)
{
    const int64_t found = living_nodes_find(nodes, type, field);
    const int shown = field->size < 40 ? (int)field->size : 40;
    *number = (uint32_t)found;
    if (found < 0)
        return error_set(
            err, ERROR_INPUT,
            "%s:%" PRId64
            ": %s: no node has the id '%.*s'; list new nodes in the file of --add-nodes",
            where, line, what, shown, field->text);
    const uint32_t own = living_nodes_type(nodes, *number);
    if (type == LIVING_ANY_TYPE || own == type)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s: node '%.*s' is of type %s, expected one of type %s",
                     where, line, what, shown, field->text, nodes->schema->node_type[own].name,
                     nodes->schema->node_type[type].name);
}

/* Writes the id for an input whose ids are numbers that count from another number than 0. */
static const char *counted_text(const struct living_nodes *nodes, uint32_t number,
                                char out[NODE_ID_TEXT_SIZE])
{
    const bool is_added = number >= nodes->base_count;
    const uint32_t at = is_added ? number - nodes->base_count : number;
    const int64_t *id = is_added ? living_nodes_added_ids(nodes).integer : nodes->ids.integer;
    (void)snprintf(out, NODE_ID_TEXT_SIZE, "%" PRId64, (id ? id[at] : at) + nodes->first_id);
    return out;
}

const char *living_nodes_text(const struct living_nodes *nodes, uint32_t number,
                              char out[NODE_ID_TEXT_SIZE])
{
    if (nodes->first_id)
        return counted_text(nodes, number, out);
    if (number < nodes->base_count)
        return node_ids_text(&nodes->ids, number, out);
    const uint32_t place = number - nodes->base_count;
    return named_nodes_text(
        &nodes->added, nodes->added_at ? (int64_t)nodes->added_at[place] : (int64_t)place, out);
}
