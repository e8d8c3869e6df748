/*
 * watch_outcome - what came of an update, in words and as JSON.
 */
#ifndef PIPELINES_WATCH_WATCH_OUTCOME_H
#define PIPELINES_WATCH_WATCH_OUTCOME_H

#include "common/base/error.h"
#include "pipelines/dataset_update.h"
#include "pipelines/retrain_trigger.h"
#include "pipelines/watch/watch_inbox.h"

struct watch_outcome { /* {0} is empty; large for a stack */
    struct dataset_version version;
    struct retrain_trigger trigger;
    bool is_trained, is_newer_kept;
    struct model_evaluation older, newer; /* on this version */
    double seconds;
};

/* Puts line, result and model into `state`, which is decided then. */
MUST_CHECK enum error_code watch_outcome_describe(const struct watch_outcome *outcome,
                                                  const char *name, struct watch_state *state,
                                                  struct error *err);
/* Owns: *line and *result, memory_free(). `why` may be the message of *err. */
MUST_CHECK enum error_code watch_outcome_refused(const char *name, const char *why, char **line,
                                                 char **result, struct error *err);

#endif
