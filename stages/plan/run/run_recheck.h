/*
 * run_recheck - checks a whole run, before it goes on, after it lost records that nobody could
 * name.
 *
 * The plan of a run and the book of its partition say which records the run promises
 * (promised_records.h). When the plan or the book is lost together with records of the run, `verify
 * --remove` removes the damaged records, but it cannot tell which units wait for them, and it
 * cannot know that a missing record ever existed. So it leaves the ref run/<id>/recheck. Whoever
 * starts the run next, when plan and partition are there again, finds the missing records and sets
 * the run back to before them (run_rewind.h). Only the presence of the ref counts, not its text, so
 * a damaged ref works, too.
 */
#ifndef STAGES_PLAN_RUN_RUN_RECHECK_H
#define STAGES_PLAN_RUN_RUN_RECHECK_H

#include "common/base/error.h"
#include "store/objects/store.h"

MUST_CHECK enum error_code run_recheck_ask(struct store *store, const char *run_id,
                                           struct error *err);
/* Does the check if the ref asks for it, and then removes the ref. The plan and the book must be
 * there. After a kill in between, the ref is still there, so the next start checks again. Fails:
 * ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_recheck(struct store *store, const char *run_id, struct error *err);

#endif
