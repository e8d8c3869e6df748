#include "store/records/dataset_delta.h"

#include "store/objects/keys.h"
#include "store/records/dataset_delta_graphs.h"
#include "store/records/dataset_delta_types.h"
#include "store/records/dataset_schema.h"
#include "store/records/edge_sections.h"
#include "store/records/edge_splits.h"
#include "store/records/node_splits.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { VERSION_PLAIN = 1, VERSION_HELD = 2, VERSION_TYPED = 3, VERSION_GRAPHS = 4 };
enum { FACT_COUNT = 5, TYPED_FACT_COUNT };

static const char negative_weight[] = "negative_weight";

/* --- writing --- */

/* What a record holds and a delta does not have as an array; borrowed until it is put. */
struct facts {
    uint64_t of[TYPED_FACT_COUNT];
    uint32_t types[DELTA_TYPES_SIZE];
    uint64_t graphs[DELTA_GRAPHS_SIZE];
};

static void add_new_nodes(struct record *record, const struct dataset_delta *delta)
{
    const struct node_ids *ids = &delta->new_ids;
    const uint64_t count = delta->added_nodes, targets = dataset_delta_targets(delta);
    if (count == 0)
        return;
    if (ids->integer) {
        record_add(record, "new_id", ELEMENT_I64, ids->integer, count);
    } else {
        record_add(record, "new_id_offset", ELEMENT_U64, ids->offset, count + 1);
        record_add(record, "new_id_text", ELEMENT_U8, ids->text, ids->offset[count]);
    }
    record_add(record, "new_label", ELEMENT_U32, delta->new_label, targets * delta->label_width);
    record_add(record, "new_split", ELEMENT_U8, delta->new_split, targets);
}

static uint32_t version_of(const struct dataset_delta *delta)
{
    if (delta->base_graphs)
        return VERSION_GRAPHS;
    if (delta->type_count || delta->relation_count)
        return VERSION_TYPED;
    return delta->new_held ? VERSION_HELD : VERSION_PLAIN;
}

/* Numbers in all rows. */
static uint64_t row_numbers(const struct dataset_delta *delta)
{
    uint64_t numbers = 0;
    if (!delta->type_count)
        return delta->rows * delta->feature_dim;
    for (uint64_t i = 0; i < delta->rows; i++)
        numbers += dataset_delta_columns(delta, delta->row_node[i]);
    return numbers;
}

static struct record encode(const struct dataset_delta *delta, const struct facts *facts)
{
    struct record record = {.kind = RECORD_DATASET_DELTA, .version = version_of(delta)};
    record_add_text(&record, "base", delta->base);
    record_add_text(&record, "root", delta->root);
    record_add(&record, "facts", ELEMENT_U64, facts->of,
               record.version >= VERSION_TYPED ? TYPED_FACT_COUNT : FACT_COUNT);
    record_add(&record, "gone_node", ELEMENT_U32, delta->gone_node, delta->gone_nodes);
    record_add(&record, "gone_source", ELEMENT_U32, delta->gone_source, delta->gone_edges);
    record_add(&record, "gone_target", ELEMENT_U32, delta->gone_target, delta->gone_edges);
    record_add(&record, "source", ELEMENT_U32, delta->source, delta->added_edges);
    record_add(&record, "target", ELEMENT_U32, delta->target, delta->added_edges);
    record_add(&record, "row_node", ELEMENT_U32, delta->row_node, delta->rows);
    record_add(&record, "row", ELEMENT_F32, delta->row, row_numbers(delta));
    delta_types_add(&record, delta, facts->types);
    delta_graphs_add(&record, delta, facts->graphs);
    add_new_nodes(&record, delta);
    if (delta->added_edges)
        edge_sections_add(&record, &delta->columns, delta->added_edges);
    if (delta->negative_weight[0])
        record_add_text(&record, negative_weight, delta->negative_weight);
    if (delta->new_held)
        record_add(&record, "new_held", ELEMENT_U8, delta->new_held, delta->added_edges);
    return record;
}

