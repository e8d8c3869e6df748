/*
 * task - defines what is learnt and how its quality is measured. Each task is a row of task_list.h
 * and a file.
 *
 *   labels of the input ── label_take ──> rows of four-byte elements [nodes, label_width],
 *                                         in records and shards
 *   outputs of the model [rows, class_count], labels
 *     ├── loss ───> gradient of the outputs
 *     ├── count ──> counts that can be added (tally.h) ── measure ──> metrics
 *     └── print ──> a line of predictions.csv
 *
 * To add a task: write a file beside this one with a `const struct task task_<name>`; add its row
 * to task_list.h, and rows for the metrics that only it has; write its test; and generate
 * pipelines/guide/reference.md again. ingest.task, checkpoint.metric, the records, training,
 * validation and inference read the list. tests/tree/tables_agree_test.sh reports what was
 * forgotten, and tests/tree/tasks_test.sh checks that no other file names the task.
 */
#ifndef COMMON_NN_TASKS_TASK_H
#define COMMON_NN_TASKS_TASK_H

#include "common/base/error.h"
#include "common/nn/tasks/task_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define TASK_NUMBER(number, name, help) number,
#define LOSS_NUMBER(number, name, help) number,
#define METRIC_NUMBER(number, name, title, less_is_better, is_told) number,
enum loss { LOSS_AUTO = 0, LOSS_LIST(LOSS_NUMBER) LOSS_COUNT };
enum task_kind { TASK_UNKNOWN = 0, TASK_LIST(TASK_NUMBER) TASK_NONE, TASK_KIND_COUNT };
enum metric { METRIC_LIST(METRIC_NUMBER) METRIC_COUNT };

/* clang-format on */

/* An example is one thing to learn from.
 *   EXAMPLE_NODE   the last layer gives the outputs of a node
 *   EXAMPLE_PAIR   an edge, or a pair of nodes without an edge: a decoder (common/nn/links/)
 *                  computes a score from the rows of both ends. There are no labels, so their
 *                  fields are empty.
 *   EXAMPLE_EDGE   an edge with a label: a decoder computes the outputs from the rows of both ends
 *   EXAMPLE_GRAPH  a readout (common/nn/readout/) computes one row from the rows of a graph's nodes
 * A stage that treats them differently has one table with a row for each, as train_step.c does. */
enum task_example { EXAMPLE_NODE, EXAMPLE_PAIR, EXAMPLE_EDGE, EXAMPLE_GRAPH, EXAMPLE_COUNT };

/* Facts that follow from the kind of example. Other code asks for the fact that it needs rather
 * than for the task. */
/* clang-format off */
enum task_trait {
    TASK_LABELS_NODES = 1,     /* nodes have labels and splits */
    TASK_LABELS_EDGES = 2,     /* edges have labels, in the column ingest.edge_label */
    TASK_HAS_GRAPHS = 4,       /* graphs have labels and splits, and stay whole in a part */
    TASK_HOLDS_OUT_EDGES = 8,  /* splits are of edges; node splits and node labels are not read */
    /* pairs without an edge are drawn, and edges are ranked among them */
    TASK_RANKS = 16,
    /* nodes of every type may be seeds, not only those of the target type */
    TASK_SEEDS_ALL_TYPES = 32,
    TASK_HAS_DECODER = 64,     /* train-step.decoder names what computes the outputs */
    TASK_HAS_READOUT = 128     /* train-step.readout names what computes the outputs */
};
/* clang-format on */

struct task_example_row {
    const char *name, *plural; /* the words for one and for several in messages */
    /* bits of enum task_trait that hold for all tasks with such examples */
    unsigned traits;
};
extern const struct task_example_row task_examples[EXAMPLE_COUNT];

struct loss_result {
    double sum;             /* over the labelled rows; divide by their number for the mean */
    uint64_t label_count;   /* rows with a label */
    uint64_t correct_count; /* rows predicted correctly; the task defines what that means */
    /* the sum of the class weights of those rows, by which `sum` is divided */
    double weight_sum;
    bool is_weighted; /* whether classes have weights; if not, weight_sum is not used */
};

/* The loss that training minimises. {0} is the task's first loss, without options. */
struct loss_rule {
    enum loss kind;         /* one of the task's losses; LOSS_AUTO: the first */
    double label_smoothing; /* for single_label only */
    double huber_delta;     /* for the huber loss only */
    /* [class_count], borrowed, or NULL. With a single label each row is multiplied by the weight
     * of its class, and the mean is divided by the sum of those weights. With several labels it
     * is the weight of a label that is set. */
    const double *class_weight;
};

struct tally;

struct task_metric {
    enum metric metric;
    bool needs_scores; /* available only if columns of scores are kept */
    bool needs_all;    /* available only if the tally counts all (struct tally_form) */
    enum error_code (*measure)(const struct tally *tally, double *out, struct error *err);
};

