/*
 * Reads the shape, rows and neighbours of a mini-batch. Declared in mini_batch_sections.h.
 */
#include "common/numbers/packed_integers.h"
#include "store/records/batch/batch_discovery.h"
#include "store/records/batch/batch_form.h"
#include "store/records/batch/mini_batch_sections.h"

#include <inttypes.h>
#include <string.h>

static const char what[] = "a mini-batch";

static enum error_code read_form(const struct batch_reading *reading, struct error *err)
{
    const void *data = NULL;
    if (!record_has(reading->view, SECTION_FORM))
        return ERROR_NONE;
    const enum error_code rc =
        record_section_get(reading->view, SECTION_FORM, ELEMENT_U32, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t found = *(const uint32_t *)data;
    if (found >= BATCH_FORM_COUNT)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section form: expected below %d, found %" PRIu32,
                         reading->view->key, BATCH_FORM_COUNT, found);
    reading->out->form = (enum batch_form)found;
    return ERROR_NONE;
}

static enum error_code read_ends(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const void *ends = NULL;
    const enum error_code rc = batch_reading_keep(reading, SECTION_ENDS, ELEMENT_U16,
                                                  2 * (uint64_t)out->relation_count, &ends, err);
    if (rc != ERROR_NONE)
        return rc;
    out->ends = ends;
    for (uint32_t i = 0; i < 2 * out->relation_count; i++)
        if (out->ends[i] >= out->type_count)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: ends[%" PRIu32 "]: expected a type below %" PRIu32
                             ", found %d",
                             reading->view->key, i, out->type_count, out->ends[i]);
    return ERROR_NONE;
}

