/*
 * watch_outcome - the result of an update, as a line for people and as JSON.
 */
#ifndef PIPELINES_WATCH_WATCH_OUTCOME_H
#define PIPELINES_WATCH_WATCH_OUTCOME_H

#include "common/base/error.h"
#include "pipelines/watch/dataset_update.h"
#include "pipelines/watch/retrain_trigger.h"
#include "pipelines/watch/watch_inbox.h"

struct watch_outcome { /* {0} is empty; too large for a stack */
    struct dataset_version version;
    struct retrain_trigger trigger;
    bool is_trained, is_newer_kept;
    struct model_evaluation older, newer; /* both on this version */
    double seconds;
};

/* Sets line, result and model of `state`, and marks it as decided. */
MUST_CHECK enum error_code watch_outcome_describe(const struct watch_outcome *outcome,
                                                  const char *name, struct watch_state *state,
                                                  struct error *err);
/* Makes line and result of a refused update. Owns: *line and *result, memory_free(). `why` may be
 * the message of *err. */
MUST_CHECK enum error_code watch_outcome_refused(const char *name, const char *why, char **line,
                                                 char **result, struct error *err);

#endif
