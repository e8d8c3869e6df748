#include "stages/ingest/build/nodes/named_nodes.h"

#include "common/base/text.h"
#include "store/records/dataset/node_ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void named_nodes_init(struct named_nodes *nodes, bool of_strings, uint64_t memory_bytes)
{
    *nodes = (struct named_nodes){0};
    node_id_assigner_init(&nodes->ids, of_strings, memory_bytes);
}

void named_nodes_init_sides(struct named_nodes *nodes, const char *source, const char *target,
                            uint64_t memory_bytes)
{
    named_nodes_init(nodes, true, memory_bytes / 2);
    node_id_assigner_init(&nodes->other, true, memory_bytes / 2);
    nodes->side[0] = source;
    nodes->side[1] = target;
}

void named_nodes_release(struct named_nodes *nodes)
{
    node_id_assigner_release(&nodes->ids);
    node_id_assigner_release(&nodes->other);
    *nodes = (struct named_nodes){0};
}

static int shown(const struct field *field)
{
    return field->size < 40 ? (int)field->size : 40;
}

/* Appends to the message why an integer was expected. */
static enum error_code say_origin(const struct named_nodes *nodes, const char *where,
                                  enum error_code rc, struct error *err)
{
    if (!err || !nodes->origin)
        return rc;
    const bool same = strcmp(nodes->origin, where) == 0;
    return error_add(err, rc,
                     "; lines %" PRId64 " to %" PRId64 "%s%s have integer ids: " ADVICE
                     "mend the line or set ingest.id_type to string",
                     nodes->origin_first, nodes->origin_last, same ? "" : " of ",
                     same ? "" : nodes->origin);
}

/* Returns whether the field has leading zeros (007), which a number would lose. If the settings say
 * that ids are integers, the user wants that. */
static bool loses_zeros(const struct named_nodes *nodes, const struct field *field)
{
    const bool is_signed = field->size > 0 && field->text[0] == '-';
    const char *text = field->text + is_signed;
    return nodes->origin && field->size - is_signed > 1 && text[0] == '0';
}

static enum error_code refer_integer(struct named_nodes *nodes, const struct field *field,
                                     const char *what, const char *where, int64_t *reference,
                                     struct error *err)
{
    if (loses_zeros(nodes, field))
        return error_set(
            err, ERROR_INPUT,
            "%s: found '%.*s' among integers, and a number has no leading zeros: " ADVICE
            "write `id_type: string` below `ingest:` to keep ids as they are written, or `id_type: "
            "integer` to drop them",
            what, shown(field), field->text);
    if (text_int64(field->text, field->size, reference))
        return node_id_assigner_add_integer(&nodes->ids, *reference, err);
    const enum error_code rc =
        error_set(err, ERROR_INPUT, "%s: expected a 64-bit integer, found '%.*s'", what,
                  shown(field), field->text);
    return say_origin(nodes, where, rc, err);
}

/* ---- sides ----------------------------------------------------------------------------------- */

enum { SIDE_ID_SIZE = 4096 };

/* Writes user:17 for the side `user` and the id 17. Returns false if that is too long. */
static bool put_side(const struct named_nodes *nodes, int side, const struct field *field,
                     char text[SIDE_ID_SIZE], struct field *out)
{
    const size_t length = strlen(nodes->side[side]);
    if (length + 1 + field->size > SIDE_ID_SIZE)
        return false;
    memcpy(text, nodes->side[side], length);
    text[length] = ':';
    if (field->size)
        memcpy(text + length + 1, field->text, field->size);
    *out = (struct field){text, length + 1 + field->size};
    return true;
}

/* Returns the side whose name the id begins with, or -1. */
static int side_of(const struct named_nodes *nodes, const struct field *field)
{
    for (int side = 0; side < 2; side++) {
        const size_t length = strlen(nodes->side[side]);
        if (field->size > length && memcmp(field->text, nodes->side[side], length) == 0 &&
            field->text[length] == ':')
            return side;
    }
    return -1;
}

/* Returns the number of an id. Until the sides are joined, each side has a table of its own. (A
 * reference has its side in the lowest bit.) */
static int64_t find_text(const struct named_nodes *nodes, int side, const struct field *whole)
{
    if (nodes->ids.is_finished || side == 0)
        return node_id_assigner_find_text(&nodes->ids, whole->text, whole->size);
    return node_id_assigner_find_text(&nodes->other, whole->text, whole->size);
}

