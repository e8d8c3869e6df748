#include "pipelines/run/local_run.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "pipelines/report/report_page.h"
#include "pipelines/run/outputs_check.h"
#include "pipelines/run/queue_fill.h"
#include "pipelines/run/run_summary.h"
#include "pipelines/shared/redis_note.h"
#include "pipelines/shared/run_state.h"
#include "pipelines/shared/wait_for_room.h"

#include <stdio.h>

static enum error_code connect_queue(struct local_run *run, struct error *err)
{
    const char *url = run->redis ? redis_server_url(run->redis) : run->options.redis;
    work_queue_close(run->queue);
    run->queue = NULL;
    enum error_code rc = queue_open_own(&run->folder, url, run->options.redis_password_file,
                                        "graphmill-run", &run->queue, err);
    /* A shared Redis may hold the queue of a run that was killed, in any state. */
    return rc == ERROR_NONE ? queue_fill(&run->folder, run->queue, err) : rc;
}

/* Opens the queue. The private Redis may be killed before its first use: then it is started again
 * and filled again. */
static enum error_code open_queue(struct local_run *run, struct error *err)
{
    enum { ATTEMPTS = 20, RETRY_MS = 50 };
    char path[FILE_PATH_SIZE];
    bool restarted = false, told = false;
    enum error_code rc = ERROR_NONE;
    if (!run->options.redis) {
        rc = file_path(path, err, "%s/redis", run->folder.path);
        if (rc == ERROR_NONE)
            do
                rc = redis_server_open(path, &run->redis, err);
            while (wait_for_room(rc, err, &told));
    }
    if (rc == ERROR_NONE)
        rc = connect_queue(run, err);
    for (int i = 0; rc == ERROR_UNAVAILABLE && run->redis && i < ATTEMPTS; i++) {
        clock_sleep_ms(RETRY_MS);
        if (stop_signal_seen())
            return rc;
        rc = redis_server_check(run->redis, &restarted, err);
        if (rc == ERROR_NONE)
            rc = connect_queue(run, err);
    }
    return rc;
}

enum { PAUSE_MS_MIN = 10, PAUSE_MS_MAX = 100, LOOKS = 200 };

/* Returns the pause between two looks: a small part of the time that the run has taken so far. A
 * look costs a tenth of a millisecond of a processor that the workers need. */
static int64_t pause_ms(int64_t running_ms)
{
    const int64_t pause = running_ms / LOOKS;
    if (pause < PAUSE_MS_MIN)
        return PAUSE_MS_MIN;
    return pause < PAUSE_MS_MAX ? pause : PAUSE_MS_MAX;
}

static enum error_code read_state(struct local_run *run, struct error *err)
{
    const struct run_binding *bound = &run->folder.run;
    return chain_state_read(&bound->schedule, run->folder.store, bound->plan.id, &run->state, err);
}

/* Finds out whether the run is finished. Complete outputs are not enough: after damage was removed,
 * the run may still be making records again that its training depends on. So the cheap refresh is
 * confirmed by reading the state from storage alone. */
static enum error_code look_at_end(struct local_run *run, bool *finished, struct error *err)
{
    const struct run_binding *bound = &run->folder.run;
    enum error_code rc =
        chain_state_refresh(&bound->schedule, run->folder.store, bound->plan.id, &run->state, err);
    if (rc == ERROR_NONE && run->state.finished)
        rc = read_state(run, err);
    *finished = run->state.finished;
    return rc;
}

/* Replaces workers that hang, every few seconds. It looks more often while --workers auto decides
 * and a worker has not started yet. */
static void heed_beats(struct local_run *run)
{
    enum { PERIOD_MS = 3000, WAITING_PERIOD_MS = 200 };
    const bool waits = run->options.workers == 0 && !stage_crew_is_settled(&run->crew);
    int count = 0;
    if (clock_ms() - run->beats_ms < (waits ? WAITING_PERIOD_MS : PERIOD_MS))
        return;
    run->beats_ms = clock_ms();
    if (work_queue_beats(run->queue, run->beat, BEAT_COUNT_MAX, &count, NULL) == ERROR_NONE)
        stage_crew_heed_beats(&run->crew, run->beat, count);
}

