#include "stages/plan/model/run_loss.h"

#include "common/base/memory.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"
#include "store/versions/merged_links.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum error_code check_kind(const struct task *task, enum loss kind, struct error *err)
{
    char names[128] = "";
    if (task_loss_of(task, kind) != LOSS_COUNT)
        return ERROR_NONE;
    if (task->loss_count == 0 && kind == LOSS_AUTO)
        return ERROR_NONE;
    if (task->loss_count == 0)
        return error_set(
            err, ERROR_INVALID,
            "train-step.loss is %s, which is for nodes: the loss of %s is train-step.link_loss",
            loss_name(kind), task->name);
    for (int i = 0; i < task->loss_count; i++)
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), ", %s",
                       loss_name(task->losses[i]));
    return error_set(err, ERROR_INVALID,
                     "train-step.loss is %s, which %s does not have: expected one of auto%s",
                     loss_name(kind), task->name, names);
}

static enum error_code check_weights(const struct task *task, const struct choice_or_numbers *given,
                                     uint32_t class_count, struct error *err)
{
    double sum = 0;
    if (given->count == 0 && given->choice == CLASS_WEIGHTS_NONE)
        return ERROR_NONE;
    if (!task->takes_class_weights)
        return error_set(err, ERROR_INVALID,
                         "train-step.class_weights are given, but %s has no classes: expected none",
                         task->name);
    if (given->count == 0)
        return ERROR_NONE;
    if ((uint32_t)given->count != class_count)
        return error_set(err, ERROR_INVALID,
                         "train-step.class_weights has %" PRId64
                         " numbers, expected one for each of %" PRIu32 " classes",
                         given->count, class_count);
    for (int64_t i = 0; i < given->count; i++)
        sum += given->value[i];
    return sum > 0 ? ERROR_NONE
                   : error_set(err, ERROR_INVALID,
                               "train-step.class_weights are all 0: there is nothing to learn");
}

enum error_code run_loss_check(const struct pipeline_settings *settings,
                               const struct partition_book *book, struct error *err)
{
    const struct task *task = task_of(book->task);
    if (!task) /* no labels: run_model_init() refuses that with a message */
        return ERROR_NONE;
    enum error_code rc = check_kind(task, settings->train_step.loss, err);
    if (rc == ERROR_NONE)
        rc = check_weights(task, &settings->train_step.class_weights, book->class_count, err);
    if (rc == ERROR_NONE && settings->train_step.label_smoothing > 0 &&
        !task->takes_label_smoothing)
        rc = error_set(err, ERROR_INVALID,
                       "train-step.label_smoothing is %g, expected 0: %s has nothing to smooth",
                       settings->train_step.label_smoothing, task->name);
    return rc;
}

/* --- balanced --- */

/* Counts the classes of training edges. */
static enum error_code count_edge_classes(struct store *store, const struct partition_book *book,
                                          double *count, double *labelled, struct error *err)
{
    struct edge_splits splits = {0};
    enum error_code rc = merged_part_links_get(store, book, &splits, err);
    if (rc == ERROR_NONE && splits.class_count != book->class_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "%s: expected counts of %" PRIu32 " classes, found %" PRIu64,
                       splits.view.key, book->class_count, splits.class_count);
    for (uint64_t c = 0; rc == ERROR_NONE && c < splits.class_count; c++) {
        count[c] = (double)splits.train_class[c];
        *labelled += count[c];
    }
    store_release_record(&splits.view);
    return rc;
}

/* Counts the training nodes of each class, and those that have a label. */
static enum error_code count_classes(struct store *store, const struct partition_book *book,
                                     double *count, double *labelled, struct error *err)
{
    const struct task *task = task_of(book->task);
    const size_t row_bytes = task->label_width(book->class_count) * sizeof(float);
    struct node_labels labels = {0};
    struct node_splits splits = {0};
    if (task_row_has(task, TASK_LABELS_EDGES))
        return count_edge_classes(store, book, count, labelled, err);
    enum error_code rc = merged_labels_get(store, book->dataset_id, &labels, err);
    if (rc == ERROR_NONE &&
        (labels.task != book->task || labels.class_count != book->class_count ||
         labels.node_count != (book->graph_count ? book->graph_count : book->node_count)))
        rc = error_set(err, ERROR_CORRUPT, "labels of %s: they are not those of partition %s",
                       book->dataset_id, book->id);
    if (rc == ERROR_NONE)
        rc = merged_splits_get(store, book->dataset_id, &splits, err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < splits.count[SPLIT_TRAIN]; i++) {
        const uint32_t node = splits.node[SPLIT_TRAIN][i];
        if (node >= labels.node_count) {
            rc = error_set(err, ERROR_CORRUPT, "splits of %s: there is no node %" PRIu32,
                           book->dataset_id, node);
            break;
        }
        const char *row = (const char *)labels.row + (size_t)node * row_bytes;
        if (!task->has_label(row))
            continue;
        *labelled += 1;
        for (uint32_t c = 0; c < book->class_count; c++)
            count[c] += task->is_in_class(row, c);
    }
    store_release_record(&splits.view);
    store_release_record(&labels.view);
    return rc;
}

/* Turns the counts of the classes into their weights. */
static void balance(const struct task *task, uint32_t class_count, double labelled, double *weight)
{
    double present = 0;
    for (uint32_t c = 0; c < class_count; c++)
        present += weight[c] > 0;
    for (uint32_t c = 0; c < class_count; c++) {
        const double with = weight[c], without = labelled - with;
        if (task->is_class_number)
            weight[c] = with > 0 ? labelled / (present * with) : 0;
        else
            weight[c] = with > 0 && without > 0 ? without / with : 1;
    }
}

static enum error_code fill_weights(struct run_loss *loss, struct store *store,
                                    const struct choice_or_numbers *given,
                                    const struct partition_book *book, struct error *err)
{
    double labelled = 0;
    enum error_code rc = memory_new(&loss->class_weight, book->class_count, "class weights", err);
    if (rc != ERROR_NONE)
        return rc;
    loss->rule.class_weight = loss->class_weight;
    if (given->count) {
        memcpy(loss->class_weight, given->value, (size_t)given->count * sizeof *given->value);
        return ERROR_NONE;
    }
    rc = count_classes(store, book, loss->class_weight, &labelled, err);
    if (rc == ERROR_NONE)
        balance(task_of(book->task), book->class_count, labelled, loss->class_weight);
    return rc;
}

enum error_code run_loss_init(struct run_loss *out, struct store *store,
                              const struct pipeline_settings *settings,
                              const struct partition_book *book, struct error *err)
{
    const struct choice_or_numbers *given = &settings->train_step.class_weights;
    *out = (struct run_loss){.rule = {.kind = settings->train_step.loss,
                                      .label_smoothing = settings->train_step.label_smoothing,
                                      .huber_delta = settings->train_step.huber_delta}};
    enum error_code rc = run_loss_check(settings, book, err);
    if (rc == ERROR_NONE && (given->count || given->choice != CLASS_WEIGHTS_NONE))
        rc = fill_weights(out, store, given, book, err);
    if (rc != ERROR_NONE)
        run_loss_release(out);
    return rc;
}

void run_loss_release(struct run_loss *loss)
{
    memory_free(loss->class_weight);
    *loss = (struct run_loss){0};
}
