/*
 * Packs and writes a mini-batch. Declared in mini_batch.h.
 */
#include "common/numbers/packed_integers.h"
#include "store/records/batch/batch_discovery.h"
#include "store/records/batch/batch_form.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/batch/mini_batch_sections.h"
#include "store/records/dataset/edge_sections.h"

static const char what[] = "the record of a mini-batch";

/* The state of writing a record. */
struct packing {
    struct record record;
    struct arena *scratch;
    uint32_t width[PACKED_COUNT];
    uint32_t shape[2], form, position_width, end_width;
    struct seed_pairs_record pairs;
};

static enum error_code new_words(struct packing *packing, uint64_t count, unsigned width,
                                 uint64_t **out, struct error *err)
{
    return arena_new(packing->scratch, out, packed_integers_words(count, width), what, err);
}

static enum error_code add_packed(struct packing *packing, int array, const uint32_t *value,
                                  uint32_t count, struct error *err)
{
    uint64_t *words = NULL;
    const unsigned width = packed_integers_width(value, count);
    const enum error_code rc = new_words(packing, count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(value, count, width, words);
    packing->width[array] = width;
    record_add(&packing->record, packed_name[array], ELEMENT_U64, words,
               packed_integers_words(count, width));
    return ERROR_NONE;
}

static enum error_code add_rows(struct packing *packing, const struct mini_batch *batch,
                                struct error *err)
{
    uint32_t *length = NULL;
    const enum error_code rc = arena_new(packing->scratch, &length, batch->row_count, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < mini_batch_relations(batch); r++) {
        const uint32_t begin = mini_batch_row_begin(batch, r);
        const uint32_t *start = mini_batch_row_starts(batch, r);
        for (uint32_t i = 0; i < mini_batch_row_begin(batch, r + 1) - begin; i++)
            length[begin + i] = start[i + 1] - start[i];
    }
    return add_packed(packing, PACKED_ROW_LENGTH, length, batch->row_count, err);
}

static enum error_code add_edges(struct packing *packing, const struct mini_batch *batch,
                                 struct error *err)
{
    uint64_t *is_new = NULL, *rest = NULL;
    enum error_code rc = new_words(packing, batch->edge_count, 1, &is_new, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct edge_discovery discovery = batch_discovery_mark(batch, is_new);
    rc = new_words(packing, discovery.rest_count, discovery.rest_width, &rest, err);
    if (rc != ERROR_NONE)
        return rc;
    edge_discovery_pack_rest(batch->neighbor, batch->edge_count, is_new, discovery.rest_width,
                             rest);
    packing->width[PACKED_NEIGHBOR] = discovery.rest_width;
    record_add(&packing->record, SECTION_IS_NEW, ELEMENT_U64, is_new,
               packed_integers_words(batch->edge_count, 1));
    record_add(&packing->record, packed_name[PACKED_NEIGHBOR], ELEMENT_U64, rest,
               packed_integers_words(discovery.rest_count, discovery.rest_width));
    return ERROR_NONE;
}

/* Adds the sections that version 3 does not have. */
static enum error_code add_form(struct packing *packing, const struct mini_batch *batch,
                                struct error *err)
{
    struct record *record = &packing->record;
    uint64_t *words = NULL;
    if (batch->form == BATCH_NESTED && !batch->edge_factor && !batch->seed_weight &&
        !batch->seed_of && !batch->pairs.positive_count)
        return ERROR_NONE;
    record->version = MINI_BATCH_WITHOUT_POSITIONS;
    packing->form = batch->form;
    record_add(record, SECTION_FORM, ELEMENT_U32, &packing->form, 1);
    if (batch->edge_factor)
        record_add(record, SECTION_EDGE_FACTOR, ELEMENT_F32, batch->edge_factor, batch->edge_count);
    if (batch->seed_weight)
        record_add(record, SECTION_SEED_WEIGHT, ELEMENT_F32, batch->seed_weight, batch->seed_count);
    if (batch->pairs.positive_count) {
        const enum error_code rc = seed_pairs_add(record, &packing->pairs, &batch->pairs,
                                                  batch->seed_count, packing->scratch, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    if (!batch->seed_of)
        return ERROR_NONE;
    const unsigned width = packed_integers_width_of(batch->seed_count - 1);
    const enum error_code rc = new_words(packing, batch->node_count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(batch->seed_of, batch->node_count, width, words);
    record_add(record, SECTION_SEED_OF, ELEMENT_U64, words,
               packed_integers_words(batch->node_count, width));
    return ERROR_NONE;
}

/* Adds the sections that version 4 does not have. */
static enum error_code add_positions(struct packing *packing, const struct mini_batch *batch,
                                     struct error *err)
{
    struct record *record = &packing->record;
    const uint32_t count = batch->edge_count;
    uint64_t *words = NULL;
    if (!batch->edge_position)
        return ERROR_NONE;
    const unsigned width = packed_integers_width(batch->edge_position, count);
    const enum error_code rc = new_words(packing, count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(batch->edge_position, count, width, words);
    record->version = MINI_BATCH_WITHOUT_SHAPE;
    packing->position_width = width;
    record_add(record, SECTION_POSITION_WIDTH, ELEMENT_U32, &packing->position_width, 1);
    record_add(record, SECTION_EDGE_POSITION, ELEMENT_U64, words,
               packed_integers_words(count, width));
    return ERROR_NONE;
}

/* Adds the sections that version 6 does not have. */
static enum error_code add_ends(struct packing *packing, const struct mini_batch *batch,
                                struct error *err)
{
    struct record *record = &packing->record;
    const uint64_t count = mini_batch_ends(batch, mini_batch_relations(batch));
    uint64_t *words = NULL;
    if (!batch->back)
        return ERROR_NONE;
    const unsigned width = packed_integers_width(batch->end_degree, count);
    const enum error_code rc = new_words(packing, count, width, &words, err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(batch->end_degree, count, width, words);
    packing->end_width = width;
    record_add(record, SECTION_BACK, ELEMENT_U16, batch->back, mini_batch_relations(batch));
    record_add(record, SECTION_END_WIDTH, ELEMENT_U32, &packing->end_width, 1);
    record_add(record, SECTION_END_DEGREE, ELEMENT_U64, words, packed_integers_words(count, width));
    return ERROR_NONE;
}

/* Adds the sections of types and relations, before the packed arrays. */
static enum error_code add_shape(struct packing *packing, const struct mini_batch *batch,
                                 struct error *err)
{
    const uint64_t relations = mini_batch_relations(batch), hops = (uint64_t)batch->hop_count;
    const bool by_hop = batch->form == BATCH_LAYERED;
    struct record *record = &packing->record;
    uint32_t *count = NULL;
    packing->shape[0] = mini_batch_types(batch);
    packing->shape[1] = mini_batch_relations(batch);
    const enum error_code rc =
        arena_new(packing->scratch, &count, by_hop ? relations * hops + 1 : relations, what, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t r = 0; r < relations; r++)
        if (!by_hop)
            count[r] = mini_batch_row_begin(batch, r + 1) - mini_batch_row_begin(batch, r);
    for (uint64_t i = 0; by_hop && i < relations * hops; i++) {
        const uint32_t *of_hop = batch->hop_row + i / hops * (hops + 1) + i % hops;
        count[i] = of_hop[1] - of_hop[0];
    }
    record_add(record, SECTION_SHAPE, ELEMENT_U32, packing->shape, 2);
    record_add(record, SECTION_ENDS, ELEMENT_U16, batch->ends, 2 * relations);
    record_add(record, SECTION_ROW_COUNT, ELEMENT_U32, count,
               by_hop ? relations * hops : relations);
    return ERROR_NONE;
}

static void must_be_sound(const struct mini_batch *batch)
{
    must(batch->hop_count >= 0 && batch->hop_count <= HOP_COUNT_MAX);
    must(batch->row || mini_batch_relations(batch) == 1);
    must(batch->row || batch->row_count == batch_form_rows(batch));
    must(batch->row ||
         (batch->row_start[0] == 0 && batch->row_start[batch->row_count] == batch->edge_count));
    must(!batch->back == !batch->end_degree && (batch->row || !batch->back));
    must(batch->seed_count == mini_batch_seeds(batch, mini_batch_types(batch)));
}

static enum error_code pack(struct packing *packing, const struct mini_batch *batch,
                            struct error *err)
{
    enum error_code rc = add_packed(packing, PACKED_NODE, batch->node, batch->node_count, err);
    if (rc == ERROR_NONE)
        rc = add_rows(packing, batch, err);
    if (rc == ERROR_NONE)
        rc = add_edges(packing, batch, err);
    if (rc == ERROR_NONE && batch->row)
        rc = add_packed(packing, PACKED_ROW, batch->row, batch->row_count, err);
    if (rc == ERROR_NONE && batch->degree)
        rc = add_packed(packing, PACKED_DEGREE, batch->degree,
                        batch->row ? batch->row_count : batch->node_count, err);
    if (rc != ERROR_NONE)
        return rc;
    if (batch->weight_sum)
        record_add(&packing->record, SECTION_WEIGHT_SUM, ELEMENT_F32, batch->weight_sum,
                   mini_batch_weight_sums(batch));
    edge_sections_add(&packing->record, &batch->columns, batch->edge_count);
    rc = add_form(packing, batch, err);
    if (rc == ERROR_NONE)
        rc = add_positions(packing, batch, err);
    return rc == ERROR_NONE ? add_ends(packing, batch, err) : rc;
}

enum error_code mini_batch_put(struct store *store, const char *key, const char *run_id,
                               const struct mini_batch *batch, struct arena *scratch,
                               struct error *err)
{
    struct packing packing = {
        .record = {.kind = RECORD_MINI_BATCH, .version = MINI_BATCH_WITHOUT_FORM},
        .scratch = scratch};
    enum error_code rc = ERROR_NONE;
    must_be_sound(batch);
    arena_reset(scratch);
    if (batch->row)
        rc = add_shape(&packing, batch, err);
    record_add(&packing.record, SECTION_HOP_END, ELEMENT_U32, batch->hop_end,
               mini_batch_types(batch) * ((uint64_t)batch->hop_count + 1));
    record_add(&packing.record, "width", ELEMENT_U32, packing.width,
               batch->row ? PACKED_COUNT : PACKED_ROW);
    if (rc == ERROR_NONE)
        rc = pack(&packing, batch, err);
    if (rc != ERROR_NONE)
        return rc;
    if (batch->seed_time)
        record_add(&packing.record, SECTION_SEED_TIME, ELEMENT_I64, batch->seed_time,
                   batch->seed_count);
    if (batch->row || batch->seed_time)
        packing.record.version = batch->back ? MINI_BATCH_VERSION : MINI_BATCH_WITHOUT_ENDS;
    return store_put(store, key, run_id, &packing.record, STORE_RECOMPUTABLE, err);
}
