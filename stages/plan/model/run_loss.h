/*
 * run_loss - the loss that a run minimises, from its settings and its training nodes.
 *
 * `train-step.class_weights: balanced` uses scikit-learn's rule over the training nodes: if n_c of
 * n nodes have class c, and k classes have nodes, class c weighs n / (k n_c); classes without nodes
 * weigh 0. With several labels a node, each label has the pos_weight of BCEWithLogitsLoss: rows
 * without the label divided by rows with it, and 1 if there is none of either.
 */
#ifndef STAGES_PLAN_MODEL_RUN_LOSS_H
#define STAGES_PLAN_MODEL_RUN_LOSS_H

#include "common/base/error.h"
#include "common/nn/tasks/tally.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"

struct run_loss { /* {0} is empty; release with run_loss_release() */
    struct loss_rule rule;
    double *class_weight; /* [class_count], owned, or NULL */
};

/* Checks that these settings suit the task. Fails: ERROR_INVALID naming the setting, what was
 * expected and found. */
MUST_CHECK enum error_code run_loss_check(const struct pipeline_settings *settings,
                                          const struct partition_book *book, struct error *err);
/* Reads labels and splits of the dataset for balanced weights, and nothing otherwise. Fails: as
 * run_loss_check(); as the store does. */
MUST_CHECK enum error_code run_loss_init(struct run_loss *out, struct store *store,
                                         const struct pipeline_settings *settings,
                                         const struct partition_book *book, struct error *err);
void run_loss_release(struct run_loss *loss);

/* Returns how predictions of the run are counted. The rule borrows its weights from `loss`. */
static inline struct tally_form run_loss_tally(const struct run_loss *loss,
                                               const struct partition_book *book, bool all)
{
    return (struct tally_form){.task = task_of(book->task),
                               .class_count = book->class_count,
                               .loss = loss->rule,
                               .all = all};
}

#endif
