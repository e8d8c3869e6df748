#include "store/records/dataset/dataset_delta.h"

#include "store/records/dataset/dataset_delta_graphs.h"
#include "store/records/dataset/dataset_delta_types.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_sections.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_splits.h"
#include "store/records/section_checks.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION_PLAIN = 1, VERSION_HELD, VERSION_TYPED, VERSION_GRAPHS };
enum { FACT_COUNT = 5, TYPED_FACT_COUNT };

/* --- writing --- */

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

static void add_facts(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct dataset_delta *delta = from;
    const uint64_t fact[TYPED_FACT_COUNT] = {delta->depth,       delta->base_nodes,
                                             delta->added_nodes, delta->label_width,
                                             delta->feature_dim, delta->relation_count};
    uint64_t *kept = section_scratch_take(scratch, sizeof fact);
    memcpy(kept, fact, sizeof fact);
    record->version = version_of(delta);
    record_add(record, "facts", ELEMENT_U64, kept,
               record->version >= VERSION_TYPED ? TYPED_FACT_COUNT : FACT_COUNT);
}

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

static void add_rest(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct dataset_delta *delta = from;
    record_add(record, "row", ELEMENT_F32, delta->row, row_numbers(delta));
    delta_types_add(record, delta, scratch);
    delta_graphs_add(record, delta, scratch);
    add_new_nodes(record, delta);
    if (delta->added_edges)
        edge_sections_add(record, &delta->columns, delta->added_edges);
}

/* --- reading --- */

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
    out->node_limit = fact[1] + fact[2];
    out->relation_count = typed ? (uint32_t)fact[5] : 0;
    return ERROR_NONE;
}

static enum error_code read_facts(const struct record_view *view, void *out, struct error *err)
{
    enum error_code rc = get_facts(view, out, err);
    if (rc == ERROR_NONE && view->version >= VERSION_TYPED)
        rc = delta_types_get(view, out, err);
    return rc == ERROR_NONE && view->version == VERSION_GRAPHS ? delta_graphs_get(view, out, err)
                                                               : rc;
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

static enum error_code read_gone(const struct record_view *view, void *out, struct error *err)
{
    const enum error_code rc = delta_types_get_gone(view, out, err);
    return rc == ERROR_NONE ? check_gone_edges(view, out, err) : rc;
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
    const struct element_bounds offsets = {.checks = SECTION_OFFSETS, .limit = size + 1};
    return section_elements_check(view, "new_id_offset", ELEMENT_U64, offset, count + 1, &offsets,
                                  err);
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
    const struct element_bounds splits = {.limit = SPLIT_COUNT + 1};
    return rc == ERROR_NONE ? section_elements_check(view, "new_split", ELEMENT_U8, data,
                                                     (uint64_t)targets, &splits, err)
                            : rc;
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

static enum error_code read_rest(const struct record_view *view, void *of, struct error *err)
{
    const struct element_bounds finite = {.checks = SECTION_FINITE};
    struct dataset_delta *out = of;
    const void *data = NULL;
    uint64_t numbers = 0;
    enum error_code rc = ERROR_NONE;
    if (out->added_edges)
        rc = edge_sections_get(view, out->added_edges, &out->columns, err);
    if (rc == ERROR_NONE)
        rc = delta_types_check_edges(view, out, err);
    if (rc == ERROR_NONE)
        rc = get_new_nodes(view, out, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "row", ELEMENT_F32, -1, &data, &numbers, err);
    if (rc == ERROR_NONE)
        rc = check_rows(view, out, numbers, err);
    out->row = data;
    return rc == ERROR_NONE
               ? section_elements_check(view, "row", ELEMENT_F32, data, numbers, &finite, err)
               : rc;
}

#define SECTION_STRUCT struct dataset_delta
static const struct section_row rows[] = {
    {SECTION_TEXT("base", base), .checks = SECTION_ID},
    {SECTION_TEXT("root", root), .checks = SECTION_ID},
    {SECTION_HAND(add_facts, read_facts)},
    {SECTION_ARRAY("gone_node", U32, gone_node), .sets = AT(gone_nodes), .limit = AT(base_nodes),
     .checks = SECTION_ASCENDS},
    {SECTION_ARRAY("gone_source", U32, gone_source), .sets = AT(gone_edges),
     .limit = AT(base_nodes)},
    {SECTION_ARRAY("gone_target", U32, gone_target), .count = AT(gone_edges),
     .limit = AT(base_nodes), .read = read_gone},
    {SECTION_ARRAY("source", U32, source), .sets = AT(added_edges), .limit = AT(node_limit)},
    {SECTION_ARRAY("target", U32, target), .count = AT(added_edges), .limit = AT(node_limit)},
    {SECTION_ARRAY("row_node", U32, row_node), .sets = AT(rows), .limit = AT(node_limit)},
    {SECTION_HAND(add_rest, read_rest)},
    {SECTION_TEXT("negative_weight", negative_weight), .when = AT(negative_weight[0]),
     .if_there = true},
    {SECTION_ARRAY("new_held", U8, new_held), .count = AT(added_edges), .if_there = true,
     .behind = HELD_OUT_COUNT + 1},
};
static const struct section_table table = SECTION_TABLE(RECORD_DATASET_DELTA, 1, 4, rows);

void dataset_delta_content(const struct dataset_delta *delta, char text[CHECKSUM_TEXT_SIZE])
{
    struct section_scratch scratch;
    struct dataset_delta nameless = *delta;
    nameless.negative_weight[0] = '\0';
    const struct record record = section_table_record(&table, &nameless, &scratch);
    const struct checksum sum = record_content_sum(&record);
    checksum_text(&sum, text);
}

enum error_code dataset_delta_put(struct store *store, const char *dataset_id,
                                  const struct dataset_delta *delta, struct error *err)
{
    return section_table_put(store, &table, key_dataset(dataset_id, "delta").text, dataset_id,
                             delta, STORE_DURABLE, err);
}

enum error_code dataset_delta_decode(const struct record_view *view, struct dataset_delta *out,
                                     struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code dataset_delta_get(struct store *store, const char *dataset_id,
                                  struct dataset_delta *out, struct error *err)
{
    enum error_code rc = section_table_get(store, &table, key_dataset(dataset_id, "delta").text,
                                           dataset_id, out, err);
    if (rc == ERROR_NONE && strcmp(out->base, dataset_id) == 0)
        rc = error_set(err, ERROR_CORRUPT, "%s: \"base\": the dataset is its own base",
                       out->view.key);
    return section_table_keep(&table, rc, out);
}