/* In version 32 the section begins with the number of hops, which "hop_end" also gives. */
static enum error_code read_types(struct batch_reading *reading, struct error *err)
{
    const bool is_old = reading->view->version == MINI_BATCH_OF_RELATIONS;
    struct mini_batch *out = reading->out;
    const void *data = NULL;
    out->type_count = out->relation_count = 1;
    reading->lists_rows = is_old || record_has(reading->view, SECTION_SHAPE);
    if (!reading->lists_rows)
        return ERROR_NONE;
    const enum error_code rc = record_section_get(reading->view, SECTION_SHAPE, ELEMENT_U32,
                                                  is_old ? 3 : 2, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *shape = (const uint32_t *)data + is_old;
    if (shape[0] < 1 || shape[0] > RELATION_TYPE_COUNT_MAX || shape[1] < 1 ||
        shape[1] > RELATION_COUNT_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: shape: expected 1 to %d types and 1 to %d relations, found "
                         "%" PRIu32 " and %" PRIu32,
                         reading->view->key, RELATION_TYPE_COUNT_MAX, RELATION_COUNT_MAX, shape[0],
                         shape[1]);
    out->type_count = shape[0];
    out->relation_count = shape[1];
    return read_ends(reading, err);
}

static enum error_code count_nodes(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    uint32_t *begin = NULL;
    uint64_t nodes = 0, seeds = 0;
    const enum error_code rc =
        arena_new(&out->memory, &begin, (size_t)out->type_count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    begin[0] = 0;
    for (uint32_t t = 0; t < out->type_count; t++) {
        nodes += mini_batch_known(out, t, out->hop_count);
        seeds += mini_batch_known(out, t, 0);
        begin[t + 1] = (uint32_t)nodes;
    }
    if (nodes > UINT32_MAX || seeds > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: hop_end: expected at most %" PRIu32 " nodes, found %" PRIu64
                         " of %" PRIu64 " seeds",
                         reading->view->key, UINT32_MAX, nodes, seeds);
    out->node_begin = begin;
    out->node_count = (uint32_t)nodes;
    out->seed_count = (uint32_t)seeds;
    return ERROR_NONE;
}

static enum error_code read_hops(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const void *data = NULL;
    uint32_t *hop_end = NULL;
    uint64_t count = 0;
    enum error_code rc =
        record_section_get(reading->view, SECTION_HOP_END, ELEMENT_U32, -1, &data, &count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (count < out->type_count || count > (HOP_COUNT_MAX + 1) * (uint64_t)out->type_count ||
        count % out->type_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section hop_end: expected 1 to %d elements%s, found %" PRIu64,
                         reading->view->key, HOP_COUNT_MAX + 1,
                         out->type_count > 1 ? " of each type" : "", count);
    rc = arena_new(&out->memory, &hop_end, count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(hop_end, data, count * sizeof *hop_end);
    out->hop_count = (int)(count / out->type_count) - 1;
    out->hop_end = hop_end;
    rc = batch_form_check_hops(out, err);
    return rc == ERROR_NONE ? count_nodes(reading, err)
                            : error_context(err, rc, "record %s", reading->view->key);
}

enum error_code batch_reading_shape(struct batch_reading *reading, struct error *err)
{
    enum error_code rc = read_types(reading, err);
    if (rc == ERROR_NONE)
        rc = read_form(reading, err);
    return rc == ERROR_NONE ? read_hops(reading, err) : rc;
}

/* --- rows --- */

/* Adds the rows of a relation, or of one of its hops, behind `rows` other rows. */
static enum error_code add_rows(const struct batch_reading *reading, uint32_t at, uint32_t count,
                                uint32_t most, uint64_t *rows, struct error *err)
{
    *rows += count;
    return count <= most && *rows <= UINT32_MAX - RELATION_COUNT_MAX
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT,
                           "record %s: row_count[%" PRIu32 "]: expected at most %" PRIu32
                           ", found %" PRIu32,
                           reading->view->key, at, most, count);
}

/* of_hop: [relations, hops + 1] for a LAYERED batch, otherwise NULL. */
static enum error_code count_listed(const struct batch_reading *reading, const uint32_t *count,
                                    uint32_t *begin, uint32_t *of_hop, struct error *err)
{
    const struct mini_batch *out = reading->out;
    const int last = out->form == BATCH_NESTED ? out->hop_count - 1 : out->hop_count;
    uint32_t at = 0;
    uint64_t rows = 0;
    enum error_code rc = ERROR_NONE;
    begin[0] = 0;
    for (uint32_t r = 0; rc == ERROR_NONE && r < out->relation_count; r++) {
        const uint32_t target = mini_batch_target_type(out, r);
        if (!of_hop)
            rc =
                add_rows(reading, r, count[r],
                         out->hop_count == 0 ? 0 : mini_batch_known(out, target, last), &rows, err);
        for (int hop = 0; of_hop && rc == ERROR_NONE && hop <= out->hop_count; hop++) {
            *of_hop++ = (uint32_t)rows - begin[r];
            if (hop < out->hop_count) {
                rc = add_rows(reading, at, count[at], mini_batch_known(out, target, hop), &rows,
                              err);
                at++;
            }
        }
        begin[r + 1] = (uint32_t)rows;
    }
    return rc;
}

/* Counts the rows: those that the form requires, or those that are listed. */
static enum error_code count_rows(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const uint64_t hops = (uint64_t)out->hop_count, relations = out->relation_count;
    const bool by_hop = out->form == BATCH_LAYERED;
    const void *count = NULL;
    uint32_t *begin = NULL, *of_hop = NULL;
    enum error_code rc = arena_new(&out->memory, &begin, relations + 1, what, err);
    if (rc == ERROR_NONE && reading->lists_rows && by_hop)
        rc = arena_new(&out->memory, &of_hop, relations * (hops + 1), what, err);
    if (rc == ERROR_NONE && reading->lists_rows)
        rc =
            record_section_get(reading->view, SECTION_ROW_COUNT, ELEMENT_U32,
                               (int64_t)(by_hop ? relations * hops : relations), &count, NULL, err);
    if (rc == ERROR_NONE && reading->lists_rows)
        rc = count_listed(reading, count, begin, of_hop, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!reading->lists_rows) {
        begin[0] = 0;
        begin[1] = (uint32_t)batch_form_rows(out);
    }
    out->row_begin = begin;
    out->hop_row = of_hop;
    out->row_count = begin[relations];
    return ERROR_NONE;
}

static enum error_code read_listed_rows(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const struct packed_array array = {packed_name[PACKED_ROW], reading->width[PACKED_ROW],
                                       out->row_count, 0, 1};
    uint32_t *row = NULL;
    enum error_code rc = batch_reading_unpack(reading, &array, &row, err);
    out->row = row;
    if (rc != ERROR_NONE)
        return rc;
    rc = batch_form_check_rows(out, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "record %s", reading->view->key);
}

/* Replaces lengths by starts in place: the lengths are unpacked as many elements further back as
 * there are relations. */
static enum error_code read_row_starts(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const struct packed_array array = {packed_name[PACKED_ROW_LENGTH],
                                       reading->width[PACKED_ROW_LENGTH], out->row_count,
                                       out->relation_count, 0};
    uint32_t *start = NULL, *edge_begin = NULL;
    enum error_code rc = batch_reading_unpack(reading, &array, &start, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&out->memory, &edge_begin, (size_t)out->relation_count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *length = start + out->relation_count;
    uint64_t edges = 0;
    bool is_empty = false;
    edge_begin[0] = 0;
    for (uint32_t r = 0; r < out->relation_count; r++) {
        uint64_t end = 0;
        start[out->row_begin[r] + r] = 0;
        for (uint32_t i = out->row_begin[r]; i < out->row_begin[r + 1]; i++) {
            is_empty |= length[i] == 0;
            end += length[i];
            start[i + r + 1] = (uint32_t)end;
        }
        edges += end;
        edge_begin[r + 1] = (uint32_t)edges;
    }
    if (edges > UINT32_MAX || (is_empty && reading->lists_rows))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: row_length: expected rows of %sat most %" PRIu32
                         " edges together, found %" PRIu64 "%s",
                         reading->view->key, reading->lists_rows ? "1 or more and " : "",
                         UINT32_MAX, edges, is_empty && reading->lists_rows ? " and none" : "");
    out->row_start = start;
    out->edge_begin = edge_begin;
    out->edge_count = (uint32_t)edges;
    return ERROR_NONE;
}

enum error_code batch_reading_rows(struct batch_reading *reading, struct error *err)
{
    enum error_code rc = count_rows(reading, err);
    if (rc == ERROR_NONE)
        rc = read_row_starts(reading, err);
    return rc == ERROR_NONE && reading->lists_rows ? read_listed_rows(reading, err) : rc;
}

/* --- neighbours --- */

enum error_code batch_reading_edges(struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const bool is_old = reading->view->version == MINI_BATCH_OF_RELATIONS;
    const uint64_t *is_new = NULL;
    uint32_t *neighbor = NULL;
    enum error_code rc =
        is_old ? ERROR_NONE
               : batch_reading_find(reading, SECTION_IS_NEW, out->edge_count, 1, &is_new, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t found = is_old ? 0 : edge_discovery_count(is_new, out->edge_count);
    if (found > out->node_count - out->seed_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: is_new: expected at most %" PRIu32
                         " edges that find a node, found %" PRIu64,
                         reading->view->key, out->node_count - out->seed_count, found);
    const struct packed_array array = {packed_name[PACKED_NEIGHBOR],
                                       reading->width[PACKED_NEIGHBOR], out->edge_count - found,
                                       found, EDGE_DISCOVERY_SLACK};
    rc = batch_reading_unpack(reading, &array, &neighbor, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!is_old)
        batch_discovery_restore(out, is_new, array.count, neighbor);
    out->neighbor = neighbor;
    return ERROR_NONE;
}
