/*
 * status - shows the status of a run: always from storage, and from Redis too if it can be reached.
 */
#include "common/base/clock.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "pipelines/questions/run_status.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/terminal.h"
#include "stages/engine/stage_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct status_options {
    const char *store, *redis, *redis_password_file, *run;
    bool watch, json;
};

/* clang-format off */
#define AT(field) offsetof(struct status_options, field)
static const struct option_spec option_table[] = {
    {"watch", OPTION_FLAG, AT(watch), NULL, 0, 0, NULL,
     "print again every second until the run is finished or has failed"},
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "instead of RUN: the store that has the run"},
    {"redis", OPTION_TEXT, AT(redis), NULL, 0, 0, "URL",
     "the run's Redis (default: the private one of its folder, or the one that it was started "
     "with)"},
    {"redis-password-file", OPTION_TEXT, AT(redis_password_file), NULL, 0, 0, "FILE",
     "file with its password"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "which run, when the folder has several (default: the newest)"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

/* Prints what the driver of the folder is doing, or how it ended. */
static void print_state(FILE *out, const struct run_state *state)
{
    char host[64] = "";
    (void)gethostname(host, sizeof host - 1);
    (void)fprintf(out, "%-11s ", state->stage);
    if (state->outcome == RUN_AT_WORK)
        (void)fprintf(out, "%" PRId64 " s  %s (graphmill with pid %" PRId64 "%s%s)\n",
                      state->seconds, state->progress[0] ? state->progress : "at work", state->pid,
                      strcmp(host, state->host) == 0 ? "" : " on ",
                      strcmp(host, state->host) == 0 ? "" : state->host);
    else if (state->outcome == RUN_LOST)
        (void)fprintf(out, "ended without a word, as when killed; the same command goes on\n");
    else if (state->outcome == RUN_STOPPED)
        (void)fprintf(out, "was stopped after %" PRId64 " s; the same command goes on\n",
                      state->seconds);
    else
        (void)fprintf(out, "failed after %" PRId64 " s\n", state->seconds);
}

/* Prints all stages, with the counts of the queue. */
static void print_stages(FILE *out, const struct run_folder *folder,
                         const struct run_status *status)
{
    const struct chain_state *chain = &status->chain;
    (void)fprintf(out, status->connected ? "%-11s %-12s %8s %7s %7s %7s\n" : "%-11s %s\n", "stage",
                  "state", "done", "running", "waiting", "retried");
    for (int i = 0; i < STAGE_COUNT; i++) {
        const char *word = run_status_stage(folder, status, stage_list[i].name);
        const struct stage_counts *counts = run_status_counts(status, stage_list[i].name);
        const bool loops = i >= STAGE_ONCE_COUNT;
        (void)fprintf(out, counts ? "%-11s %-12s" : "%-11s %s", stage_list[i].name, word);
        if (counts)
            (void)fprintf(out, " %8" PRId64 " %7" PRId64 " %7" PRId64 " %7" PRId64, counts->done,
                          counts->leased, counts->waiting, counts->retried);
        else if (loops && chain->snapshot_version >= 0 && strcmp(word, "done") != 0 &&
                 strcmp(stage_list[i].name, "infer") != 0)
            (void)fprintf(out, "; round %" PRId64 " of %" PRId64 " is safe",
                          chain->snapshot_version, folder->run.schedule.round_count);
        (void)fprintf(out, "\n");
    }
}

static void print_workers(FILE *out, const struct run_status *status)
{
    for (int i = 0; i < status->beat_count; i++) {
        const struct worker_beat *beat = &status->beat[i];
        char memory[32];
        (void)fprintf(out,
                      "  %-14s %-24s done %7" PRId64 "  busy %3.0f %%  %10s  beat %.0f s ago%s%s\n",
                      beat->worker, beat->unit[0] ? beat->unit : "idle", beat->done,
                      100.0 * beat->busy_share, text_size((uint64_t)beat->memory_bytes, memory),
                      beat->age_seconds, beat->note[0] ? "  " : "", beat->note);
    }
}

/* Prints which Redis was asked about workers, if it did not answer. */
static void print_contact(FILE *out, const struct run_folder *folder,
                          const struct run_status *status)
{
    if (status->connected || status->chain.finished)
        return;
    if (status->redis[0])
        (void)fprintf(out, "Redis at %s does not answer: of the workers nothing is known\n",
                      status->redis);
    else if (!status->has_state)
        (void)fprintf(out, "no Redis runs for %s; workers elsewhere are seen with --redis URL\n",
                      folder->path[0] ? folder->path : folder->store_uri);
}

static void print_text(FILE *out, const struct run_folder *folder, const struct run_status *status)
{
    const struct schedule *schedule = &folder->run.schedule;
    const bool has_run = folder->run.plan.id[0] != '\0';
    if (status->has_state)
        print_state(out, &status->state);
    if (has_run)
        (void)fprintf(out, "run         %s: %s\n", folder->run.plan.id, run_status_word(status));
    if (has_run) {
        (void)fprintf(out,
                      "snapshot    round %" PRId64 " of %" PRId64 ", epoch %" PRId64 " of %" PRId64,
                      status->chain.snapshot_version < 0 ? 0 : status->chain.snapshot_version,
                      schedule->round_count, status->epoch, schedule->epochs);
        char loss[32], valid[32], best[32];
        if (status->chain.snapshot_version >= 0)
            (void)fprintf(out, ", train loss %s, validation %s, best %s",
                          text_score(status->train_loss, loss),
                          text_score(status->valid_metric, valid),
                          text_score(status->best_metric, best));
        (void)fprintf(out, "\n");
        print_contact(out, folder, status);
    }
    if (status->failed_stage[0])
        (void)fprintf(out, "failed      %s: %s\n", status->failed_stage, status->failure);
    print_stages(out, folder, status);
    print_workers(out, status);
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

static void put_driver(struct json_writer *json, const struct run_state *state)
{
    json_open_object(json, "driver");
    json_put_string(json, "stage", state->stage);
    json_put_string(json, "outcome", run_outcome_word(state->outcome));
    json_put_bool(json, "alive", state->outcome == RUN_AT_WORK);
    json_put_string(json, "host", state->host);
    json_put_int64(json, "pid", state->pid);
    if (state->seconds >= 0)
        json_put_int64(json, "seconds", state->seconds);
    json_put_string(json, "progress", state->progress);
    json_put_string(json, "message", state->message);
    json_close_object(json);
}

/* Writes the state of all stages, and for stages of the loop also the counts of the queue, if there
 * is one. */
static void put_stages(struct json_writer *json, const struct run_folder *folder,
                       const struct run_status *status)
{
    json_open_object(json, "stages");
    for (int i = 0; i < STAGE_COUNT; i++) {
        const struct stage_counts *counts = run_status_counts(status, stage_list[i].name);
        json_open_object(json, stage_list[i].name);
        json_put_string(json, "state", run_status_stage(folder, status, stage_list[i].name));
        if (counts) {
            json_put_int64(json, "done", counts->done);
            json_put_int64(json, "running", counts->leased);
            json_put_int64(json, "waiting", counts->waiting);
            json_put_int64(json, "retried", counts->retried);
        }
        json_close_object(json);
    }
    json_close_object(json);
}

static enum error_code print_json(const struct run_folder *folder, const struct run_status *status,
                                  struct error *err)
{
    struct json_writer json = {0};
    const bool has_scores = folder->run.plan.id[0] && status->chain.snapshot_version >= 0;
    json_open_object(&json, NULL);
    if (folder->run.plan.id[0])
        json_put_string(&json, "run", folder->run.plan.id);
    if (status->has_state)
        put_driver(&json, &status->state);
    if (status->failed_stage[0]) {
        json_put_string(&json, "failed_stage", status->failed_stage);
        json_put_string(&json, "failure", status->failure);
    }
    json_put_bool(&json, "redis", status->connected);
    put_stages(&json, folder, status);
    if (status->connected) {
        json_open_array(&json, "workers");
        for (int i = 0; i < status->beat_count; i++)
            put_worker(&json, &status->beat[i]);
        json_close_array(&json);
    }
    json_put_string(&json, "state", run_status_word(status));
    json_put_int64(&json, "snapshot_round", status->chain.snapshot_version);
    json_put_int64(&json, "rounds", folder->run.schedule.round_count);
    json_put_double(&json, "valid_metric", has_scores ? status->valid_metric : (double)NAN);
    json_put_double(&json, "best_metric", has_scores ? status->best_metric : (double)NAN);
    json_close_object(&json);
    return json_writer_print(&json, err);
}

/* Prints whole lines, cut to the width of a terminal, so that the next text can be drawn in the
 * same place. */
static void print_lines(const char *text)
{
    const bool on_terminal = isatty(STDOUT_FILENO) == 1;
    const int width = terminal_columns(STDOUT_FILENO);
    for (const char *line = text; *line;) {
        const size_t size = strcspn(line, "\n");
        printf("%.*s\n", on_terminal ? terminal_fit(line, size, width) : (int)size, line);
        line += size + (line[size] == '\n');
    }
}

static enum error_code show_text(const struct run_folder *folder, const struct run_status *status,
                                 bool again, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return error_set(err, ERROR_NO_MEMORY, "no memory for the lines of a status");
    print_text(out, folder, status);
    const bool good = fclose(out) == 0;
    if (good && again && isatty(STDOUT_FILENO) == 1)
        printf("\033[H\033[2J");
    if (good)
        print_lines(text);
    free(text); /* allocated by open_memstream() */
    return good ? ERROR_NONE
                : error_set(err, ERROR_NO_MEMORY, "no memory for the lines of a status");
}

struct watching {
    bool again; /* the text was drawn before */
    bool is_over;
};

static enum error_code show(const struct run_folder *folder, const struct status_options *options,
                            struct watching *watching, struct error *err)
{
    static struct run_status status;
    enum error_code rc =
        run_status_read(folder, options->redis, options->redis_password_file, &status, err);
    if (rc != ERROR_NONE)
        return rc;
    const bool is_driven = status.has_state && status.state.outcome == RUN_AT_WORK;
    const bool finished = status.chain.finished && !is_driven;
    watching->is_over = finished || strcmp(run_status_word(&status), "failed") == 0;
    /* Only this command can set the links of a run whose workers are elsewhere. */
    struct error why = {0};
    if (finished && folder->path[0] && run_folder_link(folder, &status.chain, &why) != ERROR_NONE)
        log_debug("%s", why.message); /* the folder may be read-only */
    rc = options->json ? print_json(folder, &status, err)
                       : show_text(folder, &status, watching->again, err);
    watching->again = true;
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
    return run_status_open(folder, options->store ? options->store : rest->item[0], options->run,
                           err);
}

enum error_code command_status(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct status_options options = {0};
    struct option_list rest = {0};
    struct watching watching = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill status RUN|--store URI [options] - where a run stands\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = open_run(&folder, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = show(&folder, &options, &watching, err);
    while (rc == ERROR_NONE && options.watch && !watching.is_over && !stop_signal_seen()) {
        clock_sleep_ms(1000);
        if (!folder.run.plan.id[0])
            rc = open_run(&folder, &options, &rest, err);
        if (rc == ERROR_NONE)
            rc = show(&folder, &options, &watching, err);
    }
    run_folder_close(&folder);
    return rc;
}
