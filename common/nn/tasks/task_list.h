/*
 * task_list - what can be learnt, and what is measured of it: one row each.
 */
#ifndef COMMON_NN_TASKS_TASK_LIST_H
#define COMMON_NN_TASKS_TASK_LIST_H

/* clang-format off */

/* ROW(number, name): the number in this program, the name in ingest.task, schemas and books; task_<name> in <name>.c. With
 * ingest.task: auto the first row is taken whose takes_columns() says yes to the label columns of the input. */
#define TASK_LIST(ROW)                    \
    ROW(TASK_SINGLE_LABEL, single_label)  \
    ROW(TASK_MULTI_LABEL, multi_label)    \
    ROW(TASK_NODE_REGRESSION, node_regression)

/* ROW(number, name, title, less_is_better, is_told): `name` in checkpoint.metric and JSON; `title` for people, in the
 * result of a run when `is_told`, in this order. */
#define METRIC_LIST(ROW)                                      \
    ROW(METRIC_ACCURACY, accuracy, "accuracy", false, true)   \
    ROW(METRIC_MACRO_F1, macro_f1, "macro F1", false, true)   \
    ROW(METRIC_MICRO_F1, micro_f1, "micro F1", false, false)  \
    ROW(METRIC_ROC_AUC, roc_auc, "ROC AUC", false, true)      \
    ROW(METRIC_RMSE, rmse, "RMSE", true, true)                \
    ROW(METRIC_MAE, mae, "MAE", true, true)                   \
    ROW(METRIC_LOSS, loss, "loss", true, true)

/* clang-format on */

#endif
