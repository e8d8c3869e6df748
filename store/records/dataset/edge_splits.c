#include "store/records/dataset/edge_splits.h"

#include "common/graph/edge_column.h"
#include "store/records/section_checks.h"
#include "store/records/section_table.h"

#include <string.h>

const char *const held_out_name[HELD_OUT_COUNT] = {"valid", "test"};

/* --- times and negatives --- */

static const char *const time_name[HELD_OUT_COUNT] = {"valid_time", "test_time"};

/* The sections of each split, and of training. */
static const char *const start_name[] = {"valid_neg_start", "test_neg_start", "train_neg_start"};
static const char *const negative_name[] = {"valid_negative", "test_negative", "train_negative"};

static void add_negatives(struct record *record, int which, const struct negative_ends *ends,
                          uint64_t count)
{
    if (!ends->start)
        return;
    record_add(record, start_name[which], ELEMENT_U64, ends->start, count + 1);
    record_add(record, negative_name[which], ELEMENT_U32, ends->node, ends->start[count]);
}

/* Reads those of `count` edges, if there are any. */
static enum error_code read_negatives(const struct record_view *view, int which, uint64_t count,
                                      uint32_t node_count, struct negative_ends *out,
                                      struct error *err)
{
    const struct element_bounds offsets = {.checks = SECTION_ASCENDS | SECTION_FROM_0,
                                           .limit = INT64_MAX};
    const struct element_bounds nodes = {.limit = node_count};
    const void *start = NULL, *node = NULL;
    if (!record_has(view, start_name[which]))
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, start_name[which], ELEMENT_U64,
                                            (int64_t)count + 1, &start, NULL, err);
    if (rc == ERROR_NONE)
        rc = section_elements_check(view, start_name[which], ELEMENT_U64, start, count + 1,
                                    &offsets, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t ends = ((const uint64_t *)start)[count];
    rc = record_section_get(view, negative_name[which], ELEMENT_U32, (int64_t)ends, &node, NULL,
                            err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct negative_ends){start, node};
    return section_elements_check(view, negative_name[which], ELEMENT_U32, node, ends, &nodes, err);
}

static void add_split(struct record *record, const struct edge_splits *splits, int s)
{
    if (splits->is_timed)
        record_add(record, time_name[s], splits->time[s].are_doubles ? ELEMENT_F64 : ELEMENT_I64,
                   splits->time[s].word, splits->count[s]);
    add_negatives(record, s, &splits->negative[s], splits->count[s]);
}

/* Times are doubles in records of earlier releases. */
static enum error_code read_split(const struct record_view *view, struct edge_splits *out, int s,
                                  struct error *err)
{
    const struct element_bounds finite = {.checks = SECTION_FINITE};
    const enum element_type type =
        record_section_type(view, time_name[s]) == ELEMENT_F64 ? ELEMENT_F64 : ELEMENT_I64;
    const void *time = NULL;
    enum error_code rc = ERROR_NONE;
    if (out->is_timed)
        rc = record_section_get(view, time_name[s], type, (int64_t)out->count[s], &time, NULL, err);
    if (rc == ERROR_NONE && time)
        rc = section_elements_check(view, time_name[s], type, time, out->count[s], &finite, err);
    out->time[s] = (struct edge_times){time, type == ELEMENT_F64};
    return rc == ERROR_NONE
               ? read_negatives(view, s, out->count[s], out->node_count, &out->negative[s], err)
               : rc;
}

static void add_valid(struct record *record, const void *from, struct section_scratch *scratch)
{
    (void)scratch;
    add_split(record, from, HELD_OUT_VALID);
}

static enum error_code read_valid(const struct record_view *view, void *out, struct error *err)
{
    struct edge_splits *splits = out;
    splits->is_timed = record_has(view, time_name[HELD_OUT_VALID]);
    return read_split(view, splits, HELD_OUT_VALID, err);
}

static void add_test(struct record *record, const void *from, struct section_scratch *scratch)
{
    (void)scratch;
    add_split(record, from, HELD_OUT_TEST);
}

