#include "pipelines/run/pipeline_options.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "pipelines/run/pipeline_note.h"
#include "pipelines/run/run_preview.h"
#include "pipelines/shared/child_process.h"
#include "pipelines/shared/child_restart.h"
#include "pipelines/shared/log_relay.h"
#include "pipelines/shared/memory_kill.h"
#include "pipelines/shared/run_state.h"
#include "pipelines/shared/unused_data.h"
#include "pipelines/shared/wait_for_room.h"
#include "pipelines/shared/warm_start.h"
#include "stages/plan/settings/setting_table.h"
#include "store/queue/work_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
#define AT(field) offsetof(struct pipeline_options, field)
static const struct option_spec option_table[] = {
    PIPELINE_OPTIONS(AT)
    {.name = NULL},
};
/* clang-format on */

/* Prints the help. `--help options` leaves out the settings, which fill several screens. */
static void print_help(int argc, char **argv, const char *summary)
{
    printf("graphmill %s FILE [options] - %s\n\n", argv[0], summary);
    options_print_help(option_table);
    if (argc > 2 && strcmp(argv[2], "options") == 0)
        return;
    printf("\nSettings, for the pipeline file and --set:\n");
    setting_table_print_help(NULL);
}

enum error_code pipeline_options_parse(struct pipeline_options *options, const char *summary,
                                       int argc, char **argv, bool *shown, struct error *err)
{
    struct option_list rest = {0};
    *shown = options_want_help(argc, argv);
    if (*shown) {
        print_help(argc, argv, summary);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill %s takes one pipeline file, found %d arguments",
                       argv[0], rest.count);
    if (rc != ERROR_NONE)
        return rc;
    options->file = rest.item[0];
    return pipeline_options_load(options, err);
}

/* Returns the number of workers that can be useful. A slot of a round is claimed by one worker, and
 * few slots wait long for a disk or a store. */
static int workers_of_use(const struct pipeline_options *options)
{
    const struct pipeline_settings *settings = &options->settings;
    const int64_t threads = options->threads ? options->threads : host_core_count();
    int64_t most = settings->sample.batches_per_round * (settings->aggregate.staleness.value + 1);
    most = most < 2 * threads ? most : 2 * threads;
    return most < WORKERS_MAX ? (int)most : WORKERS_MAX;
}

/* Divides the memory. With --workers auto it chooses as many workers as the memory is enough
 * for. */
static enum error_code divide_memory(struct pipeline_options *options, struct error *err)
{
    const bool is_auto = options->workers == 0;
    const bool embeddings = options->settings.train_step.embedding > 0;
    enum error_code rc = ERROR_NONE;
    options->workers_most = is_auto ? workers_of_use(options) : (int)options->workers;
    while ((rc = memory_shares_divide(options->memory, options->workers_most, embeddings,
                                      &options->shares, err)) == ERROR_NO_MEMORY &&
           is_auto && options->workers_most > 1)
        options->workers_most--;
    return rc;
}

enum error_code pipeline_options_load(struct pipeline_options *options, struct error *err)
{
    enum error_code rc = pipeline_settings_load(&options->settings, options->file, err);
    for (int i = 0; rc == ERROR_NONE && i < options->set.count; i++)
        rc = pipeline_settings_override(&options->settings, options->set.item[i], err);
    if (rc == ERROR_NONE)
        rc = pipeline_settings_check(&options->settings, err);
    return rc == ERROR_NONE ? divide_memory(options, err) : rc;
}

/* One run of ingest or partition, which ends by itself. */
struct once {
    const struct pipeline_options *options;
    const struct run_folder *folder;
    const char *stage;
    const struct option_list *extra;
    char program[FILE_PATH_SIZE], log_path[FILE_PATH_SIZE], times[FILE_PATH_SIZE];
    char memory[24], threads[16];
    struct child_command command;
    char line[CHILD_TEXT_SIZE]; /* its answer */
};

