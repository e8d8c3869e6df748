#include "store/records/node_labels.h"

#include "store/objects/keys.h"

#include <inttypes.h>
#include <string.h>

enum { NODE_LABELS_VERSION = 2, SHAPE_SIZE = 2, LABEL_BYTES = 4 };

static enum element_type element_of(const struct task *task)
{
    return task->is_class_number ? ELEMENT_I32 : ELEMENT_F32;
}

enum error_code node_labels_put(struct store *store, const char *dataset_id,
                                const struct node_labels *labels, struct error *err)
{
    const struct task *task = task_of(labels->task);
    const uint64_t shape[SHAPE_SIZE] = {labels->node_count, labels->class_count};
    struct record record = {.kind = RECORD_NODE_LABELS, .version = NODE_LABELS_VERSION};
    record_add(&record, "shape", ELEMENT_U64, shape, SHAPE_SIZE);
    record_add_text(&record, "task", task->name);
    record_add(&record, "label", element_of(task), labels->row,
               (uint64_t)labels->node_count * task->label_width(labels->class_count));
    return store_put(store, key_dataset(dataset_id, "labels").text, dataset_id, &record,
                     STORE_DURABLE, err);
}

static enum error_code get_task(struct node_labels *out, struct error *err)
{
    char name[64];
    const enum error_code rc = record_text_get(&out->view, "task", name, sizeof name, err);
    if (rc != ERROR_NONE)
        return rc;
    out->task = task_named(name, strlen(name));
    if (!task_has(out->task, TASK_LABELS_NODES | TASK_HAS_GRAPHS))
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"task\": expected one that this program has, found %s",
                         out->view.key, name);
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
    if (shape[0] < 1 || shape[0] >= UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"shape\": expected 1 to %u nodes, found %" PRIu64, out->view.key,
                         UINT32_MAX - 1, shape[0]);
    if (shape[1] < 1 || shape[1] > INT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "%s: \"shape\": expected 1 or more classes, found %" PRIu64, out->view.key,
                         shape[1]);
    out->node_count = (uint32_t)shape[0];
    out->class_count = (uint32_t)shape[1];
    return ERROR_NONE;
}

static enum error_code check_rows(const struct node_labels *labels, struct error *err)
{
    const struct task *task = task_of(labels->task);
    const size_t row_bytes = (size_t)task->label_width(labels->class_count) * LABEL_BYTES;
    const char *row = labels->row;
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; i < labels->node_count && rc == ERROR_NONE; i++, row += row_bytes) {
        rc = task->label_check(row, labels->class_count, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "%s: \"label\" of node %u", labels->view.key, i);
    }
    return rc;
}

static enum error_code read_labels(struct node_labels *out, struct error *err)
{
    uint64_t found = 0;
    enum error_code rc = record_expect(&out->view, RECORD_NODE_LABELS, NODE_LABELS_VERSION, err);
    if (rc == ERROR_NONE)
        rc = get_task(out, err);
    if (rc == ERROR_NONE)
        rc = get_shape(out, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct task *task = task_of(out->task);
    const int64_t count = (int64_t)out->node_count * task->label_width(out->class_count);
    rc = record_section_get(&out->view, "label", element_of(task), count, &out->row, &found, err);
    return rc == ERROR_NONE ? check_rows(out, err) : rc;
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
