#include "stages/ingest/build/nodes/node_targets.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/dataset/node_labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const split_names[SPLIT_COUNT] = {"train", "valid", "test"};

static const char *subject_of(const struct node_targets *targets)
{
    return targets->subject ? targets->subject : "node";
}

/* Returns the name that the input gives a node, or a graph. */
static const char *name_of(const struct node_targets *targets, uint32_t node,
                           char text[NODE_ID_TEXT_SIZE])
{
    if (!targets->first_id)
        return node_ids_text(&targets->ids, node, text);
    (void)snprintf(text, NODE_ID_TEXT_SIZE, "%" PRId64, targets->first_id + node);
    return text;
}

static enum error_code check_rows(const char *where, int64_t first_line,
                                  const struct label_rows *labels, uint32_t class_count,
                                  struct error *err)
{
    const struct task *task = task_of(labels->task);
    const size_t row_bytes = task->label_width(class_count) * sizeof(uint32_t);
    const char *row = labels->row;
    for (uint64_t i = 0; i < labels->count; i++, row += row_bytes)
        if (task->label_check(row, class_count, err) != ERROR_NONE)
            return error_context(err, ERROR_INPUT, "%s:%" PRId64 ": label", where,
                                 first_line + (int64_t)i);
    return ERROR_NONE;
}

