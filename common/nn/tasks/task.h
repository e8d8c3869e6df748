/*
 * task - what is learnt of the nodes, and how good it was learnt: a row of task_list.h and a file
 * for each.
 *
 *   labels of the input ── label_take ──> rows of four-byte elements [nodes, label_width], in records and shards
 *   outputs of the model [rows, class_count], labels ── loss ──> gradient of the outputs
 *                                                   └── count ──> counts that add up (tally.h) ── measure ──> metrics
 *                                                   └── print ──> a line of predictions.csv
 *
 * To add one: a file beside this one with a `const struct task task_<name>`, its row in task_list.h
 * (and a row there for what only it measures), its test,
 * and pipelines/guide/reference.md made anew.
 * ingest.task, checkpoint.metric, the records, training, validation and inference take it from
 * there; tests/tree/tables_agree_test.sh says what was forgotten, and tests/tree/tasks_test.sh that
 * no other file names it.
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
 *   EXAMPLE_PAIR   an edge, or a pair of nodes that is none: a decoder (common/nn/links/) makes a score
 *                  from the rows of both ends. There are no labels, and the fields of labels say so
 *   EXAMPLE_EDGE   an edge with a label: a decoder makes the outputs from the rows of both ends
 *   EXAMPLE_GRAPH  a readout (common/nn/readout/) makes one row from the rows of a graph's nodes
 * A stage that does otherwise for each of them has one table with a row for each, as
 * train_step.c. */
enum task_example { EXAMPLE_NODE, EXAMPLE_PAIR, EXAMPLE_EDGE, EXAMPLE_GRAPH, EXAMPLE_COUNT };

/* Facts that follow from the examples. Other code asks for the fact that it needs, and not for the
 * task. */
/* clang-format off */
enum task_trait {
    TASK_LABELS_NODES = 1,     /* nodes have labels and splits */
    TASK_LABELS_EDGES = 2,     /* edges have labels, in the column ingest.edge_label */
    TASK_HAS_GRAPHS = 4,       /* graphs have labels and splits, and stay whole in a part */
    TASK_HOLDS_OUT_EDGES = 8,  /* splits are of edges; those of nodes and their labels are not read */
    TASK_RANKS = 16,           /* pairs that are no edges are drawn, and edges are ranked among them */
    TASK_SEEDS_ALL_TYPES = 32, /* nodes of every type may be seeds, not those of the target type alone */
    TASK_HAS_DECODER = 64,     /* train-step.decoder makes the outputs */
    TASK_HAS_READOUT = 128     /* train-step.readout makes the outputs */
};
/* clang-format on */

struct task_example_row {
    const char *name, *plural; /* messages call one of them, and several, so */
    unsigned traits;           /* enum task_trait, of the tasks that learn from them */
};
extern const struct task_example_row task_examples[EXAMPLE_COUNT];

struct loss_result {
    double sum;             /* over the labelled rows; divide by their number for the mean */
    uint64_t label_count;   /* rows with a label */
    uint64_t correct_count; /* rows predicted correctly; the task says what that is */
    double weight_sum;      /* of the class weights of those rows, by which `sum` is divided */
    bool is_weighted;       /* whether classes have weights, so that the above counts */
};

/* What is made small. {0} is the task's first loss, and nothing beside it. */
struct loss_rule {
    enum loss kind;         /* one of the task's; LOSS_AUTO: the first */
    double label_smoothing; /* single_label */
    double huber_delta;     /* huber */
    /* [class_count], borrowed, or NULL. Single label: a row counts as much as its class weighs, and the mean is divided by
     * the sum of those. Several labels: how much a label that is there counts. */
    const double *class_weight;
};

struct tally;

struct task_metric {
    enum metric metric;
    bool needs_scores; /* is only there with columns of scores */
    bool needs_all;    /* is only there where a tally counts all (struct tally_form) */
    enum error_code (*measure)(const struct tally *tally, double *out, struct error *err);
};