static enum error_code read_test(const struct record_view *view, void *out, struct error *err)
{
    return read_split(view, out, HELD_OUT_TEST, err);
}

static const char train_type[] = "train_type";

static void add_trained(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct edge_splits *splits = from;
    (void)scratch;
    if (!splits->trained.count)
        return;
    if (splits->trained.type)
        record_add(record, train_type, ELEMENT_U16, splits->trained.type, splits->trained.count);
    add_negatives(record, HELD_OUT_COUNT, &splits->trained.ends, splits->trained.count);
}

static enum error_code read_trained(const struct record_view *view, void *out, struct error *err)
{
    struct edge_splits *splits = out;
    struct trained_negatives *trained = &splits->trained;
    const void *type = NULL;
    enum error_code rc = ERROR_NONE;
    if (!trained->count)
        return ERROR_NONE;
    if (record_has(view, train_type))
        rc = record_section_get(view, train_type, ELEMENT_U16, (int64_t)trained->count, &type, NULL,
                                err);
    trained->type = type;
    if (rc != ERROR_NONE)
        return rc;
    if (!record_has(view, start_name[HELD_OUT_COUNT]))
        return error_set(err, ERROR_CORRUPT, "%s: expected a section %s, found none", view->key,
                         start_name[HELD_OUT_COUNT]);
    return read_negatives(view, HELD_OUT_COUNT, trained->count, splits->node_count, &trained->ends,
                          err);
}

/* --- the table --- */

static const char dim_name[] = "feature_dim";

/* The width stands behind the features. */
static enum error_code read_width(const struct record_view *view, void *out, struct error *err)
{
    struct edge_splits *splits = out;
    const void *dim = NULL;
    if (!record_has(view, dim_name))
        return ERROR_NONE;
    const enum error_code rc = record_section_get(view, dim_name, ELEMENT_U32, 1, &dim, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&splits->feature_dim, dim, sizeof splits->feature_dim);
    return splits->feature_dim && edge_column_may_be(EDGE_FEATURE, splits->feature_dim)
               ? ERROR_NONE
               : section_refuse_number(view, dim_name, NULL, 1, EDGE_COLUMN_WIDTH_MAX,
                                       splits->feature_dim, err);
}

#define SECTION_STRUCT struct edge_splits
static const struct section_number undirected[] = {{"undirected", AT(undirected), 0, 1}};
/* The ends of the edges of one split, and what they have beside. */
#define SPLIT_ENDS(split, s)                                                                       \
    {SECTION_ARRAY(split "_source", U32, source[s]), .sets = AT(count[s]), .most = UINT32_MAX,     \
     .limit = AT(node_count)},                                                                     \
        {SECTION_ARRAY(split "_target", U32, target[s]), .count = AT(count[s]),                    \
         .limit = AT(node_count)},                                                                 \
    {                                                                                              \
        SECTION_ARRAY(split "_type", U16, type[s]), .count = AT(count[s]), .if_there = true        \
    }