/* Watches until the run is finished: then no worker has anything left to do. */
static enum error_code watch(struct local_run *run, struct error *err)
{
    const int64_t started_ms = clock_ms();
    struct queue_guard guard = {.folder = &run->folder, .queue = run->queue};
    enum error_code rc = ERROR_NONE;
    for (bool finished = false; rc == ERROR_NONE && !finished;) {
        bool restarted = false;
        clock_sleep_ms(pause_ms(clock_ms() - started_ms));
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE,
                             "stopped; the same command goes on from the last finished round");
        if (run->redis)
            rc = redis_server_check(run->redis, &restarted, err);
        if (restarted)
            log_warn("Redis died or did not answer and was started again; the queue is filled anew "
                     "from storage");
        if (rc == ERROR_NONE)
            rc = stage_crew_check(&run->crew, &finished, err);
        if (rc == ERROR_NONE && !finished)
            rc = look_at_end(run, &finished, err);
        queue_guard_turn(&guard);
        heed_beats(run);
        if (rc == ERROR_NONE && !finished)
            rc = crew_scaling_turn(&run->scaling, &run->crew, err);
        if (rc == ERROR_NONE && !finished && run->options.workers == 0 && !run->scaling.is_by_hand)
            rc = crew_growth_turn(&run->growth, &run->crew, run->queue, err);
        run_progress_draw(&run->progress, &run->folder, run->queue);
    }
    return rc;
}

/* Sets the links before the work. They only help people then, so a full disk that refuses a link
 * does not end the run. */
static void link_at_start(struct local_run *run)
{
    struct error err = {0};
    if (run_folder_link(&run->folder, &run->state, &err) != ERROR_NONE)
        log_warn("%s", err.message);
}

/* Sets the links at the end. They are part of the result then, so a failure fails the run. */
static enum error_code link_at_end(struct local_run *run, struct error *err)
{
    bool told = false;
    enum error_code rc = ERROR_NONE;
    do
        rc = run_folder_link(&run->folder, &run->state, err);
    while (wait_for_room(rc, err, &told));
    return rc;
}

/* Writes the report page. A failure does not fail the run. */
static void report_at_end(const struct local_run *run, bool was_finished)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    bool found = false;
    enum error_code rc = file_path(path, &err, "%s/report.html", run->folder.path);
    if (rc == ERROR_NONE && was_finished)
        rc = file_is_there(path, &found, &err);
    if (rc == ERROR_NONE && !found)
        rc = report_page_make(run->folder.path, run->folder.run.plan.id, &err);
    if (rc != ERROR_NONE)
        log_warn("no report: %s", err.message);
}

/* Returns the number of completed units; while Redis does not answer, the last known one. */
static int64_t units_done(void *context)
{
    struct local_run *run = context;
    int64_t sum = 0;
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        struct stage_counts counts = {0};
        if (work_queue_counts(run->queue, stage_loop[i].name, &counts, NULL) != ERROR_NONE)
            return run->units_done;
        sum += counts.done;
    }
    run->units_done = sum;
    return sum;
}