/* A task. A row of labels has `label_width` elements of four bytes. */
struct task {
    const char *name;
    /* EXAMPLE_PAIR: the fields for losses, for counts of outputs and for lines are NULL */
    enum task_example example;
    /* a label is the number of its node's only class, an int32; otherwise labels are float32 */
    bool is_class_number;
    bool (*takes_columns)(uint32_t columns);
    /* Converts `column` [columns], NaN if a value is missing, to a row of labels. `class_limit`:
     * the number of classes if it is known from elsewhere, otherwise 0. Fails: ERROR_INPUT with
     * what was expected and found. */
    enum error_code (*label_take)(const double *column, uint32_t columns, uint32_t class_limit,
                                  void *row, struct error *err);
    uint32_t (*label_width)(uint32_t class_count);
    /* Checks a stored row. Fails: ERROR_CORRUPT with what was expected and found. */
    enum error_code (*label_check)(const void *row, uint32_t class_count, struct error *err);
    bool (*has_label)(const void *row);
    /* Returns the number of outputs that the model needs (classes, labels or numbers), from the
     * rows [rows, columns] of a dataset. */
    uint32_t (*class_count)(const void *row, uint64_t rows, uint32_t columns);
    /* Writes the end of a text like "2708 nodes with <text>". */
    void (*describe)(uint32_t class_count, char *text, size_t size);
    /* Returns whether a labelled row has that class. NULL: the task has no classes. */
    bool (*is_in_class)(const void *row, uint32_t class);
    const enum loss *losses; /* [loss_count]; LOSS_AUTO means the first */
    int loss_count;
    bool takes_class_weights, takes_label_smoothing;
    /* Reads output [rows, class_count]. Writes the gradient of the MEAN over the labelled rows,
     * of the same size, unless it is NULL. Sums run over rows in order, in double, so any number
     * of threads gives the same bits. */
    struct loss_result (*loss)(const struct loss_rule *rule, const float *output, const void *label,
                               size_t rows, uint32_t class_count, float *gradient);
    /* Adds rows to `count` [count_size], from which all metrics but the loss are computed.
     * `all`: also counts for the metrics that have needs_all. */
    size_t (*count_size)(uint32_t class_count, bool all);
    void (*count)(const float *output, const void *label, size_t rows, uint32_t class_count,
                  bool all, double *count);
    /* Return the number of columns of scores, or 0; and, for a labelled row, how strongly label
     * `column` is preferred and whether the row has it. NULL: the task has no scores. */
    uint32_t (*score_columns)(uint32_t class_count);
    void (*score)(const float *output, const void *label, uint32_t column, float *score,
                  uint8_t *truth);
    const struct task_metric *metric; /* [metric_count], in the order of metrics.json */
    int metric_count;
    /* Writes "label,prediction,probability" of a row to `out` [task_print_size()], without NUL,
     * and returns how many bytes it wrote. */
    size_t (*print)(char *out, const float *output, const void *label, uint32_t class_count);
};

#define TASK_ROW(number, name, help) extern const struct task task_##name;
TASK_LIST(TASK_ROW)
#undef TASK_ROW

/* Returns an upper bound for the bytes of a row in predictions.csv: 24 for each number, and the
 * separators. */
static inline size_t task_print_size(const struct task *task, uint32_t class_count)
{
    return 24 * (4 + (task->is_class_number ? (size_t)0 : 2 * (size_t)class_count));
}

/* Returns the task's row; NULL for TASK_UNKNOWN and TASK_NONE. */
const struct task *task_of(enum task_kind kind);
/* Returns "single_label", ...; "none" and "" if there is no row. */
const char *task_name(enum task_kind kind);
/* Returns TASK_UNKNOWN if no task has that name. */
enum task_kind task_named(const char *name, size_t size);
/* Returns the kind of example of the task; EXAMPLE_NODE if there is no task. */
enum task_example task_example_of(enum task_kind kind);
/* Returns whether the task has one of `traits`; false if there is no task. */
bool task_has(enum task_kind kind, unsigned traits);
static inline bool task_row_has(const struct task *task, unsigned traits)
{
    return (task_examples[task->example].traits & traits) != 0;
}
/* Returns whether labels are class numbers and the task has one of `traits`. */
bool task_has_classes(enum task_kind kind, unsigned traits);
/* Returns the word for one example: "node", "graph", ...; "node" if there is no task. */
const char *task_subject(enum task_kind kind);
/* Returns the first task that accepts this number of label columns. */
enum task_kind task_of_columns(uint32_t columns);
/* Converts the labels of edges [rows] to rows of the task, four bytes each. Fails: ERROR_CORRUPT
 * for a label that is not one of `class_count` classes. */
MUST_CHECK enum error_code task_take_labels(const struct task *task, const float *label,
                                            size_t rows, uint32_t class_count, void *out,
                                            struct error *err);
/* Computes the loss with row i counted weight[i] times; weight NULL is task->loss(). A row of
 * weight 0 counts as a row without a label. The sum is the sum of the weighted losses. Its
 * gradient is divided by the number of labelled rows, or by the sum of their class weights, so
 * weights with mean 1 do not change the size of a step. */
struct loss_result task_loss(const struct task *task, const struct loss_rule *rule,
                             const float *output, const void *label, const float *weight,
                             size_t rows, uint32_t class_count, float *gradient);
bool task_has_metric(const struct task *task, enum metric metric, uint32_t class_count);
/* Returns whether a tally must count all for this metric. */
bool task_metric_needs_all(const struct task *task, enum metric metric);
/* Returns the loss that `kind` means for the task; LOSS_COUNT if the task does not have it. */
enum loss task_loss_of(const struct task *task, enum loss kind);
/* Returns the number of columns of scores; 0 if there are none. */
uint32_t task_score_columns(const struct task *task, uint32_t class_count);
/* Returns "l2", ...; "auto". */
const char *loss_name(enum loss kind);
/* Returns the number of rows that the mean is over; 0 if all labelled rows have weight 0. */
uint64_t loss_rows(const struct loss_result *result);
/* Returns the mean of a result: over rows, or over the sum of their weights. NaN if loss_rows()
 * is 0, as in torch. */
double loss_mean(const struct loss_result *result);

struct metric_row {
    const char *name, *title;
    bool less_is_better, is_told;
};

extern const struct metric_row metric_table[METRIC_COUNT];

#endif
