/*
 * link_prediction - predicts which pairs of nodes are edges, from edges of the graph (positives)
 * and drawn pairs (negatives).
 *
 * Nodes have no labels, so the functions for labels say that there are none. Scores and losses are
 * in common/nn/links/. The metrics compare the scores of pairs:
 *
 *   roc_auc            how often the score of an edge is above that of a negative (ties count half)
 *   average_precision  the mean of the precision at each edge, as scikit-learn's
 *                      average_precision_score
 *   mrr, hits_1, ...   from the rank of each edge among its negatives: the mean of 1 / rank, and
 *                      the share of ranks up to k; equal scores get their mean rank
 */
#include "common/nn/tasks/metrics.h"
#include "common/nn/tasks/tally.h"

#include <stdio.h>

static bool takes_no_columns(uint32_t columns)
{
    (void)columns;
    return false;
}

static enum error_code take(const double *column, uint32_t columns, uint32_t class_limit, void *row,
                            struct error *err)
{
    (void)column;
    (void)columns;
    (void)class_limit;
    (void)row;
    return error_set(err, ERROR_INPUT, "expected no label: the task is link_prediction");
}

static uint32_t no_width(uint32_t class_count)
{
    (void)class_count;
    return 0;
}

static enum error_code check(const void *row, uint32_t class_count, struct error *err)
{
    (void)row;
    (void)class_count;
    return error_set(err, ERROR_CORRUPT, "expected no label: the task is link_prediction");
}

static bool has_no_label(const void *row)
{
    (void)row;
    return false;
}

static uint32_t no_classes(const void *row, uint64_t rows, uint32_t columns)
{
    (void)row;
    (void)rows;
    (void)columns;
    return 0;
}

static void describe(uint32_t class_count, char *text, size_t size)
{
    (void)class_count;
    (void)snprintf(text, size, "edges to learn");
}

static uint32_t one_score(uint32_t class_count)
{
    (void)class_count;
    return 1;
}

static size_t rank_counts(uint32_t class_count, bool all)
{
    (void)class_count;
    (void)all;
    return LINK_COUNT_COUNT;
}

static enum error_code share_of(const struct tally *tally, enum link_count what, double *out)
{
    *out = tally->count[what] / tally->count[LINK_COUNT_RANKED];
    return ERROR_NONE;
}

static enum error_code mrr(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    return share_of(tally, LINK_COUNT_RECIPROCAL, out);
}

static enum error_code hits_1(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    return share_of(tally, LINK_COUNT_HITS_1, out);
}

static enum error_code hits_3(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    return share_of(tally, LINK_COUNT_HITS_3, out);
}

static enum error_code hits_10(const struct tally *tally, double *out, struct error *err)
{
    (void)err;
    return share_of(tally, LINK_COUNT_HITS_10, out);
}

static const struct task_metric metrics[] = {
    {METRIC_LOSS, false, false, tally_mean_loss},
    {METRIC_ROC_AUC, false, false, tally_roc_auc},
    {METRIC_AVERAGE_PRECISION, false, false, tally_average_precision},
    {METRIC_MRR, false, false, mrr},
    {METRIC_HITS_1, false, false, hits_1},
    {METRIC_HITS_3, false, false, hits_3},
    {METRIC_HITS_10, false, false, hits_10},
};

const struct task task_link_prediction = {
    .name = "link_prediction",
    .example = EXAMPLE_PAIR,
    .takes_columns = takes_no_columns,
    .label_take = take,
    .label_width = no_width,
    .label_check = check,
    .has_label = has_no_label,
    .class_count = no_classes,
    .describe = describe,
    .count_size = rank_counts,
    .score_columns = one_score,
    .metric = metrics,
    .metric_count = sizeof metrics / sizeof *metrics,
};
