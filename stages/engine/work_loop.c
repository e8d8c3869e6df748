#include "stages/engine/work_loop.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "stages/engine/stage_opening.h"
#include "stages/engine/work_turns.h"

/* Runs the loops, the first on this thread. A loop that gets no thread is left out: the others do
 * its work. */
static void run_loops(struct work_turns *loop, int count)
{
    for (int i = 1; i < count; i++) {
        loop[i].started = pthread_create(&loop[i].thread, NULL, work_turns_run, &loop[i]) == 0;
        if (!loop[i].started)
            log_warn("no thread for unit %d of %d side by side", i + 1, count);
    }
    (void)work_turns_run(&loop[0]);
    for (int i = 1; i < count; i++)
        if (loop[i].started)
            (void)pthread_join(loop[i].thread, NULL);
}

static enum error_code work_side_by_side(const struct work_loop_config *config,
                                         struct work_shared *shared, struct error *err)
{
    const int count = config->units_at_once > 1 ? config->units_at_once : 1;
    struct work_turns *loop = NULL;
    enum error_code rc = memory_new(&loop, (size_t)count, "the units in hand", err);
    for (int i = 0; rc == ERROR_NONE && i < count; i++)
        rc = work_turns_init(&loop[i], i, config, shared, err);
    if (rc == ERROR_NONE)
        run_loops(loop, count);
    const struct work_turns *failed = atomic_load(&shared->first_failed);
    if (failed) {
        *err = failed->err;
        rc = failed->rc;
    }
    memory_free(loop);
    return rc;
}

/* Opens the stage. Each worker of the stage would fail to open it, so a failure leaves a notice for
 * the others. */
static enum error_code open_stage(const struct work_loop_config *config, struct work_shared *shared,
                                  struct error *err)
{
    const enum error_code rc =
        stage_opening_open(config->stage, config->context, &shared->stage_state, err);
    if (rc != ERROR_NONE)
        failure_notice_leave(&shared->notice, rc, NULL, err->message);
    return rc;
}

enum error_code work_loop_run(const struct work_loop_config *config, struct error *err)
{
    struct error own = {0};
    const struct stage_context *context = config->context;
    struct work_shared shared = {0};
    err = err ? err : &own;
    enum error_code rc =
        chain_state_read(context->schedule, context->store, context->run_id, &shared.at_start, err);
    if (rc != ERROR_NONE || shared.at_start.finished)
        return rc;
    rc = store_identity(context->store, shared.store_id, err);
    const struct key key = key_run(context->run_id, "failure");
    if (rc == ERROR_NONE && config->leaves_notice)
        rc = failure_notice_open(&shared.notice, context->store, &key, config->stage->name, err);
    if (rc == ERROR_NONE)
        rc = open_stage(config, &shared, err);
    atomic_store(&shared.handed_ms, clock_ms());
    if (rc == ERROR_NONE)
        rc = work_side_by_side(config, &shared, err);
    stage_opening_close(config->stage, &shared.stage_state);
    return rc;
}
