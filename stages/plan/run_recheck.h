/*
 * run_recheck - a run that lost records nobody could name is looked through before it goes on.
 *
 * What a run promises (promised_records.h) is known from its plan and its partition's book. When one of these is
 * lost together with records of the run, verify --remove takes away what is damaged and cannot tell what waits for
 * it, and of what is simply gone it cannot know that it was there. So it leaves the switch run/<id>/recheck, and
 * whoever starts the run next, by when partition and plan are there again, finds what is missing and sets the run back
 * to before it (run_rewind.h). The switch is a wish, whatever its text: a damaged one is one, too.
 */
#ifndef STAGES_PLAN_RUN_RECHECK_H
#define STAGES_PLAN_RUN_RECHECK_H

#include "common/base/error.h"
#include "store/objects/store.h"

MUST_CHECK enum error_code run_recheck_ask(struct store *store, const char *run_id,
                                           struct error *err);
/* Does what was asked for, if it was. The plan and the book must be there. Killed in between, it is still asked for.
 * Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_recheck(struct store *store, const char *run_id, struct error *err);

#endif