static const struct section_row rows[] = {
    {SECTION_NUMBERS("undirected", U32, undirected)},
    SPLIT_ENDS("valid", HELD_OUT_VALID),
    {SECTION_ARRAY("valid_label", F32, label[HELD_OUT_VALID]), .count = AT(count[HELD_OUT_VALID]),
     .when = AT(is_labelled), .if_there = true, .checks = SECTION_FINITE},
    {SECTION_HAND(add_valid, read_valid)},
    SPLIT_ENDS("test", HELD_OUT_TEST),
    {SECTION_ARRAY("test_label", F32, label[HELD_OUT_TEST]), .count = AT(count[HELD_OUT_TEST]),
     .when = AT(is_labelled), .checks = SECTION_FINITE},
    {SECTION_HAND(add_test, read_test)},
    {SECTION_HAND(NULL, read_width)},
    {SECTION_ARRAY("valid_weight", F32, weight[HELD_OUT_VALID]), .count = AT(count[HELD_OUT_VALID]),
     .when = AT(has_weights), .if_there = true, .since = 2, .checks = SECTION_FINITE},
    {SECTION_ARRAY("valid_feature", F32, feature[HELD_OUT_VALID]),
     .count = AT(count[HELD_OUT_VALID]), .times = AT(feature_dim), .when = AT(feature_dim),
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("test_weight", F32, weight[HELD_OUT_TEST]), .count = AT(count[HELD_OUT_TEST]),
     .when = AT(has_weights), .checks = SECTION_FINITE},
    {SECTION_ARRAY("test_feature", F32, feature[HELD_OUT_TEST]), .count = AT(count[HELD_OUT_TEST]),
     .times = AT(feature_dim), .when = AT(feature_dim), .checks = SECTION_FINITE},
    {SECTION_VALUE(dim_name, U32, feature_dim), .when = AT(feature_dim), .if_there = true,
     .since = 2},
    {SECTION_ARRAY("train_source", U32, trained.source), .sets = AT(trained.count),
     .when = AT(trained.count), .if_there = true, .limit = AT(node_count)},
    {SECTION_ARRAY("train_target", U32, trained.target), .count = AT(trained.count),
     .when = AT(trained.count), .limit = AT(node_count)},

    {SECTION_HAND(add_trained, read_trained)},
    {SECTION_ARRAY("left", U32, left), .sets = AT(left_count), .when = AT(left_count),
     .if_there = true, .limit = AT(node_count)},
    {SECTION_ARRAY("train_classes", U64, train_class), .sets = AT(class_count),
     .when = AT(class_count), .if_there = true},
};
static const struct section_table table = SECTION_TABLE(RECORD_EDGE_SPLITS, 1, 2, rows);

enum error_code edge_splits_put(struct store *store, const char *key, const char *owner,
                                const struct edge_splits *splits, struct error *err)
{
    return section_table_put(store, &table, key, owner, splits, STORE_DURABLE, err);
}

/* Classes are those of labels. */
static enum error_code check_classes(const struct edge_splits *splits, struct error *err)
{
    return splits->is_labelled || !splits->class_count
               ? ERROR_NONE
               : error_set(err, ERROR_CORRUPT, "%s: expected a section valid_label, found none",
                           splits->view.key);
}

enum error_code edge_splits_decode(const struct record_view *view, uint32_t node_count,
                                   struct edge_splits *out, struct error *err)
{
    *out = (struct edge_splits){.node_count = node_count, .view = *view};
    const enum error_code rc = section_table_read(&table, view, out, err);
    return rc == ERROR_NONE ? check_classes(out, err) : rc;
}

enum error_code edge_splits_get(struct store *store, const char *key, const char *owner,
                                uint32_t node_count, struct edge_splits *out, struct error *err)
{
    *out = (struct edge_splits){.node_count = node_count};
    const enum error_code rc = section_table_fetch(store, &table, key, owner, out, err);
    return rc == ERROR_NONE ? section_table_keep(&table, check_classes(out, err), out) : rc;
}

int edge_splits_ends(struct edge_splits *splits, const uint32_t **list[EDGE_SPLITS_END_LISTS],
                     uint64_t count[EDGE_SPLITS_END_LISTS])
{
    struct trained_negatives *trained = &splits->trained;
    int lists = 0;
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        const struct negative_ends *ends = &splits->negative[s];
        list[lists] = &splits->source[s];
        count[lists++] = splits->count[s];
        list[lists] = &splits->target[s];
        count[lists++] = splits->count[s];
        list[lists] = &splits->negative[s].node;
        count[lists++] = ends->start ? ends->start[splits->count[s]] : 0;
    }
    list[lists] = &trained->source;
    count[lists++] = trained->count;
    list[lists] = &trained->target;
    count[lists++] = trained->count;
    list[lists] = &trained->ends.node;
    count[lists++] = trained->count ? trained->ends.start[trained->count] : 0;
    list[lists] = &splits->left;
    count[lists++] = splits->left_count;
    return lists;
}
