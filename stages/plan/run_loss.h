/*
 * run_loss - the loss that a run makes small, from its settings and its training nodes.
 *
 * train-step.class_weights: balanced is scikit-learn's rule over the training nodes: n / (k n_c) for a class that n_c of n have,
 * of k classes that some have; 0 for the others. Of several labels a node it is what stands beside BCEWithLogitsLoss's
 * pos_weight: rows without the label by those with it, and 1 where there is neither.
 */
#ifndef STAGES_PLAN_RUN_LOSS_H
#define STAGES_PLAN_RUN_LOSS_H

#include "common/base/error.h"
#include "common/nn/tasks/tally.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/partition_book.h"

struct run_loss { /* {0} is empty; release with run_loss_release() */
    struct loss_rule rule;
    double *class_weight; /* [class_count], owned, or NULL */
};

/* Do these settings suit what is learnt? Fails: ERROR_INVALID naming the setting, what was expected and found. */
MUST_CHECK enum error_code run_loss_check(const struct pipeline_settings *settings,
                                          const struct partition_book *book, struct error *err);
/* Reads labels and splits of the dataset for balanced weights, else nothing. Fails: as run_loss_check(); as the store does. */
MUST_CHECK enum error_code run_loss_init(struct run_loss *out, struct store *store,
                                         const struct pipeline_settings *settings,
                                         const struct partition_book *book, struct error *err);
void run_loss_release(struct run_loss *loss);

/* How predictions of the run are counted. The rule's weights are borrowed from `loss`. */
static inline struct tally_form run_loss_tally(const struct run_loss *loss,
                                               const struct partition_book *book, bool all)
{
    return (struct tally_form){.task = task_of(book->task),
                               .class_count = book->class_count,
                               .loss = loss->rule,
                               .all = all};
}

#endif