static void fill_facts(const struct dataset_delta *delta, struct facts *facts)
{
    *facts = (struct facts){.of = {delta->depth, delta->base_nodes, delta->added_nodes,
                                   delta->label_width, delta->feature_dim, delta->relation_count}};
    delta_types_fill(delta, facts->types);
    delta_graphs_fill(delta, facts->graphs);
}

void dataset_delta_content(const struct dataset_delta *delta, char text[CHECKSUM_TEXT_SIZE])
{
    struct facts facts;
    struct dataset_delta nameless = *delta;
    nameless.negative_weight[0] = '\0';
    fill_facts(delta, &facts);
    const struct record record = encode(&nameless, &facts);
    const struct checksum sum = record_content_sum(&record);
    checksum_text(&sum, text);
}

enum error_code dataset_delta_put(struct store *store, const char *dataset_id,
                                  const struct dataset_delta *delta, struct error *err)
{
    struct facts facts;
    fill_facts(delta, &facts);
    const struct record record = encode(delta, &facts);
    return store_put(store, key_dataset(dataset_id, "delta").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

/* --- reading --- */

/* Keys are made of ids, so one with a '/' or a ".." in it would lead out of its place. */
static enum error_code get_id(const struct record_view *view, const char *section, char *out,
                              struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const enum error_code rc = record_text_get(view, section, out, ID_SIZE, err);
    if (rc != ERROR_NONE || (out[0] && out[0] != '.' && strspn(out, allowed) == strlen(out)))
        return rc;
    return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected an id of [A-Za-z0-9._-], found '%s'",
                     view->key, section, out);
}

static enum error_code get_facts(const struct record_view *view, struct dataset_delta *out,
                                 struct error *err)
{
    const void *data = NULL;
    const bool typed = view->version >= VERSION_TYPED;
    enum error_code rc = record_section_get(
        view, "facts", ELEMENT_U64, typed ? TYPED_FACT_COUNT : FACT_COUNT, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *fact = data;
    if (fact[0] == 0 || fact[1] == 0 || fact[1] >= UINT32_MAX || fact[2] >= UINT32_MAX - fact[1] ||
        fact[3] > UINT16_MAX + 1U || fact[4] > UINT32_MAX ||
        (typed && fact[5] > EDGE_TYPE_COUNT_MAX))
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"facts\": expected a depth, nodes below 2^32 and widths, found "
                         "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                         view->key, fact[0], fact[1], fact[2], fact[3], fact[4]);
    out->depth = fact[0];
    out->base_nodes = (uint32_t)fact[1];
    out->added_nodes = (uint32_t)fact[2];
    out->label_width = (uint32_t)fact[3];
    out->feature_dim = (uint32_t)fact[4];
    out->relation_count = typed ? (uint32_t)fact[5] : 0;
    return ERROR_NONE;
}

/* A section of nodes below `limit`; with `count` >= 0 that many. */
static enum error_code get_nodes(const struct record_view *view, const char *section,
                                 uint64_t limit, int64_t count, const uint32_t **out,
                                 uint64_t *found, struct error *err)
{
    const void *data = NULL;
    uint64_t size = 0;
    const enum error_code rc =
        record_section_get(view, section, ELEMENT_U32, count, &data, &size, err);
    *out = data;
    if (found)
        *found = size;
    for (uint64_t i = 0; rc == ERROR_NONE && i < size; i++)
        if ((*out)[i] >= limit)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected a node below %" PRIu64
                             ", found %" PRIu32,
                             view->key, section, i, limit, (*out)[i]);
    return rc;
}

static enum error_code check_ascending(const struct record_view *view,
                                       const struct dataset_delta *delta, struct error *err)
{
    for (uint64_t i = 1; i < delta->gone_nodes; i++)
        if (delta->gone_node[i] <= delta->gone_node[i - 1])
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"gone_node\" entry %" PRIu64 ": expected a node above %" PRIu32
                             ", found %" PRIu32,
                             view->key, i, delta->gone_node[i - 1], delta->gone_node[i]);
    return ERROR_NONE;
}

