/*
 * version_drift - measures how far a version of a dataset is from an older one that a model was
 * trained on, and whether that asks for training (ingest.retrain_* in the pipeline file).
 *
 * All figures but the last are computed from the records of the two versions, whatever updates lie
 * between; the dataset deltas say which node is which.
 *
 *   touched         the share of training nodes with a change in their neighbourhood, of as many
 *                   hops as the model has layers. A change is a node that is new or has another
 *                   feature row, or a different row of in-neighbours. The model computes the same
 *                   as before for a node that is not touched. In a dataset of many graphs: the
 *                   share of training graphs with a changed or lost node.
 *   degree_drift    the Kolmogorov-Smirnov distance of the in-degrees: the largest difference of
 *                   their two distribution functions, 0 to 1
 *   feature_drift   the largest shift of a column's mean, in standard deviations of the older
 *                   version's column
 *   valid_drop      how much worse the model does on the validation split of the newer version;
 *                   the caller that applies the model sets it
 */
#ifndef STAGES_PLAN_SETTINGS_VERSION_DRIFT_H
#define STAGES_PLAN_SETTINGS_VERSION_DRIFT_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>

struct version_drift {
    double touched, degree_drift, feature_drift;
    /* By how much the model's validation metric is worse. Not measured here; NaN: unknown. */
    double valid_drop;
};

enum { VERSION_DRIFT_WHY_SIZE = 512 };

/* Sets *is_below to whether `older` is an ancestor of `newer`, or the same dataset. Fails:
 * ERROR_CORRUPT, ERROR_IO. */
MUST_CHECK enum error_code version_is_below(struct store *store, const char *older,
                                            const char *newer, bool *is_below, struct error *err);
/* Measures `newer` against `older`, its ancestor. hop_count: layers of the model. Holds about 12
 * bytes for each node of both. Fails: ERROR_NOT_FOUND when one of them no longer exists;
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code version_drift_measure(struct store *store, const char *older,
                                                 const char *newer, int hop_count,
                                                 struct version_drift *out, struct error *err);
/* Returns whether a figure has passed its threshold. `why` has a sentence about each that has, or
 * says that none has. A threshold of 0 never asks for training. */
bool version_drift_asks(const struct version_drift *drift, const struct pipeline_settings *settings,
                        char why[VERSION_DRIFT_WHY_SIZE]);

#endif