/* A row of labels is `label_width` elements of four bytes. */
struct task {
    const char *name;
    enum task_example example; /* EXAMPLE_PAIR: losses, counts of outputs and lines are NULL */
    bool
        is_class_number; /* a label is the number of its node's only class, an int32; else labels are float32 */
    bool (*takes_columns)(uint32_t columns);
    /* `column` [columns], NaN where nothing stands, as a row of labels. `class_limit`: classes known from elsewhere, 0: not.
     * Fails: ERROR_INPUT with what was expected and found. */
    enum error_code (*label_take)(const double *column, uint32_t columns, uint32_t class_limit,
                                  void *row, struct error *err);
    uint32_t (*label_width)(uint32_t class_count);
    /* Of stored rows. Fails: ERROR_CORRUPT with what was expected and found. */
    enum error_code (*label_check)(const void *row, uint32_t class_count, struct error *err);
    bool (*has_label)(const void *row);
    /* What the model has an output for, from the rows [rows, columns] of a dataset: classes, labels, numbers. */
    uint32_t (*class_count)(const void *row, uint64_t rows, uint32_t columns);
    /* "2708 nodes with <this>". */
    void (*describe)(uint32_t class_count, char *text, size_t size);
    /* Does a labelled row have that class? NULL: the task has no classes. */
    bool (*is_in_class)(const void *row, uint32_t class);
    const enum loss *losses; /* [loss_count], the first is that of LOSS_AUTO */
    int loss_count;
    bool takes_class_weights, takes_label_smoothing;
    /* output [rows, class_count]; gradient, as large, of the MEAN over the labelled rows, or NULL. Sums run over rows in
     * order, in double: the same for any number of threads. */
    struct loss_result (*loss)(const struct loss_rule *rule, const float *output, const void *label,
                               size_t rows, uint32_t class_count, float *gradient);
    /* Adds rows to `count` [count_size], what metrics are made of beside the loss. `all`: also what only metrics that need
     * all are made of. */
    size_t (*count_size)(uint32_t class_count, bool all);
    void (*count)(const float *output, const void *label, size_t rows, uint32_t class_count,
                  bool all, double *count);
    /* How many columns of scores there are, 0: none; and of a labelled row how much label `column` is preferred, and
     * whether it is there. NULL: no such thing. */
    uint32_t (*score_columns)(uint32_t class_count);
    void (*score)(const float *output, const void *label, uint32_t column, float *score,
                  uint8_t *truth);
    const struct task_metric *metric; /* [metric_count], in the order of metrics.json */
    int metric_count;
    /* "label,prediction,probability" of a row into `out` [task_print_size()], without NUL; returns how many bytes. */
    size_t (*print)(char *out, const float *output, const void *label, uint32_t class_count);
};

#define TASK_ROW(number, name, help) extern const struct task task_##name;
TASK_LIST(TASK_ROW)
#undef TASK_ROW

/* Bytes of a row in predictions.csv at most: numbers of 24, and what stands between them. */
static inline size_t task_print_size(const struct task *task, uint32_t class_count)
{
    return 24 * (4 + (task->is_class_number ? (size_t)0 : 2 * (size_t)class_count));
}

/* The row; NULL for TASK_UNKNOWN and TASK_NONE. */
const struct task *task_of(enum task_kind kind);
/* "single_label", ...; "none" and "". */
const char *task_name(enum task_kind kind);
/* TASK_UNKNOWN when there is no such name. */
enum task_kind task_named(const char *name, size_t size);
/* The examples of the task; EXAMPLE_NODE where there is no task. */
enum task_example task_example_of(enum task_kind kind);
/* Whether the task has one of `traits`; false where there is no task. */
bool task_has(enum task_kind kind, unsigned traits);
static inline bool task_row_has(const struct task *task, unsigned traits)
{
    return (task_examples[task->example].traits & traits) != 0;
}
/* Whether labels are numbers of classes, and the task has one of `traits`. */
bool task_has_classes(enum task_kind kind, unsigned traits);
/* What one of its examples is called: "node", "graph", ...; "node" where there is no task. */
const char *task_subject(enum task_kind kind);
/* The first row that takes so many columns of labels. */
enum task_kind task_of_columns(uint32_t columns);
/* Labels as edges carry them, [rows], as rows of the task, which are four bytes each. Fails: ERROR_CORRUPT for one that is none
 * of `class_count` classes. */
MUST_CHECK enum error_code task_take_labels(const struct task *task, const float *label,
                                            size_t rows, uint32_t class_count, void *out,
                                            struct error *err);
/* The loss, in which row i counts weight[i] times; NULL: once, as task->loss(). A row of weight 0
 * counts as one without a label. The sum is of weighted losses, and the gradient
 * of that sum by the number of labelled rows, or what their classes weigh: weights of mean 1 leave the size of a step as it
 * is. */
struct loss_result task_loss(const struct task *task, const struct loss_rule *rule,
                             const float *output, const void *label, const float *weight,
                             size_t rows, uint32_t class_count, float *gradient);
bool task_has_metric(const struct task *task, enum metric metric, uint32_t class_count);
/* Must a tally count all for it? */
bool task_metric_needs_all(const struct task *task, enum metric metric);
/* The loss that a rule's kind is; LOSS_COUNT when it is none of the task's. */
enum loss task_loss_of(const struct task *task, enum loss kind);
/* Columns of scores; 0 where there are none. */
uint32_t task_score_columns(const struct task *task, uint32_t class_count);
/* "l2", ...; "auto". */
const char *loss_name(enum loss kind);
/* How many rows the mean is over: 0 where no labelled row weighs anything. */
uint64_t loss_rows(const struct loss_result *result);
/* The mean that a result has: over rows, or over what they weigh. NaN where loss_rows() is 0, as in torch. */
double loss_mean(const struct loss_result *result);

struct metric_row {
    const char *name, *title;
    bool less_is_better, is_told;
};

extern const struct metric_row metric_table[METRIC_COUNT];

#endif
