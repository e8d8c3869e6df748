#include "stages/ingest/build/named_nodes.h"

#include "common/base/text.h"
#include "store/records/node_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void named_nodes_init(struct named_nodes *nodes, bool of_strings, uint64_t memory_bytes)
{
    *nodes = (struct named_nodes){0};
    node_id_assigner_init(&nodes->ids, of_strings, memory_bytes);
}

void named_nodes_release(struct named_nodes *nodes)
{
    node_id_assigner_release(&nodes->ids);
    *nodes = (struct named_nodes){0};
}

static int shown(const struct field *field)
{
    return field->size < 40 ? (int)field->size : 40;
}

/* Appends why an integer was expected. */
static enum error_code say_origin(const struct named_nodes *nodes, const char *where,
                                  enum error_code rc, struct error *err)
{
    if (!err || !nodes->origin)
        return rc;
    const size_t at = strlen(err->message);
    const bool same = strcmp(nodes->origin, where) == 0;
    (void)snprintf(err->message + at, sizeof err->message - at,
                   "; lines %" PRId64 " to %" PRId64
                   "%s%s have integer ids: mend the line or set ingest.id_type to string",
                   nodes->origin_first, nodes->origin_last, same ? "" : " of ",
                   same ? "" : nodes->origin);
    return rc;
}

static enum error_code refer_integer(struct named_nodes *nodes, const struct field *field,
                                     const char *what, const char *where, int64_t *reference,
                                     struct error *err)
{
    if (text_int64(field->text, field->size, reference))
        return node_id_assigner_add_integer(&nodes->ids, *reference, err);
    const enum error_code rc =
        error_set(err, ERROR_INPUT, "%s: expected a 64-bit integer, found '%.*s'", what,
                  shown(field), field->text);
    return say_origin(nodes, where, rc, err);
}

enum error_code named_nodes_refer(struct named_nodes *nodes, const struct field *field,
                                  const char *what, const char *where, int64_t line,
                                  int64_t *reference, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!nodes->ids.of_strings)
        rc = refer_integer(nodes, field, what, where, reference, err);
    else if (field->size == 0)
        rc = error_set(err, ERROR_INPUT, "%s: expected a node id, found nothing", what);
    else
        rc = node_id_assigner_number_text(&nodes->ids, field->text, field->size, reference, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "%s:%" PRId64, where, line);
    return ERROR_NONE;
}

enum error_code named_nodes_refer_integer(struct named_nodes *nodes, int64_t id, const char *where,
                                          int64_t line, struct error *err)
{
    if (node_id_assigner_knows(&nodes->ids, id))
        return ERROR_NONE;
    const enum error_code rc = node_id_assigner_add_integer(&nodes->ids, id, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s:%" PRId64, where, line);
}

bool named_nodes_are_numbered(const struct named_nodes *nodes)
{
    return nodes->ids.of_strings || node_id_assigner_is_consecutive(&nodes->ids);
}

enum error_code named_nodes_note(struct named_nodes *nodes, const struct field *field,
                                 const char *what, const char *where, int64_t line,
                                 struct error *err)
{
    int64_t reference = 0;
    return named_nodes_refer(nodes, field, what, where, line, &reference, err);
}

int64_t named_nodes_of(const struct named_nodes *nodes, int64_t reference)
{
    return nodes->ids.of_strings ? reference
                                 : node_id_assigner_find_integer(&nodes->ids, reference);
}

void named_nodes_finish(struct named_nodes *nodes)
{
    node_id_assigner_finish(&nodes->ids);
}

int64_t named_nodes_find(const struct named_nodes *nodes, const struct field *field)
{
    int64_t id = 0;
    if (nodes->ids.of_strings)
        return node_id_assigner_find_text(&nodes->ids, field->text, field->size);
    return text_int64(field->text, field->size, &id)
               ? node_id_assigner_find_integer(&nodes->ids, id)
               : -1;
}

const char *named_nodes_text(const struct named_nodes *nodes, int64_t number,
                             char out[NODE_ID_TEXT_SIZE])
{
    const struct node_ids ids = node_id_assigner_view(&nodes->ids);
    must(number >= 0 && number < ids.node_count);
    return node_ids_text(&ids, (uint32_t)number, out);
}

enum error_code named_nodes_unknown(const struct named_nodes *nodes, const struct field *field,
                                    const char *where, int64_t line, struct error *err)
{
    if (nodes->are_fixed)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a node of the graph, which has %" PRIu64
                         ", found '%.*s'",
                         where, line, (uint64_t)nodes->ids.count,
                         field->size < 40 ? (int)field->size : 40, field->text);
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": the file was changed while it was read",
                     where, line);
}
