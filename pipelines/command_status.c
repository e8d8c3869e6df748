/*
 * status - where a run stands: from storage always, and from Redis while one can be reached.
 */
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "pipelines/commands.h"
#include "pipelines/run_status.h"
#include "stages/engine/stage_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct status_options {
    const char *store, *redis, *redis_password_file, *run;
    bool watch, json;
};

/* clang-format off */
#define AT(field) offsetof(struct status_options, field)
static const struct option_spec option_table[] = {
    {"watch", OPTION_FLAG, AT(watch), NULL, 0, 0, NULL, "print again every second until the run is finished"},
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI", "instead of RUN: the store that holds it, from wherever it is seen"},
    {"redis", OPTION_TEXT, AT(redis), NULL, 0, 0, "URL", "the run's Redis (default: the private one of its folder)"},
    {"redis-password-file", OPTION_TEXT, AT(redis_password_file), NULL, 0, 0, "FILE", "file with its password"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID", "which run, when the folder has several (default: the newest)"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

/* What the driver is at before there is a run, or was at when it ended. */
static void print_state(const struct run_state *state)
{
    if (state->is_alive)
        printf("%-10s %5" PRId64 " s  %s (graphmill with pid %" PRId64 ")\n", state->stage,
               state->seconds, state->progress[0] ? state->progress : "at work", state->pid);
    else
        printf("%-10s ended before it was done, %" PRId64
               " s after its start; the same command goes on\n",
               state->stage, state->seconds);
}

/* ingest and partition, as far as the driver's note tells. */
static const char *word_before_run(const struct run_status *status, const char *stage)
{
    const bool is_there = status->has_state && strcmp(status->state.stage, stage) == 0;
    const bool is_later =
        strcmp(stage, "partition") == 0 && status->has_state && !is_there; /* of ingest */
    if (is_there)
        return status->state.is_alive ? "at work" : "ended before it was done";
    return is_later ? "waiting" : "done";
}

/* From storage alone: what stages have done where no queue says more. */
static void print_stages(const struct run_folder *folder, const struct run_status *status)
{
    const struct chain_state *chain = &status->chain;
    const int64_t rounds = folder->run.schedule.round_count;
    const bool has_run = folder->run.plan.id[0] != '\0';
    printf("%-11s %s\n%-11s %s\n", "ingest", word_before_run(status, "ingest"), "partition",
           word_before_run(status, "partition"));
    for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
        const bool infers = strcmp(stage_loop[i].name, "infer") == 0;
        if (!has_run || (infers && !chain->finished))
            printf("%-11s waiting\n", stage_loop[i].name);
        else if (infers || chain->stopped || chain->finished)
            printf("%-11s done\n", stage_loop[i].name);
        else
            printf("%-11s round %" PRId64 " of %" PRId64 " is safe\n", stage_loop[i].name,
                   chain->snapshot_version < 0 ? 0 : chain->snapshot_version, rounds);
    }
}

static void print_text(const struct run_folder *folder, const struct run_status *status,
                       const struct status_options *options)
{
    if (status->has_state)
        print_state(&status->state);
    if (!folder->run.plan.id[0]) {
        print_stages(folder, status);
        return;
    }
    printf("run      %s: %s\n", folder->run.plan.id, run_status_word(status));
    printf("snapshot round %" PRId64 " of %" PRId64 ", epoch %" PRId64 " of %" PRId64,
           status->chain.snapshot_version < 0 ? 0 : status->chain.snapshot_version,
           folder->run.schedule.round_count, status->epoch, folder->run.schedule.epochs);
    char loss[32], valid[32], best[32];
    if (status->chain.snapshot_version >= 0)
        printf(", train loss %s, validation %s, best %s", text_score(status->train_loss, loss),
               text_score(status->valid_metric, valid), text_score(status->best_metric, best));
    printf("\n");
    if (!status->connected && !status->chain.finished)
        printf(options->redis
                   ? "Redis at %s does not answer: of the workers nothing is known\n"
                   : "no private Redis runs in %s; workers elsewhere are seen with --redis URL\n",
               options->redis    ? options->redis
               : folder->path[0] ? folder->path
                                 : folder->store_uri);
    if (!status->connected) {
        print_stages(folder, status);
        return;
    }
    printf("%-11s %10s %8s %8s %8s\n", "stage", "done", "running", "waiting", "retried");
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        printf("%-11s %10" PRId64 " %8" PRId64 " %8" PRId64 " %8" PRId64 "\n", stage_loop[i].name,
               status->counts[i].done, status->counts[i].leased, status->counts[i].waiting,
               status->counts[i].retried);
    for (int i = 0; i < status->beat_count; i++) {
        const struct worker_beat *beat = &status->beat[i];
        char memory[32];
        printf("  %-20s %-24s done %8" PRId64 "  busy %3.0f %%  %10s  beat %.0f s ago\n",
               beat->worker, beat->unit[0] ? beat->unit : "idle", beat->done,
               100.0 * beat->busy_share, text_size((uint64_t)beat->memory_bytes, memory),
               beat->age_seconds);
    }
}

static void put_worker(struct json_writer *json, const struct worker_beat *beat)
{
    json_open_object(json, NULL);
    json_put_string(json, "worker", beat->worker);
    json_put_string(json, "stage", beat->stage);
    json_put_string(json, "unit", beat->unit);
    json_put_string(json, "host", beat->host);
    json_put_int64(json, "pid", beat->pid);
    json_put_int64(json, "done", beat->done);
    json_put_int64(json, "memory_bytes", beat->memory_bytes);
    json_put_double(json, "busy_share", beat->busy_share);
    json_put_double(json, "age_seconds", beat->age_seconds);
    json_close_object(json);
}

static enum error_code print_json(const struct run_folder *folder, const struct run_status *status,
                                  struct error *err)
{
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    if (folder->run.plan.id[0])
        json_put_string(&json, "run", folder->run.plan.id);
    json_put_string(&json, "state", run_status_word(status));
    if (status->has_state) {
        json_open_object(&json, "driver");
        json_put_string(&json, "stage", status->state.stage);
        json_put_bool(&json, "alive", status->state.is_alive);
        json_put_int64(&json, "pid", status->state.pid);
        json_put_int64(&json, "seconds", status->state.seconds);
        json_put_string(&json, "progress", status->state.progress);
        json_close_object(&json);
    }
    json_put_int64(&json, "snapshot_round", status->chain.snapshot_version);
    json_put_int64(&json, "rounds", folder->run.schedule.round_count);
    json_put_double(&json, "valid_metric", status->valid_metric);
    json_put_double(&json, "best_metric", status->best_metric);
    if (status->connected) {
        json_open_object(&json, "stages");
        for (int i = 0; i < STAGE_LOOP_COUNT; i++) {
            json_open_object(&json, stage_loop[i].name);
            json_put_int64(&json, "done", status->counts[i].done);
            json_put_int64(&json, "running", status->counts[i].leased);
            json_put_int64(&json, "waiting", status->counts[i].waiting);
            json_put_int64(&json, "retried", status->counts[i].retried);
            json_close_object(&json);
        }
        json_close_object(&json);
        json_open_array(&json, "workers");
        for (int i = 0; i < status->beat_count; i++)
            put_worker(&json, &status->beat[i]);
        json_close_array(&json);
    }
    json_close_object(&json);
    return json_writer_print(&json, err);
}

static enum error_code show(const struct run_folder *folder, const struct status_options *options,
                            bool *finished, struct error *err)
{
    static struct run_status status;
    enum error_code rc =
        run_status_read(folder, options->redis, options->redis_password_file, &status, err);
    if (rc != ERROR_NONE)
        return rc;
    *finished = status.chain.finished && !(status.has_state && status.state.is_alive);
    /* Of a run by workers elsewhere nobody else is here to do it. */
    struct error why = {0};
    if (*finished && folder->path[0] && run_folder_link(folder, &status.chain, &why) != ERROR_NONE)
        log_debug("%s", why.message); /* the folder may be for reading only */
    if (options->json)
        rc = print_json(folder, &status, err);
    else
        print_text(folder, &status, options);
    (void)fflush(stdout);
    return rc;
}

static enum error_code open_run(struct run_folder *folder, const struct status_options *options,
                                const struct option_list *rest, struct error *err)
{
    if (rest->count != !options->store)
        return error_set(err, ERROR_USAGE,
                         options->store ? "graphmill status takes --store or a run's folder"
                                        : "graphmill status takes one run's folder");
    return options->store ? run_folder_open(folder, options->store, options->run, err)
                          : run_status_open(folder, rest->item[0], options->run, err);
}

enum error_code command_status(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct status_options options = {0};
    struct option_list rest = {0};
    bool finished = false;
    if (options_want_help(argc, argv)) {
        printf("graphmill status RUN|--store URI [options] - where a run stands\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = open_run(&folder, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = show(&folder, &options, &finished, err);
    while (rc == ERROR_NONE && options.watch && !finished && !stop_signal_seen()) {
        clock_sleep_ms(1000);
        if (isatty(STDOUT_FILENO) && !options.json)
            printf("\033[H\033[2J");
        if (!folder.run.plan.id[0])
            rc = run_status_open(&folder, rest.item[0], options.run, err);
        if (rc == ERROR_NONE)
            rc = show(&folder, &options, &finished, err);
    }
    run_folder_close(&folder);
    return rc;
}
