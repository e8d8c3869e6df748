/*
 * failure_notice - the reason why a stage ended for good, left in the store for the other stages of
 * its run.
 *
 * If stages are Jobs, nothing stops the others when one of them cannot go on. So that one leaves a
 * notice, a ref of one line:
 *
 *   65 train-step@train-step/1/0 train-step/1/0: run/toy-1/weights/1: expected hash ..., found ...
 *   -- ---------- -------------- -----------------------------------------------------------------
 *   exit status; stage; unit, if the stage failed at one; sentence
 *
 * The others end at once when it appears, with its status and sentence. A notice that was there
 * before a program began may be of an earlier attempt, whose cause was repaired since. So the stage
 * that left it removes it when it begins, and the others give it FAILURE_NOTICE_STALE_MS for that.
 *
 *   current/failure/<digits>   for ingest and partition; there is no run yet, so digits are a hash
 *                              of all settings
 *   run/<id>/failure           for the stages that loop
 */
#ifndef STAGES_ENGINE_FAILURE_NOTICE_H
#define STAGES_ENGINE_FAILURE_NOTICE_H

#include "common/base/error.h"
#include "stages/plan/chain/unit.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { FAILURE_NOTICE_SIZE = 1024, FAILURE_STAGE_SIZE = 32, FAILURE_NOTICE_STALE_MS = 45000 };

struct failure_notice {  /* {0}: no notice is read or left */
    struct store *store; /* borrowed, like the stage's name */
    const char *stage;
    struct key key;
    int64_t opened_ms;
    /* The notice that was there when the program began; "": none. */
    char stale[FAILURE_NOTICE_SIZE];
};

/* Computes the key that is used before there is a run. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code failure_notice_key(const struct pipeline_settings *settings,
                                              struct key *key, struct error *err);
/* Removes what this stage left before. Fails: as store_switch_get(); a damaged notice counts as
 * none. */
MUST_CHECK enum error_code failure_notice_open(struct failure_notice *notice, struct store *store,
                                               const struct key *key, const char *stage,
                                               struct error *err);
/* Leaves a notice of a failure that every worker would meet; other failures leave none. `unit` is
 * the unit at which the stage failed, or NULL. The log says so if the notice cannot be written. */
void failure_notice_leave(const struct failure_notice *notice, enum error_code code,
                          const char *unit, const char *sentence);
/* Returns true for failures that no retry can repair: bad data, bad settings. */
bool failure_is_for_good(enum error_code code);
/* The content of a notice. */
struct failure_told {
    enum error_code code;
    char stage[FAILURE_STAGE_SIZE];
    char unit[UNIT_NAME_SIZE]; /* "": the stage failed at no unit */
    char sentence[FAILURE_NOTICE_SIZE];
};
/* Reads the notice into *out if there is one that counts. It does not change the notice. Threads:
 * any. Fails: ERROR_IO, ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code failure_notice_read(const struct failure_notice *notice, bool *found,
                                               struct failure_told *out, struct error *err);

#endif