static enum error_code check_gone_edges(const struct record_view *view,
                                        const struct dataset_delta *delta, struct error *err)
{
    const uint32_t *source = delta->gone_source, *target = delta->gone_target;
    const uint16_t *relation = delta->gone_relation;
    for (uint64_t i = 1; i < delta->gone_edges; i++)
        if (target[i] < target[i - 1] ||
            (target[i] == target[i - 1] && source[i] < source[i - 1]) ||
            (target[i] == target[i - 1] && source[i] == source[i - 1] &&
             (!relation || relation[i] <= relation[i - 1])))
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"gone_target\" entry %" PRIu64
                             ": expected edges that ascend, found one from %" PRIu32 " to %" PRIu32,
                             view->key, i, source[i], target[i]);
    return ERROR_NONE;
}

static enum error_code get_edges(const struct record_view *view, struct dataset_delta *out,
                                 struct error *err)
{
    const uint64_t base = out->base_nodes, all = base + out->added_nodes;
    enum error_code rc =
        get_nodes(view, "gone_node", base, -1, &out->gone_node, &out->gone_nodes, err);
    if (rc == ERROR_NONE)
        rc = check_ascending(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_nodes(view, "gone_source", base, -1, &out->gone_source, &out->gone_edges, err);
    if (rc == ERROR_NONE)
        rc = get_nodes(view, "gone_target", base, (int64_t)out->gone_edges, &out->gone_target, NULL,
                       err);
    if (rc == ERROR_NONE)
        rc = delta_types_get_gone(view, out, err);
    if (rc == ERROR_NONE)
        rc = check_gone_edges(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_nodes(view, "source", all, -1, &out->source, &out->added_edges, err);
    if (rc == ERROR_NONE)
        rc = get_nodes(view, "target", all, (int64_t)out->added_edges, &out->target, NULL, err);
    if (rc == ERROR_NONE && out->added_edges)
        rc = edge_sections_get(view, out->added_edges, &out->columns, err);
    return rc == ERROR_NONE ? delta_types_check_edges(view, out, err) : rc;
}

/* Which of the added edges are held out. */
static enum error_code get_held(const struct record_view *view, struct dataset_delta *out,
                                struct error *err)
{
    const void *data = NULL;
    if (!record_has(view, "new_held"))
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, "new_held", ELEMENT_U8, (int64_t)out->added_edges,
                                            &data, NULL, err);
    out->new_held = data;
    for (uint64_t i = 0; rc == ERROR_NONE && i < out->added_edges; i++)
        if (out->new_held[i] > HELD_OUT_COUNT)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"new_held\" entry %" PRIu64 ": expected 0 to %d, found %u",
                           view->key, i, HELD_OUT_COUNT, out->new_held[i]);
    return rc;
}

static enum error_code get_text_ids(const struct record_view *view, struct dataset_delta *out,
                                    struct error *err)
{
    const uint64_t count = out->added_nodes;
    const void *offset = NULL, *text = NULL;
    uint64_t size = 0;
    enum error_code rc = record_section_get(view, "new_id_offset", ELEMENT_U64, (int64_t)count + 1,
                                            &offset, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "new_id_text", ELEMENT_U8, -1, &text, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    out->new_ids.offset = offset;
    out->new_ids.text = text;
    bool ascends = out->new_ids.offset[0] == 0 && out->new_ids.offset[count] == size;
    for (uint64_t i = 0; ascends && i < count; i++)
        ascends = out->new_ids.offset[i] <= out->new_ids.offset[i + 1];
    return ascends ? ERROR_NONE
                   : error_set(err, ERROR_CORRUPT,
                               "%s: \"new_id_offset\": expected ascending offsets from 0 to "
                               "%" PRIu64,
                               view->key, size);
}

static enum error_code get_new_nodes(const struct record_view *view, struct dataset_delta *out,
                                     struct error *err)
{
    const void *data = NULL;
    const int64_t count = out->added_nodes, targets = dataset_delta_targets(out);
    enum error_code rc = ERROR_NONE;
    if (count == 0)
        return ERROR_NONE;
    out->new_ids.node_count = out->added_nodes;
    if (record_has(view, "new_id")) {
        rc = record_section_get(view, "new_id", ELEMENT_I64, count, &data, NULL, err);
        out->new_ids.integer = data;
    } else {
        rc = get_text_ids(view, out, err);
    }
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "new_label", ELEMENT_U32, targets * out->label_width, &data,
                                NULL, err);
    out->new_label = data;
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "new_split", ELEMENT_U8, targets, &data, NULL, err);
    out->new_split = data;
    for (int64_t i = 0; rc == ERROR_NONE && i < targets; i++)
        if (out->new_split[i] > SPLIT_COUNT)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"new_split\" entry %" PRId64 ": expected 0 to %d, found %u",
                           view->key, i, SPLIT_COUNT, out->new_split[i]);
    return rc;
}