enum error_code node_targets_set_labels(struct node_targets *targets, const char *where,
                                        int64_t first_line, const struct label_rows *labels,
                                        struct error *err)
{
    const struct task *task = task_of(labels->task);
    must(!targets->label); /* labels are set once */
    if (labels->count != targets->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %u labels, one for each %s, found %" PRIu64, where,
                         targets->node_count, subject_of(targets), labels->count);
    if (labels->columns < 1)
        return error_set(err, ERROR_INPUT, "%s: expected 1 or more label columns, found 0", where);
    uint32_t class_count = task->class_count(labels->row, labels->count, labels->columns);
    if (targets->expected_classes &&
        (task->is_class_number ? class_count > targets->expected_classes
                               : class_count != targets->expected_classes))
        return error_set(err, ERROR_INPUT,
                         "%s: the labels are of %" PRIu32 " classes, expected %s%" PRIu32
                         " (ingest.class_count)",
                         where, class_count, task->is_class_number ? "at most " : "",
                         targets->expected_classes);
    if (targets->expected_classes)
        class_count = targets->expected_classes;
    if (class_count > CLASS_COUNT_MAX)
        return error_set(err, ERROR_INPUT, "%s: expected at most %d classes, found %u", where,
                         CLASS_COUNT_MAX, class_count);
    enum error_code rc = check_rows(where, first_line, labels, class_count, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t width = task->label_width(class_count);
    if (width > 0)
        rc = memory_new(&targets->label, (size_t)labels->count * width, "labels", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(targets->label, labels->row, (size_t)labels->count * width * sizeof *targets->label);
    targets->task = class_count > 0 ? labels->task : TASK_NONE;
    targets->class_count = class_count;
    targets->label_width = width;
    return ERROR_NONE;
}

enum error_code node_targets_set_none(struct node_targets *targets, enum task_kind kind,
                                      struct error *err)
{
    const struct task *task = task_of(kind);
    const uint32_t columns = task->is_class_number ? 1 : targets->expected_classes;
    const uint32_t width = task->label_width(targets->expected_classes);
    double *column = NULL;
    must(!targets->label && targets->expected_classes);
    enum error_code rc = memory_new(&column, columns, "a row of labels", err);
    for (uint32_t c = 0; rc == ERROR_NONE && c < columns; c++)
        column[c] = (double)NAN;
    if (rc == ERROR_NONE)
        rc = memory_new(&targets->label, (size_t)targets->node_count * width, "labels", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < targets->node_count; node++)
        rc = task->label_take(column, columns, targets->expected_classes,
                              targets->label + (size_t)node * width, err);
    memory_free(column);
    targets->task = kind;
    targets->class_count = targets->expected_classes;
    targets->label_width = width;
    return rc;
}

const void *node_targets_row(const struct node_targets *targets, uint32_t node)
{
    return targets->label + (size_t)node * targets->label_width;
}

bool node_targets_has_label(const struct node_targets *targets, uint32_t node)
{
    const struct task *task = task_of(targets->task);
    return task && task->has_label(node_targets_row(targets, node));
}

static enum error_code copy_text(char **out, const char *text, struct error *err)
{
    const size_t size = strlen(text) + 1;
    const enum error_code rc = memory_new(out, size, "the name of a split file", err);
    if (rc == ERROR_NONE)
        memcpy(*out, text, size);
    return rc;
}

static enum error_code mark(struct node_targets *targets, enum split split, int64_t node,
                            struct error *err)
{
    const char *subject = subject_of(targets);
    const int64_t first = targets->first_id;
    char text[NODE_ID_TEXT_SIZE];
    if (node < 0 || node >= targets->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s %" PRId64 " is out of range: expected a %s id from %" PRId64
                         " to %" PRId64 ": " ADVICE
                         "write the id of an existing %s, or correct the number of %ss",
                         subject, first + node, subject, first,
                         first + (int64_t)targets->node_count - 1, subject, subject);
    const int before = targets->split_of[node];
    if (before == 1 + (int)split)
        return error_set(err, ERROR_INPUT,
                         "%s %s is in the %s split twice: expected once, " ADVICE
                         "remove one of the lines",
                         subject, name_of(targets, (uint32_t)node, text), split_names[split]);
    if (before)
        return error_set(
            err, ERROR_INPUT,
            "%s %s of the %s split is in the %s split already: expected one of them, " ADVICE
            "remove it from the other",
            subject, name_of(targets, (uint32_t)node, text), split_names[split],
            split_names[before - 1]);
    targets->split_of[node] = (uint8_t)(1 + split);
    return ERROR_NONE;
}

/* Returns whether there is a 0 or 1 for each node, which other tools store as train_mask. */
static bool is_mask(const struct node_targets *targets, const int64_t *node, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (node[i] != 0 && node[i] != 1)
            return false;
    return count == targets->node_count && count > 2;
}

enum error_code node_targets_set_split(struct node_targets *targets, enum split split,
                                       const char *where, int64_t first_line, const int64_t *node,
                                       uint64_t count, struct error *err)
{
    struct split_list *list = &targets->split[split];
    must(!list->where); /* each split is set once */
    enum error_code rc = copy_text(&list->where, where, err);
    if (rc == ERROR_NONE && is_mask(targets, node, count))
        return error_set(
            err, ERROR_INPUT,
            "%s: found 0 or 1 for each %s (a mask), expected the ids of the %s %ss: " ADVICE
            "in Python, numpy.savetxt(\"%s.csv\", numpy.flatnonzero(mask), fmt=\"%%d\")",
            where, subject_of(targets), split_names[split], subject_of(targets),
            split_names[split]);
    if (rc == ERROR_NONE && count > targets->node_count)
        rc =
            error_set(err, ERROR_INPUT, "%s: the %s split has %" PRIu64 " %ss: expected at most %u",
                      where, split_names[split], count, subject_of(targets), targets->node_count);
    if (rc == ERROR_NONE && !targets->split_of)
        rc = memory_new(&targets->split_of, targets->node_count, "the splits of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&list->node, count, "a split", err);
    list->first_line = first_line;
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        rc = mark(targets, split, node[i] - targets->first_id, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "%s:%" PRId64, where, first_line + (int64_t)i);
        list->node[i] = (uint32_t)(node[i] - targets->first_id);
        list->count++;
    }
    return rc;
}

static enum error_code check_task(const struct node_targets *targets, enum task_kind choice,
                                  enum task_kind *task, struct error *err)
{
    const struct task *found = task_of(targets->task);
    *task = found ? targets->task : TASK_NONE;
    if (choice == TASK_UNKNOWN || choice == *task)
        return ERROR_NONE;
    return error_set(err, ERROR_INVALID, "ingest.task is %s, but the input has %s%s",
                     task_name(choice), found ? "labels of " : "no labels",
                     found ? found->name : "");
}

/* Divides `count` nodes among the splits: shares are rounded down, and the one or two remaining
 * nodes go to the splits that lost most. Training gets at least one. */
static void share_out(uint64_t count, const int percent[SPLIT_COUNT], uint64_t wanted[SPLIT_COUNT])
{
    int64_t cut[SPLIT_COUNT];
    uint64_t left = count;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        wanted[s] = count * (uint64_t)percent[s] / 100;
        cut[s] = (int64_t)(count * (uint64_t)percent[s] % 100);
        left -= wanted[s];
    }
    for (; left > 0; left--) {
        int most = SPLIT_TRAIN;
        for (int s = 0; s < SPLIT_COUNT; s++)
            most = cut[s] > cut[most] ? s : most;
        wanted[most]++;
        cut[most] = -1;
    }
    for (int s = SPLIT_COUNT - 1; wanted[SPLIT_TRAIN] == 0 && s > SPLIT_TRAIN; s--)
        if (wanted[s] > 0) {
            wanted[s]--;
            wanted[SPLIT_TRAIN]++;
        }
}

static void put_in(struct node_targets *targets, int split, uint32_t node)
{
    targets->split_of[node] = (uint8_t)(1 + split);
    targets->split[split].node[targets->split[split].count++] = node;
}

enum { ANY_CLASS = -1 };

static bool is_dealt(const struct node_targets *targets, uint32_t node, int64_t class_number)
{
    int32_t label = 0;
    if (!node_targets_has_label(targets, node))
        return false;
    memcpy(&label, node_targets_row(targets, node), sizeof label);
    return class_number == ANY_CLASS || label == class_number;
}

/* Draws the split of each labelled node (of a class) in turn. The chance of a split is its share of
 * the places left (selection sampling: Knuth, TAOCP 2, 3.4.2, algorithm S), so the counts are
 * exact. */
static void deal(struct node_targets *targets, int64_t class_number, const int percent[SPLIT_COUNT],
                 uint64_t seed)
{
    const struct random_stream stream = random_stream_of(seed, RANDOM_SPLIT, 0, 0, 0);
    uint64_t all = 0, left[SPLIT_COUNT];
    for (uint32_t node = 0; node < targets->node_count; node++)
        all += is_dealt(targets, node, class_number);
    share_out(all, percent, left);
    for (uint32_t node = 0; node < targets->node_count; node++) {
        if (!is_dealt(targets, node, class_number))
            continue;
        uint64_t place = (uint64_t)(random_unit_double(&stream, node, 0) * (double)all--);
        int split = SPLIT_TRAIN;
        while (split < SPLIT_COUNT - 1 && place >= left[split])
            place -= left[split++];
        left[split]--;
        put_in(targets, split, node);
    }
}

static enum error_code deal_classes(struct node_targets *targets, const int percent[SPLIT_COUNT],
                                    uint64_t seed, struct error *err)
{
    const struct task *task = task_of(targets->task);
    if (!task) /* no node has a label; that is reported elsewhere */
        return ERROR_NONE;
    if (!task->is_class_number)
        return error_set(err, ERROR_INVALID,
                         "ingest.split is stratified, which divides nodes by class: expected "
                         "labels of one class each; " ADVICE "write `split: random 60/20/20`");
    for (uint32_t c = 0; c < targets->class_count; c++)
        deal(targets, c, percent, seed);
    return ERROR_NONE;
}

static void deal_by_hash(struct node_targets *targets, const int percent[SPLIT_COUNT])
{
    char text[TEXT_NUMBER_SIZE + 1];
    for (uint32_t node = 0; node < targets->node_count; node++) {
        const struct node_ids *ids = &targets->ids;
        if (!node_targets_has_label(targets, node))
            continue;
        const char *id = text;
        size_t size = 0;
        if (ids->offset) {
            id = ids->text + ids->offset[node];
            size = (size_t)(ids->offset[node + 1] - ids->offset[node]);
        } else {
            size = (size_t)snprintf(text, sizeof text, "%" PRId64,
                                    ids->integer ? ids->integer[node] : (int64_t)node);
        }
        const struct checksum sum = checksum_of(id, size);
        int bucket = 0, split = SPLIT_TRAIN;
        for (size_t i = 0; i < sizeof sum.bytes; i++)
            bucket = (bucket * 256 + sum.bytes[i]) % 100;
        for (; split < SPLIT_COUNT - 1 && bucket >= percent[split]; split++)
            bucket -= percent[split];
        put_in(targets, split, node);
    }
}

struct dated {
    int64_t time;
    uint32_t node;
};

static int compare_dated(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static enum error_code deal_by_time(struct node_targets *targets, uint64_t labelled,
                                    const int percent[SPLIT_COUNT], struct error *err)
{
    struct dated *dated = NULL;
    uint64_t wanted[SPLIT_COUNT], end[SPLIT_COUNT], count = 0;
    must(targets->time); /* the settings were checked before */
    share_out(labelled, percent, wanted);
    const enum error_code rc = memory_new(&dated, labelled + 1, "times of nodes", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < targets->node_count; node++)
        if (node_targets_has_label(targets, node))
            dated[count++] = (struct dated){targets->time[node], node};
    if (rc == ERROR_NONE)
        qsort(dated, count, sizeof *dated, compare_dated);
    end[SPLIT_TRAIN] = wanted[SPLIT_TRAIN];
    end[SPLIT_VALID] = end[SPLIT_TRAIN] + wanted[SPLIT_VALID];
    end[SPLIT_TEST] = count;
    int split = SPLIT_TRAIN;
    for (uint64_t i = 0; rc == ERROR_NONE && i < count; i++) {
        const bool same = i > 0 && dated[i].time == dated[i - 1].time;
        while (!same && split < SPLIT_TEST && i >= end[split])
            split++;
        put_in(targets, split, dated[i].node);
    }
    memory_free(dated);
    return rc;
}

enum error_code node_targets_draw_splits(struct node_targets *targets,
                                         const struct split_shares *shares, uint64_t seed,
                                         struct error *err)
{
    uint64_t labelled = 0;
    for (uint32_t node = 0; node < targets->node_count; node++)
        labelled += node_targets_has_label(targets, node);
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        must(!targets->split[s].where); /* readers set no split in this case */
        rc = copy_text(&targets->split[s].where, "ingest.split", err);
        if (rc == ERROR_NONE)
            rc = memory_new(&targets->split[s].node, labelled, "a split", err);
    }
    if (rc == ERROR_NONE)
        rc = memory_new(&targets->split_of, targets->node_count, "the splits of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    if (shares->kind == SPLIT_IS_STRATIFIED)
        return deal_classes(targets, shares->percent, seed, err);
    if (shares->kind == SPLIT_IS_TIME)
        return deal_by_time(targets, labelled, shares->percent, err);
    if (shares->kind == SPLIT_IS_HASH)
        deal_by_hash(targets, shares->percent);
    else
        deal(targets, ANY_CLASS, shares->percent, seed);
    return ERROR_NONE;
}

/* Sorts the lists of the splits, by one pass over the nodes. */
static void sort_splits(struct node_targets *targets)
{
    uint32_t at[SPLIT_COUNT] = {0};
    for (uint32_t node = 0; node < targets->node_count; node++) {
        const int split = (int)targets->split_of[node] - 1;
        if (split >= 0)
            targets->split[split].node[at[split]++] = node;
    }
}

enum error_code node_targets_check(struct node_targets *targets, enum task_kind choice,
                                   enum task_kind *task, struct error *err)
{
    const enum error_code rc = check_task(targets, choice, task, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct split_list *train = &targets->split[SPLIT_TRAIN];
    char text[NODE_ID_TEXT_SIZE];
    for (uint32_t i = 0; i < train->count; i++)
        if (!node_targets_has_label(targets, train->node[i]))
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64
                             ": %s %s has no label: expected one for every training %s"
                             ": " ADVICE "give it one, or remove it from the split",
                             train->where, train->first_line + i, subject_of(targets),
                             name_of(targets, train->node[i], text), subject_of(targets));
    if (targets->split_of)
        sort_splits(targets);
    return ERROR_NONE;
}

enum error_code node_targets_put(const struct node_targets *targets, struct store *store,
                                 const char *dataset_id, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (targets->class_count > 0) {
        const struct node_labels labels = {.node_count = targets->node_count,
                                           .task = targets->task,
                                           .class_count = targets->class_count,
                                           .row = targets->label};
        rc = node_labels_put(store, dataset_id, &labels, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    struct node_splits splits = {
        0}; /* empty splits are stored, too, so that partition has no special case for them */
    for (int s = 0; s < SPLIT_COUNT; s++) {
        splits.count[s] = targets->split[s].count;
        splits.node[s] = targets->split[s].node;
    }
    return node_splits_put(store, key_dataset(dataset_id, "splits").text, dataset_id, &splits, err);
}

void node_targets_release(struct node_targets *targets)
{
    memory_free(targets->label);
    memory_free(targets->time);
    memory_free(targets->split_of);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        memory_free(targets->split[s].node);
        memory_free(targets->split[s].where);
    }
    *targets = (struct node_targets){.node_count = targets->node_count};
}
