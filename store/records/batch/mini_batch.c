#include "store/records/batch/mini_batch.h"

#include "common/numbers/packed_integers.h"
#include "store/records/batch/batch_form.h"
#include "store/records/batch/batch_nodes.h"
#include "store/records/batch/mini_batch_sections.h"
#include "store/records/batch/packed_widths.h"
#include "store/records/dataset/edge_sections.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/*
 * The checks are linear passes without branches, so that they run in vectors. Only if a pass finds
 * an error, a second, slow pass looks for the first wrong element. A batch of a million edges is
 * checked in about a millisecond, most of it for "no node twice".
 */

static const char what[] = "a mini-batch";

void mini_batch_forget(struct mini_batch *batch)
{
    arena_reset(&batch->memory);
    *batch = (struct mini_batch){.memory = batch->memory};
}

void mini_batch_release(struct mini_batch *batch)
{
    arena_release(&batch->memory);
    *batch = (struct mini_batch){0};
}

/* --- sections --- */

enum error_code batch_reading_find(const struct batch_reading *reading, const char *name,
                                   uint64_t count, unsigned width, const uint64_t **out,
                                   struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(reading->view, name, ELEMENT_U64,
                           (int64_t)packed_integers_words(count, width), &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = data;
    if (!packed_integers_end_in_zeros(data, count, width))
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected zeros behind %" PRIu64
                         " values of %u bits, found ones",
                         reading->view->key, name, count, width);
    return ERROR_NONE;
}

enum error_code batch_reading_unpack(const struct batch_reading *reading,
                                     const struct packed_array *array, uint32_t **out,
                                     struct error *err)
{
    const uint64_t *words = NULL;
    enum error_code rc =
        batch_reading_find(reading, array->name, array->count, array->width, &words, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&reading->out->memory, out, array->before + array->count + array->after,
                       what, err);
    if (rc == ERROR_NONE)
        packed_integers_unpack(words, array->count, array->width, *out + array->before);
    return rc;
}

/* Copies data of the record, which will be released, into the batch's memory. */
static enum error_code copy(struct mini_batch *batch, const void *data, uint64_t bytes,
                            const void **out, struct error *err)
{
    uint64_t *words = NULL;
    const enum error_code rc = arena_new(&batch->memory, &words, (bytes + 7) / 8, what, err);
    if (rc == ERROR_NONE && bytes)
        memcpy(words, data, bytes);
    *out = words;
    return rc;
}

enum error_code batch_reading_keep(const struct batch_reading *reading, const char *name,
                                   enum element_type type, uint64_t count, const void **out,
                                   struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(reading->view, name, type, (int64_t)count, &data, NULL, err);
    return rc == ERROR_NONE ? copy(reading->out, data, count * element_size(type), out, err) : rc;
}

/* --- nodes --- */

/* Checks the node count before memory is allocated for it: `width` bits give at most 2^width ids,
 * each of which may be there once, or in a disjoint batch once for each seed. */
static enum error_code check_node_count(const struct batch_reading *reading, struct error *err)
{
    const struct mini_batch *batch = reading->out;
    const uint32_t width = reading->width[PACKED_NODE];
    const uint64_t *words = NULL;
    const uint64_t times = record_has(reading->view, SECTION_SEED_OF)
                               ? batch->seed_count
                               : 1; /* how often a node may be there */
    /* more nodes would repeat an id too often, perhaps without any bit in the record */
    if (batch->node_count > times << width)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: width[%d]: expected more bits for %" PRIu32
                         " nodes, found %" PRIu32,
                         reading->view->key, PACKED_NODE, batch->node_count, width);
    return batch_reading_find(reading, packed_name[PACKED_NODE], batch->node_count, width, &words,
                              err);
}

static enum error_code read_seeds(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    uint32_t *seed = NULL;
    const struct packed_array array = {
        SECTION_SEED_OF, packed_integers_width_of(out->seed_count - 1), out->node_count, 0, 0};
    if (!record_has(reading->view, SECTION_SEED_OF))
        return ERROR_NONE;
    const enum error_code rc = batch_reading_unpack(reading, &array, &seed, err);
    out->seed_of = seed;
    return rc;
}

