/*
 * task_list - the tasks, their losses and their metrics, one row each.
 */
#ifndef COMMON_NN_TASKS_TASK_LIST_H
#define COMMON_NN_TASKS_TASK_LIST_H

/* clang-format off */

/* ROW(number, name, help): `number` is the constant in this program, `name` the name in
 * ingest.task, schemas and manifests; the task is task_<name> in <name>.c. ingest.task: auto
 * selects the first row whose takes_columns() accepts the label columns of the input. */
#define TASK_LIST(ROW)                    \
    ROW(TASK_SINGLE_LABEL, single_label,                                                           \
        "one class of each node, 0, 1, 2, ..., from one label column; -1 or nothing: none")        \
    ROW(TASK_MULTI_LABEL, multi_label,                                                             \
        "several labels of each node, one column a class with 0 or 1; nothing in the whole "       \
        "row: none")                                                                               \
    ROW(TASK_NODE_REGRESSION, node_regression,                                                     \
        "one number or several of each node, from any label columns; nothing in the whole "        \
        "row: none. The columns never tell it")                                                    \
    ROW(TASK_LINK_PREDICTION, link_prediction,                                                     \
        "which pairs of nodes are edges; no labels are read")                                      \
    ROW(TASK_EDGE_CLASSIFICATION, edge_classification, "a class of each edge")                     \
    ROW(TASK_EDGE_REGRESSION, edge_regression, "a number of each edge")                            \
    ROW(TASK_GRAPH_CLASSIFICATION, graph_classification,                                           \
        "a class of each graph of a dataset of many")                                              \
    ROW(TASK_GRAPH_REGRESSION, graph_regression, "a number or several of each graph")

/* ROW(number, name, help): `name` is the name in train-step.loss. The row of a task lists the
 * losses that it has; `auto` is the first of them. */
#define LOSS_LIST(ROW)                                                                        \
    ROW(LOSS_CROSS_ENTROPY, cross_entropy,                                                         \
        "of the softmax. torch: CrossEntropyLoss(weight, label_smoothing)")                        \
    ROW(LOSS_BINARY, binary,                                                                       \
        "the cross-entropy of each label; class_weights are the weights of labels that are "       \
        "there. torch: BCEWithLogitsLoss(pos_weight)")                                             \
    ROW(LOSS_L2, l2, "the mean square. torch: MSELoss")                                            \
    ROW(LOSS_L1, l1, "the mean absolute difference. torch: L1Loss")                                \
    ROW(LOSS_HUBER, huber,                                                                         \
        "square up to train-step.huber_delta, linear beyond. torch: HuberLoss(delta)")

/* ROW(number, name, title, less_is_better, is_told): `name` is the name in checkpoint.metric and
 * JSON. `title` is the name in the result of a run, which prints the metrics with `is_told`, in
 * this order. */
#define METRIC_LIST(ROW)                                      \
    ROW(METRIC_ACCURACY, accuracy, "accuracy", false, true)   \
    ROW(METRIC_SUBSET_ACCURACY, subset_accuracy, "subset accuracy", false, true) \
    ROW(METRIC_MACRO_F1, macro_f1, "macro F1", false, true)   \
    ROW(METRIC_MICRO_F1, micro_f1, "micro F1", false, false)  \
    ROW(METRIC_ROC_AUC, roc_auc, "ROC AUC", false, true)      \
    ROW(METRIC_AVERAGE_PRECISION, average_precision, "average precision", false, true) \
    ROW(METRIC_MRR, mrr, "MRR", false, true)                  \
    ROW(METRIC_HITS_1, hits_1, "Hits@1", false, true)         \
    ROW(METRIC_HITS_3, hits_3, "Hits@3", false, true)         \
    ROW(METRIC_HITS_10, hits_10, "Hits@10", false, true)      \
    ROW(METRIC_RMSE, rmse, "RMSE", true, true)                \
    ROW(METRIC_MAE, mae, "MAE", true, true)                   \
    ROW(METRIC_R2, r2, "R2", false, true)                     \
    ROW(METRIC_LOSS, loss, "loss", true, true)

/* clang-format on */

#endif