static enum error_code train(struct local_run *run, struct error *err)
{
    const double before = clock_seconds();
    run_state_write(run->folder.path, "training");
    enum error_code rc = open_queue(run, err);
    if (rc != ERROR_NONE)
        return rc;
    redis_note_write(run->folder.path, run->options.redis, run->options.redis_password_file);
    const struct crew_config config = {
        .folder = &run->folder,
        .redis_url = run->redis ? redis_server_url(run->redis) : run->options.redis,
        .redis_password_file = run->options.redis_password_file,
        .workers = run->options.workers_most,
        .workers_at_start = run->options.workers ? (int)run->options.workers : 1,
        .threads = (int)run->options.threads,
        .shares = &run->options.shares,
        .lease_ms = run->options.lease,
        .debug = run->options.debug,
        .only_stage = run->only_stage,
        .units_done = units_done,
        .context = run,
    };
    if (run->options.workers == 0)
        crew_growth_begin(&run->growth, &run->folder, run->options.workers_most,
                          run->options.quiet);
    run->scaling = (struct crew_scaling){.folder = &run->folder, .options = &run->options};
    run_progress_begin(&run->progress, &run->folder, run->options.quiet);
    rc = stage_crew_start(&run->crew, &config, err);
    if (rc == ERROR_NONE)
        rc = watch(run, err);
    stage_crew_stop(&run->crew);
    run_progress_end(&run->progress, &run->folder);
    if (rc == ERROR_NONE && !run->redis)
        queue_watch_retire(run->queue);
    if (rc == ERROR_NONE && !run->options.quiet)
        (void)fprintf(stderr, "%-10s %5.1f s  workers=%d restarts=%d\n",
                      run->only_stage ? run->only_stage : "train+infer", clock_seconds() - before,
                      stage_crew_size(&run->crew), run->crew.restarts);
    return rc;
}

/* Shows the run in the folder: links and report. */
static enum error_code show(struct local_run *run, bool was_finished, struct error *err)
{
    const enum error_code rc = link_at_end(run, err);
    if (rc == ERROR_NONE)
        report_at_end(run, was_finished);
    return rc;
}

enum error_code local_run_finish(struct local_run *run, struct error *err)
{
    enum error_code rc = read_state(run, err);
    if (rc == ERROR_NONE)
        rc = outputs_check(&run->folder, &run->state, err);
    if (rc == ERROR_NONE && !run->state.finished)
        rc = run_check_environment(&run->folder.run, run_core_type(&run->options.settings), err);
    if (rc != ERROR_NONE)
        return rc;
    if (!run->options.is_aside)
        link_at_start(run);
    const bool finished = run->state.finished;
    if (!finished) {
        rc = train(run, err);
        run_state_settle(&run->folder, rc, err);
    } else {
        rc = chain_state_mend(run->folder.store, run->folder.run.plan.id, &run->state, err);
    }
    if (rc == ERROR_NONE && finished && !run->options.quiet)
        (void)fprintf(stderr, "%-11s  0.0 s  unchanged, run %s is finished\n",
                      run->only_stage ? run->only_stage : "train+infer", run->folder.run.plan.id);
    if (rc == ERROR_NONE)
        rc = read_state(run, err);
    return rc == ERROR_NONE && !run->options.is_aside ? show(run, finished, err) : rc;
}

enum error_code local_run_go(struct local_run *run, double before, struct error *err)
{
    const enum error_code rc = local_run_finish(run, err);
    return rc == ERROR_NONE
               ? run_summary_print(&run->folder, clock_seconds() - before, run->options.json, err)
               : rc;
}

enum error_code local_run_promote(struct local_run *run, const char *run_id, struct error *err)
{
    run_close(&run->folder.run);
    enum error_code rc = run_folder_bind(&run->folder, run_id, err);
    if (rc == ERROR_NONE)
        rc = read_state(run, err);
    if (rc == ERROR_NONE)
        rc = run_name_newest(run->folder.store, run_id, err);
    return rc == ERROR_NONE ? show(run, false, err) : rc;
}

void local_run_rest(struct local_run *run)
{
    work_queue_close(run->queue);
    redis_server_close(run->redis);
    run_close(&run->folder.run);
    run->queue = NULL;
    run->redis = NULL;
    run->only_stage = NULL;
    run->state = (struct chain_state){0};
    run->crew = (struct stage_crew){0};
    run->growth = (struct crew_growth){0};
    run->progress = (struct run_progress){0};
    run->units_done = run->beats_ms = 0;
}

void local_run_close(struct local_run *run)
{
    local_run_rest(run);
    run_folder_close(&run->folder);
}
