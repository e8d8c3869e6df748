#include "store/records/edge_splits.h"

#include "common/graph/edge_column.h"

#include <inttypes.h>
#include <math.h>

/* A record has version 2 if held-out edges carry messages; without them it is as it was before. */
enum { EDGE_SPLITS_PLAIN = 1, EDGE_SPLITS_OF_MESSAGES = 2 };

const char *const held_out_name[HELD_OUT_COUNT] = {"valid", "test"};

static const char undirected_name[] = "undirected";

/* Of each split. */
static const char *const source_name[HELD_OUT_COUNT] = {"valid_source", "test_source"};
static const char *const target_name[HELD_OUT_COUNT] = {"valid_target", "test_target"};
static const char *const type_name[HELD_OUT_COUNT] = {"valid_type", "test_type"};
static const char *const label_name[HELD_OUT_COUNT] = {"valid_label", "test_label"};
static const char *const time_name[HELD_OUT_COUNT] = {"valid_time", "test_time"};

static const char left_name[] = "left";
static const char *const weight_name[HELD_OUT_COUNT] = {"valid_weight", "test_weight"};
static const char *const feature_name[HELD_OUT_COUNT] = {"valid_feature", "test_feature"};
static const char feature_dim[] = "feature_dim";

static const char class_name[] = "train_classes";

/* Of each split, and of training. */
static const char *const start_name[] = {"valid_neg_start", "test_neg_start", "train_neg_start"};
static const char *const negative_name[] = {"valid_negative", "test_negative", "train_negative"};
static const char train_source[] = "train_source", train_target[] = "train_target",
                  train_type[] = "train_type";

static void add_negatives(struct record *record, int which, const struct negative_ends *ends,
                          uint64_t count)
{
    if (!ends->start)
        return;
    record_add(record, start_name[which], ELEMENT_U64, ends->start, count + 1);
    record_add(record, negative_name[which], ELEMENT_U32, ends->node, ends->start[count]);
}

static void add_messages(struct record *record, const struct edge_splits *splits)
{
    if (splits->has_weights || splits->feature_dim)
        record->version = EDGE_SPLITS_OF_MESSAGES;
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        if (splits->has_weights)
            record_add(record, weight_name[s], ELEMENT_F32, splits->weight[s], splits->count[s]);
        if (splits->feature_dim)
            record_add(record, feature_name[s], ELEMENT_F32, splits->feature[s],
                       splits->count[s] * splits->feature_dim);
    }
    if (splits->feature_dim)
        record_add(record, feature_dim, ELEMENT_U32, &splits->feature_dim, 1);
}

enum error_code edge_splits_put(struct store *store, const char *key, const char *owner,
                                const struct edge_splits *splits, struct error *err)
{
    struct record record = {.kind = RECORD_EDGE_SPLITS, .version = EDGE_SPLITS_PLAIN};
    const uint32_t undirected = splits->undirected;
    record_add(&record, undirected_name, ELEMENT_U32, &undirected, 1);
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        record_add(&record, source_name[s], ELEMENT_U32, splits->source[s], splits->count[s]);
        record_add(&record, target_name[s], ELEMENT_U32, splits->target[s], splits->count[s]);
        if (splits->type[s])
            record_add(&record, type_name[s], ELEMENT_U16, splits->type[s], splits->count[s]);
        if (splits->is_labelled)
            record_add(&record, label_name[s], ELEMENT_F32, splits->label[s], splits->count[s]);
        if (splits->is_timed)
            record_add(&record, time_name[s],
                       splits->time[s].are_doubles ? ELEMENT_F64 : ELEMENT_I64,
                       splits->time[s].word, splits->count[s]);
        add_negatives(&record, s, &splits->negative[s], splits->count[s]);
    }
    add_messages(&record, splits);
    const struct trained_negatives *trained = &splits->trained;
    if (trained->count) {
        record_add(&record, train_source, ELEMENT_U32, trained->source, trained->count);
        record_add(&record, train_target, ELEMENT_U32, trained->target, trained->count);
        if (trained->type)
            record_add(&record, train_type, ELEMENT_U16, trained->type, trained->count);
        add_negatives(&record, HELD_OUT_COUNT, &trained->ends, trained->count);
    }
    if (splits->left_count)
        record_add(&record, left_name, ELEMENT_U32, splits->left, splits->left_count);
    if (splits->class_count)
        record_add(&record, class_name, ELEMENT_U64, splits->train_class, splits->class_count);
    return store_put(store, key, owner, &record, STORE_DURABLE, err);
}

