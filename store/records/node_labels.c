#include "store/records/node_labels.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <math.h>

enum { NODE_LABELS_VERSION = 1, SHAPE_SIZE = 2 };

enum error_code node_labels_put(struct store *store, const char *dataset_id,
                                const struct node_labels *labels, struct error *err)
{
    const uint32_t class_count = labels->multi ? labels->class_count : 0;
    const uint64_t shape[SHAPE_SIZE] = {labels->node_count, class_count};
    struct record record = {.kind = RECORD_NODE_LABELS, .version = NODE_LABELS_VERSION};
    record_add(&record, "shape", ELEMENT_U64, shape, SHAPE_SIZE);
    if (labels->multi)
        record_add(&record, "multi", ELEMENT_F32, labels->multi,
                   (uint64_t)labels->node_count * class_count);
    else
        record_add(&record, "label", ELEMENT_I32, labels->label, labels->node_count);
    return store_put(store, key_dataset(dataset_id, "labels").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code check_single(const struct node_labels *labels, struct error *err)
{
    for (uint32_t i = 0; i < labels->node_count; i++)
        if (labels->label[i] < -1)
            return error_set(err, ERROR_CORRUPT,
                             "%s: \"label\" of node %u: expected -1 or more, found %" PRId32,
                             labels->view.key, i, labels->label[i]);
    return ERROR_NONE;
}

/* A row is all NaN (no labels) or all 0 and 1. */
static enum error_code check_multi(const struct node_labels *labels, struct error *err)
{
    const float *row = labels->multi;
    for (uint32_t i = 0; i < labels->node_count; i++, row += labels->class_count)
        for (uint32_t c = 0; c < labels->class_count; c++) {
            const bool fits = isnan(row[0]) ? isnan(row[c]) != 0 : row[c] == 0.0F || row[c] == 1.0F;
            if (!fits)
                return error_set(err, ERROR_CORRUPT,
                                 "%s: \"multi\" of node %u, class %u: expected 0 or 1, or nan for "
                                 "the whole row, found %g",
                                 labels->view.key, i, c, (double)row[c]);
        }
    return ERROR_NONE;
}

static enum error_code get_shape(struct node_labels *out, struct error *err)
{
    const void *data = NULL;
    uint64_t found = 0;
    const enum error_code rc =
        record_section_get(&out->view, "shape", ELEMENT_U64, SHAPE_SIZE, &data, &found, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *shape = data;
    const bool multi = record_has(&out->view, "multi");
    if (shape[0] < 1 || shape[0] >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"shape\": expected 1 to %u nodes, found %" PRIu64, out->view.key,
                         UINT32_MAX - 1, shape[0]);
    if (shape[1] > INT32_MAX || multi != (shape[1] > 0))
        return error_set(err, ERROR_CORRUPT, "%s: \"shape\": expected %s, found %" PRIu64,
                         out->view.key, multi ? "1 or more classes" : "no class count", shape[1]);
    out->node_count = (uint32_t)shape[0];
    out->class_count = (uint32_t)shape[1];
    return ERROR_NONE;
}

static enum error_code read_labels(struct node_labels *out, struct error *err)
{
    const struct record_view *view = &out->view;
    const void *data = NULL;
    uint64_t found = 0;
    enum error_code rc = record_expect(view, RECORD_NODE_LABELS, NODE_LABELS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = get_shape(out, err);
    if (rc != ERROR_NONE)
        return rc;
    if (out->class_count > 0) {
        const int64_t count = (int64_t)out->node_count * out->class_count;
        rc = record_section_get(view, "multi", ELEMENT_F32, count, &data, &found, err);
        out->multi = data;
        return rc == ERROR_NONE ? check_multi(out, err) : rc;
    }
    rc = record_section_get(view, "label", ELEMENT_I32, out->node_count, &data, &found, err);
    out->label = data;
    return rc == ERROR_NONE ? check_single(out, err) : rc;
}

enum error_code node_labels_decode(const struct record_view *view, struct node_labels *out,
                                   struct error *err)
{
    *out = (struct node_labels){.view = *view};
    return read_labels(out, err);
}

enum error_code node_labels_get(struct store *store, const char *dataset_id,
                                struct node_labels *out, struct error *err)
{
    *out = (struct node_labels){0};
    enum error_code rc =
        store_get(store, key_dataset(dataset_id, "labels").text, dataset_id, &out->view, err);
    if (rc == ERROR_NONE)
        rc = read_labels(out, err);
    if (rc != ERROR_NONE) {
        store_release_record(&out->view);
        *out = (struct node_labels){0};
    }
    return rc;
}