/* Each row has a number at least. */
static enum error_code check_rows(const struct record_view *view, const struct dataset_delta *delta,
                                  uint64_t numbers, struct error *err)
{
    for (uint64_t i = 0; delta->type_count && i < delta->rows; i++)
        if (!dataset_delta_columns(delta, delta->row_node[i]))
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"row_node\" entry %" PRIu64 ": expected a node of a type with "
                             "features, found %" PRIu32,
                             view->key, i, delta->row_node[i]);
    const uint32_t dim = delta->feature_dim;
    const bool fits = delta->type_count ? numbers == row_numbers(delta)
                      : dim             ? numbers / dim == delta->rows && numbers % dim == 0
                                        : !numbers && !delta->rows;
    return fits ? ERROR_NONE
                : error_set(err, ERROR_CORRUPT,
                            "%s: \"row\": expected %" PRIu64 " rows of %s%" PRIu32
                            " numbers, found %" PRIu64 " numbers",
                            view->key, delta->rows,
                            delta->type_count ? "the columns of their types, of the target " : "",
                            dim, numbers);
}

static enum error_code get_rows(const struct record_view *view, struct dataset_delta *out,
                                struct error *err)
{
    const uint64_t all = (uint64_t)out->base_nodes + out->added_nodes;
    const void *data = NULL;
    uint64_t numbers = 0;
    enum error_code rc = get_nodes(view, "row_node", all, -1, &out->row_node, &out->rows, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "row", ELEMENT_F32, -1, &data, &numbers, err);
    if (rc != ERROR_NONE)
        return rc;
    out->row = data;
    rc = check_rows(view, out, numbers, err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint64_t i = 0; i < numbers; i++)
        if (!isfinite(out->row[i]))
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"row\" entry %" PRIu64 ": expected a finite number, found %g",
                             view->key, i, (double)out->row[i]);
    return ERROR_NONE;
}

enum error_code dataset_delta_decode(const struct record_view *view, struct dataset_delta *out,
                                     struct error *err)
{
    *out = (struct dataset_delta){.view = *view};
    enum error_code rc =
        record_expect_among(view, RECORD_DATASET_DELTA, VERSION_PLAIN, VERSION_GRAPHS, err);
    if (rc == ERROR_NONE)
        rc = get_id(view, "base", out->base, err);
    if (rc == ERROR_NONE)
        rc = get_id(view, "root", out->root, err);
    if (rc == ERROR_NONE)
        rc = get_facts(view, out, err);
    if (rc == ERROR_NONE)
        rc = view->version >= VERSION_TYPED ? delta_types_get(view, out, err) : ERROR_NONE;
    if (rc == ERROR_NONE && view->version == VERSION_GRAPHS)
        rc = delta_graphs_get(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_edges(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_held(view, out, err);
    if (rc == ERROR_NONE && record_has(view, negative_weight))
        rc = record_text_get(view, negative_weight, out->negative_weight,
                             sizeof out->negative_weight, err);
    if (rc == ERROR_NONE)
        rc = get_new_nodes(view, out, err);
    return rc == ERROR_NONE ? get_rows(view, out, err) : rc;
}

enum error_code dataset_delta_get(struct store *store, const char *dataset_id,
                                  struct dataset_delta *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct dataset_delta){0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "delta").text, dataset_id, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = dataset_delta_decode(&view, out, err);
    if (rc == ERROR_NONE && strcmp(out->base, dataset_id) == 0)
        rc = error_set(err, ERROR_CORRUPT, "%s: \"base\": the dataset is its own base", view.key);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct dataset_delta){0};
    return rc;
}
