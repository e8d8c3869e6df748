/*
 * version_drift - how far a version of a dataset is from an older one that a model was trained on, and whether that asks for
 * training (ingest.retrain_* in the pipeline file).
 *
 * Computed, but for the last one, from the records of both versions alone, whatever updates lie between; the deltas say which node is which.
 *
 *   touched         share of the training nodes with a change in their neighbourhood of as many hops as the model has: a node that is
 *                   new or has another feature row, or a row of in-neighbours that differs. Whoever is not touched is computed as before.
 *                   Of a dataset of many graphs: of the training graphs, with such a change to a node, or a node less
 *   degree_drift    Kolmogorov-Smirnov distance of the in-degrees: the largest difference of their two distribution functions, 0 to 1
 *   feature_drift   the largest shift of a column's mean, in standard deviations of the older version's column
 *   valid_drop      how much worse the model does on the validation split of the newer version; whoever applies it says so
 */
#ifndef STAGES_PLAN_VERSION_DRIFT_H
#define STAGES_PLAN_VERSION_DRIFT_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

struct version_drift {
    double touched, degree_drift, feature_drift;
    double
        valid_drop; /* not measured here: by how much the model's validation metric is worse; NaN: it is not known */
};

enum { VERSION_DRIFT_WHY_SIZE = 512 };

/* Is `older` a version below `newer`, or the same dataset? Fails: ERROR_CORRUPT, ERROR_IO. */
MUST_CHECK enum error_code version_is_below(struct store *store, const char *older,
                                            const char *newer, bool *is_below, struct error *err);
/* Of `newer` against `older`, which is below it. hop_count: layers of the model. Holds about 12 bytes a node of both.
 * Fails: ERROR_NOT_FOUND when one of them is no more there; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_drift_measure(struct store *store, const char *older,
                                                 const char *newer, int hop_count,
                                                 struct version_drift *out, struct error *err);
/* Has a figure passed its threshold? `why` has a sentence about each that has, or says that none has. A threshold
 * of 0 asks for nothing. */
bool version_drift_asks(const struct version_drift *drift, const struct pipeline_settings *settings,
                        char why[VERSION_DRIFT_WHY_SIZE]);

#endif
