#include "stages/plan/model/graph_targets.h"

#include "store/versions/merged_records.h"

#include <inttypes.h>

enum error_code graph_targets_index(struct graph_index *out, struct store *store,
                                    const struct partition_book *book, struct error *err)
{
    const enum error_code rc =
        graph_index_of_partition(store, book->id, book->node_count, out, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t largest = graph_index_largest(out);
    if (out->graph_count == book->graph_count && largest == book->graph_nodes_most)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: %" PRIu32 " graphs of up to %" PRIu32 " nodes, expected %" PRIu32
                     " of up to %" PRIu32 " as in the partition book",
                     out->view.key, out->graph_count, largest, book->graph_count,
                     book->graph_nodes_most);
}

static enum error_code check_labels(const struct node_labels *labels,
                                    const struct partition_book *book, struct error *err)
{
    if (labels->task == book->task && labels->class_count == book->class_count &&
        labels->node_count == book->graph_count)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT,
                     "%s: %" PRIu32 " labels of %s with %" PRIu32 " outputs, expected %" PRIu32
                     " of %s with %" PRIu32 " as in the partition book",
                     labels->view.key, labels->node_count, task_name(labels->task),
                     labels->class_count, book->graph_count, task_name(book->task),
                     book->class_count);
}

enum error_code graph_targets_open(struct graph_targets *targets, struct store *store,
                                   const struct partition_book *book, struct error *err)
{
    *targets = (struct graph_targets){.label_bytes = 0};
    if (book->graph_count == 0)
        return ERROR_NONE;
    enum error_code rc = graph_targets_index(&targets->index, store, book, err);
    if (rc == ERROR_NONE)
        rc = merged_labels_get(store, book->dataset_id, &targets->labels, err);
    if (rc != ERROR_NONE)
        return rc;
    targets->label_bytes = task_of(book->task)->label_width(book->class_count) * sizeof(float);
    return check_labels(&targets->labels, book, err);
}

void graph_targets_close(struct graph_targets *targets)
{
    store_release_record(&targets->index.view);
    store_release_record(&targets->labels.view);
    *targets = (struct graph_targets){.label_bytes = 0};
}
