#include "store/records/dataset/node_labels.h"

#include "store/records/section_table.h"

#include <string.h>

enum { LABEL_BYTES = 4 };

static enum element_type element_of(const struct task *task)
{
    return task->is_class_number ? ELEMENT_I32 : ELEMENT_F32;
}

static void add_labels(struct record *record, const void *from, struct section_scratch *scratch)
{
    const struct node_labels *labels = from;
    const struct task *task = task_of(labels->task);
    (void)scratch;
    record_add_text(record, "task", task->name);
    record_add(record, "label", element_of(task), labels->row,
               (uint64_t)labels->node_count * task->label_width(labels->class_count));
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

static enum error_code read_labels(const struct record_view *view, void *of, struct error *err)
{
    struct node_labels *out = of;
    enum error_code rc = get_task(out, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct task *task = task_of(out->task);
    const int64_t count = (int64_t)out->node_count * task->label_width(out->class_count);
    rc = record_section_get(view, "label", element_of(task), count, &out->row, NULL, err);
    return rc == ERROR_NONE ? check_rows(out, err) : rc;
}

#define SECTION_STRUCT struct node_labels
static const struct section_number shape[] = {
    {"nodes", AT(node_count), 1, UINT32_MAX - 1},
    {"classes", AT(class_count), 1, INT32_MAX},
};
static const struct section_row rows[] = {
    {SECTION_NUMBERS("shape", U64, shape)},
    {SECTION_HAND(add_labels, read_labels)},
};
static const struct section_table table = SECTION_TABLE(RECORD_NODE_LABELS, 2, 2, rows);

enum error_code node_labels_put(struct store *store, const char *dataset_id,
                                const struct node_labels *labels, struct error *err)
{
    return section_table_put(store, &table, key_dataset(dataset_id, "labels").text, dataset_id,
                             labels, STORE_DURABLE, err);
}

enum error_code node_labels_decode(const struct record_view *view, struct node_labels *out,
                                   struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code node_labels_get(struct store *store, const char *dataset_id,
                                struct node_labels *out, struct error *err)
{
    return section_table_get(store, &table, key_dataset(dataset_id, "labels").text, dataset_id, out,
                             err);
}