static enum error_code check_ends(const struct record_view *view, const char *section,
                                  const uint32_t *node, uint64_t count, uint32_t node_count,
                                  struct error *err)
{
    for (uint64_t i = 0; i < count; i++)
        if (node[i] >= node_count)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected below %" PRIu32
                             ", found %" PRIu32,
                             view->key, section, i, node_count, node[i]);
    return ERROR_NONE;
}

static enum error_code read_split(const struct record_view *view, int s, uint32_t node_count,
                                  struct edge_splits *out, struct error *err)
{
    const void *source = NULL, *target = NULL, *type = NULL;
    enum error_code rc =
        record_section_get(view, source_name[s], ELEMENT_U32, -1, &source, &out->count[s], err);
    if (rc == ERROR_NONE && out->count[s] > UINT32_MAX)
        rc = error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected at most %u edges, found %" PRIu64,
                       view->key, source_name[s], UINT32_MAX, out->count[s]);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, target_name[s], ELEMENT_U32, (int64_t)out->count[s], &target,
                                NULL, err);
    if (rc == ERROR_NONE && record_has(view, type_name[s]))
        rc = record_section_get(view, type_name[s], ELEMENT_U16, (int64_t)out->count[s], &type,
                                NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->type[s] = type;
    out->source[s] = source;
    out->target[s] = target;
    rc = check_ends(view, source_name[s], source, out->count[s], node_count, err);
    return rc == ERROR_NONE
               ? check_ends(view, target_name[s], target, out->count[s], node_count, err)
               : rc;
}

/* What edges have beside their ends and types. */
static enum error_code read_columns(const struct record_view *view, int s, struct edge_splits *out,
                                    struct error *err)
{
    const int64_t count = (int64_t)out->count[s];
    const bool are_doubles = record_section_type(view, time_name[s]) == ELEMENT_F64;
    const void *label = NULL, *time = NULL;
    enum error_code rc = ERROR_NONE;
    if (out->is_labelled)
        rc = record_section_get(view, label_name[s], ELEMENT_F32, count, &label, NULL, err);
    if (rc == ERROR_NONE && out->is_timed)
        rc = record_section_get(view, time_name[s], are_doubles ? ELEMENT_F64 : ELEMENT_I64, count,
                                &time, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    out->label[s] = label;
    out->time[s] = (struct edge_times){time, are_doubles};
    for (int64_t i = 0; i < count; i++)
        if ((label && !isfinite(out->label[s][i])) ||
            (time && are_doubles && !isfinite(((const double *)time)[i])))
            return error_set(err, ERROR_CORRUPT,
                             "%s: %s edge %" PRId64
                             ": expected a finite label and time, found another",
                             view->key, held_out_name[s], i);
    return ERROR_NONE;
}

static enum error_code read_floats(const struct record_view *view, const char *section,
                                   uint64_t count, const float **out, struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, section, ELEMENT_F32, (int64_t)count, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = data;
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite((*out)[i]))
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"%s\" entry %" PRIu64 ": expected a finite number", view->key,
                             section, i);
    return ERROR_NONE;
}

static enum error_code read_messages(const struct record_view *view, struct edge_splits *out,
                                     struct error *err)
{
    const void *dim = NULL;
    enum error_code rc = ERROR_NONE;
    out->has_weights = record_has(view, weight_name[0]);
    if (record_has(view, feature_dim))
        rc = record_section_get(view, feature_dim, ELEMENT_U32, 1, &dim, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t width = dim ? *(const uint32_t *)dim : 0;
    if (dim && (width == 0 || !edge_column_may_be(EDGE_FEATURE, width)))
        return error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected 1 to %d, found %" PRIu32,
                         view->key, feature_dim, EDGE_COLUMN_WIDTH_MAX, width);
    out->feature_dim = width;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        if (out->has_weights)
            rc = read_floats(view, weight_name[s], out->count[s], &out->weight[s], err);
        if (rc == ERROR_NONE && width)
            rc = read_floats(view, feature_name[s], out->count[s] * width, &out->feature[s], err);
    }
    return rc;
}