static enum error_code make_command(struct once *once, struct error *err)
{
    const struct pipeline_options *options = once->options;
    const struct run_folder *folder = once->folder;
    enum error_code rc = child_program(once->stage, once->program, err);
    if (rc == ERROR_NONE)
        rc = file_path(once->log_path, err, "%s/logs/%s.log", folder->path, once->stage);
    if (rc == ERROR_NONE)
        rc = file_path(once->times, err, "%s/times/%s.jsonl", folder->path, once->stage);
    (void)snprintf(once->memory, sizeof once->memory, "%" PRIu64, options->shares.once_bytes);
    (void)snprintf(once->threads, sizeof once->threads, "%" PRId64, options->threads);
    child_add(&once->command, once->program);
    child_add_option(&once->command, "--store", folder->store_uri);
    child_add_option(&once->command, "--pipeline", options->file);
    for (int i = 0; i < options->set.count; i++)
        child_add_option(&once->command, "--set", options->set.item[i]);
    if (options->shares.once_bytes)
        child_add_option(&once->command, "--memory", once->memory);
    child_add_option(&once->command, "--threads", once->threads);
    child_add_option(&once->command, "--times", once->times);
    if (run_folder_has_store(folder))
        child_add_option(&once->command, "--local-storage", NULL);
    if (options->debug)
        child_add(&once->command, "--debug");
    for (int i = 0; once->extra && i < once->extra->count; i++)
        child_add(&once->command, once->extra->item[i]);
    return rc;
}

static enum error_code stopped_at(const char *when, const char *stage, struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "stopped %s %s; " ADVICE "run again to go on", when,
                     stage);
}

static void sleep_until_stop(int64_t ms)
{
    enum { SLICE_MS = 50 };
    for (; ms > 0 && !stop_signal_seen(); ms -= SLICE_MS)
        clock_sleep_ms(ms < SLICE_MS ? ms : SLICE_MS);
}

/* Returns whether the program is started again. It has the machine for itself, so a lack of memory
 * would occur again. */
static bool may_start_again(struct child_restart *restart, int status, int64_t *pause_ms)
{
    return child_error_code(status) != ERROR_NO_MEMORY &&
           child_restart_allowed(restart, status, 0, pause_ms);
}

static enum error_code killed_for_memory(const struct once *once, struct error *err)
{
    enum { LEAST_BYTES = 64 << 20 };
    const uint64_t given = once->options->shares.once_bytes;
    const struct memory_kill kill = {
        .program = once->stage,
        .log = once->log_path,
        .budget_bytes = given ? given : host_memory_bytes() / 2,
        .run_bytes = once->options->memory ? once->options->memory : host_memory_bytes() / 2,
        .least_bytes = LEAST_BYTES,
    };
    return memory_kill_error(&kill, err);
}

/* Runs the program until it ends well. Each time it is killed it is started again, and keeps the
 * artifacts that it has completed. */
static enum error_code run_to_end(struct once *once, struct error *err)
{
    struct child_restart restart = {0};
    for (;;) {
        char how[CHILD_TEXT_SIZE], words[CHILD_TEXT_SIZE];
        const uint64_t log_start = child_log_end(once->log_path);
        int64_t pause_ms = 0;
        int status = 0;
        struct log_relay relay = {.path = once->log_path,
                                  .stage = once->stage,
                                  .at = log_start,
                                  .progress = !once->options->quiet,
                                  .on_terminal = isatty(STDERR_FILENO) == 1,
                                  .started_ms = clock_ms()};
        once->command.relay = &relay;
        struct memory_kill_watch kills = {0};
        memory_kill_begin(&kills);
        const enum error_code rc =
            child_run(&once->command, once->log_path, once->line, &status, err);
        once->command.relay = NULL;
        log_relay_end(&relay);
        if (rc != ERROR_NONE || status == 0)
            return rc;
        if (stop_signal_seen())
            return stopped_at("during", once->stage, err);
        if (memory_kill_explains(&kills, status))
            return killed_for_memory(once, err);
        child_status_text(status, how);
        child_last_words(once->log_path, log_start, words);
        if (!may_start_again(&restart, status, &pause_ms))
            return error_set(err, child_error_code(status), "%s %s: %s (log: %s)", once->stage, how,
                             words, once->log_path);
        log_warn("%s %s: %s; starting it again", once->stage, how, words);
        sleep_until_stop(pause_ms);
    }
}

enum error_code pipeline_run_stage(const struct pipeline_options *options,
                                   const struct run_folder *folder, const char *stage,
                                   struct error *err)
{
    return pipeline_run_stage_with(options, folder, stage, NULL, NULL, err);
}