int64_t named_nodes_find_end(const struct named_nodes *nodes, int side, const struct field *field)
{
    char text[SIDE_ID_SIZE];
    struct field whole;
    if (!nodes->side[0] || side_of(nodes, field) == side)
        return named_nodes_find(nodes, field);
    return put_side(nodes, side, field, text, &whole) ? find_text(nodes, side, &whole) : -1;
}

/* Finds the node of an id without a side, which must belong to one side only. */
static int64_t find_in_sides(const struct named_nodes *nodes, const struct field *field)
{
    const int side = side_of(nodes, field);
    if (side >= 0)
        return find_text(nodes, side, field);
    const int64_t source = named_nodes_find_end(nodes, 0, field);
    const int64_t target = named_nodes_find_end(nodes, 1, field);
    if (source >= 0 && target >= 0)
        return -1;
    return source >= 0 ? source : target;
}

enum error_code named_nodes_refer_end(struct named_nodes *nodes, int side,
                                      const struct field *field, const char *where, int64_t line,
                                      int64_t *reference, struct error *err)
{
    static const char *const what[] = {"source", "target"};
    char text[SIDE_ID_SIZE];
    struct field whole;
    if (!nodes->side[0])
        return named_nodes_refer(nodes, field, what[side], where, line, reference, err);
    if (!field->size || !put_side(nodes, side, field, text, &whole))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s: expected a node id of 1 to %d bytes, found %zu",
                         where, line, what[side], SIDE_ID_SIZE / 2, field->size);
    const enum error_code rc = node_id_assigner_number_text(side ? &nodes->other : &nodes->ids,
                                                            whole.text, whole.size, reference, err);
    *reference = *reference * 2 + side;
    return rc == ERROR_NONE ? rc : error_context(err, rc, "%s:%" PRId64, where, line);
}

/* Refers to an id in a file that does not say which side its ids belong to. */
static enum error_code refer_side(struct named_nodes *nodes, const struct field *field,
                                  int64_t *reference, struct error *err)
{
    const int side = side_of(nodes, field);
    if (side >= 0)
        return node_id_assigner_number_text(side ? &nodes->other : &nodes->ids, field->text,
                                            field->size, reference, err);
    /* exactly one of the two types has the id */
    if ((named_nodes_find_end(nodes, 0, field) >= 0) !=
        (named_nodes_find_end(nodes, 1, field) >= 0))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "expected the node type before the id, %s:%.*s or %s:%.*s, found '%.*s', "
                     "which both types have, or neither",
                     nodes->side[0], shown(field), field->text, nodes->side[1], shown(field),
                     field->text, shown(field), field->text);
}

enum error_code named_nodes_join(struct named_nodes *nodes, struct error *err)
{
    const uint64_t count = nodes->other.count;
    enum error_code rc = ERROR_NONE;
    nodes->first_side = nodes->ids.count;
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const char *text = nodes->other.text + nodes->other.offset[i];
        rc = node_id_assigner_add_text(&nodes->ids, text,
                                       nodes->other.offset[i + 1] - nodes->other.offset[i], err);
    }
    node_id_assigner_release(&nodes->other);
    return rc;
}

/* ---- ids ------------------------------------------------------------------------------------- */

enum error_code named_nodes_refer(struct named_nodes *nodes, const struct field *field,
                                  const char *what, const char *where, int64_t line,
                                  int64_t *reference, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (nodes->side[0])
        rc = refer_side(nodes, field, reference, err);
    else if (!nodes->ids.of_strings)
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
    return !nodes->side[0] &&
           (nodes->ids.of_strings || node_id_assigner_is_consecutive(&nodes->ids));
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
    if (nodes->side[0])
        return reference / 2 + (reference % 2 ? (int64_t)nodes->first_side : 0);
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
    if (nodes->side[0])
        return find_in_sides(nodes, field);
    if (nodes->ids.of_strings)
        return node_id_assigner_find_text(&nodes->ids, field->text, field->size);
    return !loses_zeros(nodes, field) && text_int64(field->text, field->size, &id)
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
                         "%s:%" PRId64 ": expected one of the %" PRIu64
                         " nodes of the graph, found '%.*s'",
                         where, line, (uint64_t)nodes->ids.count,
                         field->size < 40 ? (int)field->size : 40, field->text);
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": the file was changed while it was read",
                     where, line);
}