static enum error_code read_nodes(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const struct packed_array array = {packed_name[PACKED_NODE], reading->width[PACKED_NODE],
                                       out->node_count, 0, 0};
    uint32_t *node = NULL;
    enum error_code rc = check_node_count(reading, err);
    if (rc == ERROR_NONE)
        rc = read_seeds(reading, err);
    if (rc == ERROR_NONE)
        rc = batch_reading_unpack(reading, &array, &node, err);
    if (rc != ERROR_NONE)
        return rc;
    out->node = node;
    out->node_limit = batch_nodes_largest(node, out->node_count) + 1;
    return ERROR_NONE;
}

/* --- optional sections --- */

static enum error_code read_columns(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    enum error_code rc = edge_sections_get(reading->view, out->edge_count, &out->columns, err);
    for (int c = 0; rc == ERROR_NONE && c < EDGE_COLUMN_COUNT; c++) {
        const uint32_t width = out->columns.width.of[c];
        if (width)
            rc = copy(out, out->columns.data[c],
                      out->edge_count * (uint64_t)edge_column_bytes((enum edge_column)c, width),
                      &out->columns.data[c], err);
    }
    return rc;
}

/* Reads an optional section of numbers into *out. */
static enum error_code read_numbers(const struct batch_reading *reading, const char *name,
                                    enum element_type type, uint64_t count, const void **out,
                                    struct error *err)
{
    *out = NULL;
    return record_has(reading->view, name)
               ? batch_reading_keep(reading, name, type, count, out, err)
               : ERROR_NONE;
}

static enum error_code read_degrees(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const struct packed_array array = {packed_name[PACKED_DEGREE], reading->width[PACKED_DEGREE],
                                       reading->lists_rows ? out->row_count : out->node_count, 0,
                                       0};
    uint32_t *degree = NULL;
    const enum error_code rc = record_has(reading->view, array.name)
                                   ? batch_reading_unpack(reading, &array, &degree, err)
                                   : ERROR_NONE;
    out->degree = degree;
    return rc;
}

/* Reads an optional packed section `name`, whose width is in the section `width_name`. */
static enum error_code read_packed(const struct batch_reading *reading, const char *name,
                                   const char *width_name, uint64_t count, const uint32_t **out,
                                   struct error *err)
{
    const void *data = NULL;
    uint32_t *value = NULL;
    if (!record_has(reading->view, name))
        return ERROR_NONE;
    enum error_code rc =
        record_section_get(reading->view, width_name, ELEMENT_U32, 1, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t width = *(const uint32_t *)data;
    if (width > PACKED_WIDTH_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section %s: expected at most %d bits, found %" PRIu32,
                         reading->view->key, width_name, PACKED_WIDTH_MAX, width);
    const struct packed_array array = {name, width, count, 0, 0};
    rc = batch_reading_unpack(reading, &array, &value, err);
    *out = value;
    return rc;
}

/* Reads the degrees of edge ends, and checks that "back" names for each relation one that ends in
 * its source type. */
static enum error_code read_ends(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const void *back = NULL;
    if (!reading->lists_rows || !record_has(reading->view, SECTION_BACK))
        return ERROR_NONE;
    enum error_code rc =
        batch_reading_keep(reading, SECTION_BACK, ELEMENT_U16, out->relation_count, &back, err);
    if (rc == ERROR_NONE)
        rc = read_packed(reading, SECTION_END_DEGREE, SECTION_END_WIDTH,
                         mini_batch_ends(out, out->relation_count), &out->end_degree, err);
    if (rc != ERROR_NONE)
        return rc;
    out->back = back;
    for (uint32_t r = 0; r < out->relation_count; r++)
        if (out->back[r] >= out->relation_count ||
            mini_batch_target_type(out, out->back[r]) != mini_batch_source_type(out, r))
            return error_set(err, ERROR_CORRUPT,
                             "record %s: back[%" PRIu32 "]: expected a relation to type %" PRIu32
                             ", found %d",
                             reading->view->key, r, mini_batch_source_type(out, r), out->back[r]);
    return out->end_degree ? ERROR_NONE
                           : error_set(err, ERROR_CORRUPT,
                                       "record %s: expected a section %s beside %s, found none",
                                       reading->view->key, SECTION_END_DEGREE, SECTION_BACK);
}

static enum error_code read_optional(const struct batch_reading *reading, struct error *err)
{
    struct mini_batch *out = reading->out;
    const void *sums = NULL, *factors = NULL, *weights = NULL, *times = NULL;
    enum error_code rc = read_degrees(reading, err);
    if (rc == ERROR_NONE)
        rc = read_numbers(reading, SECTION_WEIGHT_SUM, ELEMENT_F32, mini_batch_weight_sums(out),
                          &sums, err);
    if (rc == ERROR_NONE)
        rc =
            read_numbers(reading, SECTION_EDGE_FACTOR, ELEMENT_F32, out->edge_count, &factors, err);
    if (rc == ERROR_NONE)
        rc =
            read_numbers(reading, SECTION_SEED_WEIGHT, ELEMENT_F32, out->seed_count, &weights, err);
    if (rc == ERROR_NONE)
        rc = read_numbers(reading, SECTION_SEED_TIME, ELEMENT_I64, out->seed_count, &times, err);
    out->weight_sum = sums;
    out->edge_factor = factors;
    out->seed_weight = weights;
    out->seed_time = times;
    if (rc == ERROR_NONE && out->edge_factor && !out->degree)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: expected a section degree beside edge_factor, found none",
                         reading->view->key);
    if (rc == ERROR_NONE)
        rc = seed_pairs_read(reading->view, out->seed_count, &out->memory, &out->pairs, err);
    if (rc == ERROR_NONE)
        rc = read_packed(reading, SECTION_EDGE_POSITION, SECTION_POSITION_WIDTH, out->edge_count,
                         &out->edge_position, err);
    if (rc == ERROR_NONE)
        rc = read_ends(reading, err);
    return rc == ERROR_NONE ? read_columns(reading, err) : rc;
}