/* Of `count` edges. */
static enum error_code read_negatives(const struct record_view *view, int which, uint64_t count,
                                      uint32_t node_count, struct negative_ends *out,
                                      struct error *err)
{
    const void *data = NULL, *node = NULL;
    *out = (struct negative_ends){0};
    if (!record_has(view, start_name[which]))
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, start_name[which], ELEMENT_U64,
                                            (int64_t)count + 1, &data, NULL, err);
    const uint64_t *start = data;
    for (uint64_t i = 0; rc == ERROR_NONE && i <= count; i++)
        if (i ? start[i] <= start[i - 1] : start[0] != 0)
            rc = error_set(err, ERROR_CORRUPT,
                           "%s: \"%s\" entry %" PRIu64 ": expected %s, found %" PRIu64, view->key,
                           start_name[which], i, i ? "more than before" : "0", start[i]);
    if (rc == ERROR_NONE && start[count] > INT64_MAX)
        rc = error_set(err, ERROR_CORRUPT, "%s: \"%s\": expected fewer ends, found %" PRIu64,
                       view->key, start_name[which], start[count]);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, negative_name[which], ELEMENT_U32, (int64_t)start[count],
                                &node, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    *out = (struct negative_ends){start, node};
    return check_ends(view, negative_name[which], node, start[count], node_count, err);
}

/* Those of training. */
static enum error_code read_trained(const struct record_view *view, uint32_t node_count,
                                    struct trained_negatives *out, struct error *err)
{
    const void *source = NULL, *target = NULL, *type = NULL;
    uint64_t count = 0;
    if (!record_has(view, train_source))
        return ERROR_NONE;
    enum error_code rc =
        record_section_get(view, train_source, ELEMENT_U32, -1, &source, &count, err);
    if (rc == ERROR_NONE)
        rc =
            record_section_get(view, train_target, ELEMENT_U32, (int64_t)count, &target, NULL, err);
    if (rc == ERROR_NONE && record_has(view, train_type))
        rc = record_section_get(view, train_type, ELEMENT_U16, (int64_t)count, &type, NULL, err);
    if (rc == ERROR_NONE)
        rc = check_ends(view, train_source, source, count, node_count, err);
    if (rc == ERROR_NONE)
        rc = check_ends(view, train_target, target, count, node_count, err);
    if (rc == ERROR_NONE && !record_has(view, start_name[HELD_OUT_COUNT]))
        rc = error_set(err, ERROR_CORRUPT, "%s: expected a section %s, found none", view->key,
                       start_name[HELD_OUT_COUNT]);
    if (rc == ERROR_NONE)
        rc = read_negatives(view, HELD_OUT_COUNT, count, node_count, &out->ends, err);
    if (rc != ERROR_NONE)
        return rc;
    out->count = count;
    out->source = source;
    out->target = target;
    out->type = type;
    return ERROR_NONE;
}

enum error_code edge_splits_decode(const struct record_view *view, uint32_t node_count,
                                   struct edge_splits *out, struct error *err)
{
    *out = (struct edge_splits){.view = *view};
    enum error_code rc = record_expect_among(view, RECORD_EDGE_SPLITS, EDGE_SPLITS_PLAIN,
                                             EDGE_SPLITS_OF_MESSAGES, err);
    const void *undirected = NULL;
    if (rc == ERROR_NONE)
        rc = record_section_get(view, undirected_name, ELEMENT_U32, 1, &undirected, NULL, err);
    if (rc == ERROR_NONE)
        out->undirected = *(const uint32_t *)undirected != 0;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = read_split(view, s, node_count, out, err);
    out->is_labelled = rc == ERROR_NONE && record_has(view, label_name[0]);
    out->is_timed = rc == ERROR_NONE && record_has(view, time_name[0]);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = read_columns(view, s, out, err);
    if (rc == ERROR_NONE)
        rc = read_messages(view, out, err);
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++)
        rc = read_negatives(view, s, out->count[s], node_count, &out->negative[s], err);
    if (rc == ERROR_NONE)
        rc = read_trained(view, node_count, &out->trained, err);
    const void *left = NULL;
    if (rc == ERROR_NONE && record_has(view, left_name))
        rc = record_section_get(view, left_name, ELEMENT_U32, -1, &left, &out->left_count, err);
    if (rc == ERROR_NONE && out->left_count)
        rc = check_ends(view, left_name, left, out->left_count, node_count, err);
    out->left = left;
    const void *classes = NULL;
    if (rc == ERROR_NONE && out->is_labelled && record_has(view, class_name))
        rc =
            record_section_get(view, class_name, ELEMENT_U64, -1, &classes, &out->class_count, err);
    out->train_class = classes;
    return rc;
}

enum error_code edge_splits_get(struct store *store, const char *key, const char *owner,
                                uint32_t node_count, struct edge_splits *out, struct error *err)
{
    struct record_view view = {0};
    *out = (struct edge_splits){0};
    enum error_code rc = store_get(store, key, owner, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = edge_splits_decode(&view, node_count, out, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&view);
    *out = (struct edge_splits){0};
    return rc;
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