/* Its answer, one line, is printed to stderr as progress. */
enum error_code pipeline_run_stage_with(const struct pipeline_options *options,
                                        const struct run_folder *folder, const char *stage,
                                        const struct option_list *extra,
                                        char answer[CHILD_TEXT_SIZE], struct error *err)
{
    struct once once = {.options = options, .folder = folder, .stage = stage, .extra = extra};
    const double before = clock_seconds();
    run_state_write(folder->path, stage);
    enum error_code rc = make_command(&once, err);
    if (rc == ERROR_NONE)
        rc = run_to_end(&once, err);
    if (rc == ERROR_NONE && stop_signal_seen())
        rc = stopped_at("after", stage, err);
    if (rc != ERROR_NONE)
        run_state_settle(folder, rc, err);
    if (answer)
        (void)text_copy(answer, CHILD_TEXT_SIZE, once.line);
    if (rc != ERROR_NONE)
        return rc;
    if (!options->quiet && once.line[0])
        (void)fprintf(stderr, "%-10s %5.1f s  %s\n", stage, clock_seconds() - before, once.line);
    return ERROR_NONE;
}

enum error_code pipeline_folder_path(const struct pipeline_options *options,
                                     char path[FILE_PATH_SIZE], struct error *err)
{
    return options->directory ? file_path(path, err, "%s", options->directory)
                              : file_path(path, err, "runs/%s", options->settings.name);
}

/* Reads the newest run before this one, for the message about the difference; it stays empty if
 * there is none or it is damaged. */
static void open_newest(struct store *store, struct run_binding *newest)
{
    char id[ID_SIZE];
    if (run_newest(store, id, NULL) == ERROR_NONE &&
        run_open(store, id, newest, NULL) != ERROR_NONE)
        run_close(newest);
}

enum error_code pipeline_start_run(const struct pipeline_options *options,
                                   struct run_folder *folder, struct error *err)
{
    static struct run_binding newest; /* too large for a stack */
    char run_id[ID_SIZE];
    open_newest(folder->store, &newest);
    enum error_code rc = options->is_aside
                             ? run_start_aside(folder->store, &options->settings, run_id, err)
                             : run_start(folder->store, &options->settings, run_id, err);
    if (rc == ERROR_NONE)
        rc = run_folder_bind(folder, run_id, err);
    if (rc == ERROR_NONE && !options->quiet)
        run_preview_tell(&newest, &folder->run);
    run_close(&newest);
    return rc;
}

/* The check is made first, so that a wrong address or password is reported before hours of work. */
enum error_code pipeline_check_redis(const struct pipeline_options *options, struct error *err)
{
    if (!options->redis)
        return ERROR_NONE;
    const enum error_code rc =
        work_queue_check_server(options->redis, options->redis_password_file, err);
    /* the message names the address */
    return rc == ERROR_UNAVAILABLE ? error_context(err, rc, "--redis")
                                   : error_context(err, rc, "--redis %s", options->redis);
}

enum error_code pipeline_prepare_in(struct pipeline_options *options, struct run_folder *folder,
                                    struct error *err)
{
    bool told = false;
    struct warm_start *warm = NULL;
    enum error_code rc =
        warm_start_open(&options->settings, options->file, folder->path, &warm, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(options, folder, "ingest", err);
    if (rc == ERROR_NONE)
        rc = unused_data_warn(folder->store, &options->settings, err);
    if (rc == ERROR_NONE)
        rc = warm_start_check(warm, &options->settings, folder->store, err);
    if (rc == ERROR_NONE)
        rc = pipeline_run_stage(options, folder, "partition", err);
    if (rc == ERROR_NONE)
        do {
            rc = warm_start_put(warm, &options->settings, folder->store, err);
            if (rc == ERROR_NONE)
                rc = pipeline_start_run(options, folder, err);
        } while (wait_for_room(rc, err, &told));
    warm_start_close(warm);
    return rc;
}

enum error_code pipeline_prepare(struct pipeline_options *options, struct run_folder *folder,
                                 struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = pipeline_folder_path(options, path, err);
    if (rc == ERROR_NONE)
        rc = pipeline_check_redis(options, err);
    if (rc == ERROR_NONE)
        rc = run_folder_create(folder, path, options->store, err);
    if (rc == ERROR_NONE)
        rc = pipeline_note_write(folder->path, options->file, &options->set, err);
    return rc == ERROR_NONE ? pipeline_prepare_in(options, folder, err) : rc;
}