/* --- the whole record --- */

/* Maps each packed array to its element of "width". */
static enum error_code read_widths(struct batch_reading *reading, struct error *err)
{
    static const char *const old_name[] = {"node", "row", "row_length", "neighbor", "degree"};
    static const int old_place[PACKED_COUNT] = {[PACKED_NODE] = 0,
                                                [PACKED_ROW] = 1,
                                                [PACKED_ROW_LENGTH] = 2,
                                                [PACKED_NEIGHBOR] = 3,
                                                [PACKED_DEGREE] = 4};
    const bool is_old = reading->view->version == MINI_BATCH_OF_RELATIONS;
    const int count = reading->lists_rows ? PACKED_COUNT : PACKED_ROW;
    const uint32_t *width = NULL;
    const enum error_code rc =
        packed_widths_get(reading->view, is_old ? old_name : packed_name, count, &width, err);
    for (int i = 0; rc == ERROR_NONE && i < count; i++)
        reading->width[i] = width[is_old ? old_place[i] : i];
    return rc;
}

static enum error_code check(struct mini_batch *batch, struct error *err)
{
    enum error_code rc = batch_form_check_neighbors(batch, err);
    if (rc == ERROR_NONE)
        rc = batch_nodes_check_ids(batch, err);
    if (rc == ERROR_NONE)
        rc = batch->seed_of ? batch_form_check_disjoint(batch, err)
                            : batch_nodes_check_once(batch, err);
    return rc;
}

static enum error_code read_sections(struct batch_reading *reading, struct error *err)
{
    enum error_code rc = batch_reading_shape(reading, err);
    if (rc == ERROR_NONE)
        rc = read_widths(reading, err);
    if (rc == ERROR_NONE)
        rc = read_nodes(reading, err);
    if (rc == ERROR_NONE)
        rc = batch_reading_rows(reading, err);
    if (rc == ERROR_NONE)
        rc = batch_reading_edges(reading, err);
    if (rc == ERROR_NONE)
        rc = read_optional(reading, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = check(reading->out, err);
    return rc == ERROR_NONE ? rc : error_context(err, rc, "record %s", reading->view->key);
}

enum error_code mini_batch_decode(const struct record_view *view, struct mini_batch *out,
                                  struct error *err)
{
    struct batch_reading reading = {.view = view, .out = out};
    mini_batch_forget(out);
    enum error_code rc = view->version == MINI_BATCH_OF_RELATIONS
                             ? record_expect(view, RECORD_MINI_BATCH, MINI_BATCH_OF_RELATIONS, err)
                             : record_expect_among(view, RECORD_MINI_BATCH, MINI_BATCH_WITHOUT_FORM,
                                                   MINI_BATCH_VERSION, err);
    if (rc == ERROR_NONE)
        rc = read_sections(&reading, err);
    if (rc != ERROR_NONE)
        mini_batch_forget(out);
    return rc;
}

enum error_code mini_batch_get(struct store *store, const char *key, const char *run_id,
                               struct mini_batch *out, struct error *err)
{
    struct record_view view = {0};
    mini_batch_forget(out);
    enum error_code rc = store_get(store, key, run_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = mini_batch_decode(&view, out, err);
    store_release_record(&view);
    return rc;
}
