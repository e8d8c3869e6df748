/*
 * stage_main - the only main() of the stage programs.
 *
 * It does what is the same for all stages: options, log, signals, store, settings, the run,
 * threads, memory; then one unit (ingest, partition), the loop over the queue, or a replay. Only
 * stage_main prints errors and turns them into exit statuses.
 */
#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/stop_signal.h"
#include "common/math/blas.h"
#include "common/numbers/cpu_level.h"
#include "stages/engine/address_budget.h"
#include "stages/engine/failure_notice.h"
#include "stages/engine/library_failure.h"
#include "stages/engine/program_start.h"
#include "stages/engine/stage.h"
#include "stages/engine/work_loop.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/environment.h"
#include "stages/plan/run/run_binding.h"
#include "stages/plan/settings/setting_table.h"
#include "store/backends/backend_list.h"
#include "store/queue/work_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stage_options {
    const char *store, *pipeline, *run, *redis, *redis_password_file, *worker, *scratch, *replay;
    const char *times, *trial, *trial_loads;
    struct update_options update_files;
    struct update_request update; /* the update of these files */
    struct option_list set;
    int64_t threads, sharers, wait, idle, lease, log_level;
    uint64_t memory, cache;
    bool debug, local_storage, print_config, version, start, dry_run;
};

/* clang-format off */
#define AT(field) offsetof(struct stage_options, field)
#define AT_UPDATE(field) offsetof(struct stage_options, update_files.field)
static const struct option_spec option_table[] = {
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
        "where records are: a path, " STORE_ADDRESSES},
    {"pipeline", OPTION_TEXT, AT(pipeline), NULL, 0, 0, "FILE", "pipeline file; joins its run"},
    {"set", OPTION_LIST, AT(set), NULL, 0, 0, "KEY=VALUE",
        "change one setting of the pipeline file; may be repeated"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
        "join this run instead of naming a pipeline file"},
    {"redis", OPTION_TEXT, AT(redis), NULL, 0, 0, "URL",
        "work queue: redis://HOST:PORT, rediss://HOST:PORT (TLS) or unix:PATH"},
    {"redis-password-file", OPTION_TEXT, AT(redis_password_file), NULL, 0, 0, "FILE",
        "file with the password of Redis"},
    {"worker", OPTION_TEXT, AT(worker), NULL, 0, 0, "NAME",
        "name of this worker, unique in the run (default: host and pid)"},
    {"threads", OPTION_INT, AT(threads), "0", 0, 1024, "N", "threads; 0: one for each core"},
    {"memory", OPTION_BYTES, AT(memory), NULL, 0, 0, "SIZE",
        "memory budget, such as 2G (default: a quarter of what the machine or container has; a "
        "half for ingest and partition, which run alone)"},
    {"sharers", OPTION_INT, AT(sharers), "1", 1, 1024, "N",
        "workers of this stage on this host; they share one copy of the graph's data, so each "
        "counts only its portion of it in its budget"},
    {"scratch", OPTION_TEXT, AT(scratch), "/tmp", 0, 0, "FOLDER",
        "local folder for copies of sealed files that cannot be read in place; all workers of a "
        "host share them"},
    {"cache", OPTION_BYTES, AT(cache), "8G", 0, 0, "SIZE",
        "the most bytes of such copies that are kept while nobody uses them"},
    {"local-storage", OPTION_FLAG, AT(local_storage), NULL, 0, 0, NULL,
        "the store is on a disk of this host, whatever its file system looks like: open sealed "
        "files in place"},
    {"wait", OPTION_INT, AT(wait), "0", 0, 31536000, "SECONDS",
        "wait so long for the records of earlier stages"},
    {"idle", OPTION_INT, AT(idle), "0", 0, 31536000, "SECONDS",
        "end with status 75 if no unit came for so long, for schedulers that start it again and "
        "need its CPUs meanwhile; 0: never"},
    {"lease", OPTION_INT, AT(lease), "10000", 100, 86400000, "MS",
        "a silent worker loses its unit after so many milliseconds"},
    {"replay", OPTION_TEXT, AT(replay), NULL, 0, 0, "UNIT",
        "compute one unit again and compare it with the stored records"},
    {"times", OPTION_TEXT, AT(times), NULL, 0, 0, "FILE",
        "append where the time went to this file, as JSON lines"},
    {"log-level", OPTION_INT, AT(log_level), "3", 1, 4, "N",
        "1 errors, 2 warnings, 3 progress, 4 everything"},
    {"debug", OPTION_FLAG, AT(debug), NULL, 0, 0, NULL,
        "log everything, and after an error the source line that reported it"},
    {"start", OPTION_FLAG, AT(start), NULL, 0, 0, NULL,
        "partition: start the run, so that workers may join it"},
    {"dry-run", OPTION_FLAG, AT(dry_run), NULL, 0, 0, NULL,
        "ingest: print the id of the dataset, and whether it is there, and end"},
    {"trial", OPTION_TEXT, AT(trial), NULL, 0, 0, "FILE",
        "partition: assign nodes to parts, write how good that is to this file as JSON, and store "
        "nothing"},
    {"trial-loads", OPTION_TEXT, AT(trial_loads), NULL, 0, 0, "FILE",
        "with --trial: measure by what a run read, the table of graphmill export --what loads"},
    UPDATE_OPTIONS(AT_UPDATE)
    {"print-config", OPTION_FLAG, AT(print_config), NULL, 0, 0, NULL,
        "print the effective settings and end"},
    {"version", OPTION_FLAG, AT(version), NULL, 0, 0, NULL, "print the version and end"},
    {.name = NULL},
};
/* clang-format on */

struct program {
    struct stage_options options;
    struct store *store;
    struct pipeline_settings settings;
    struct run_binding run;
    struct thread_pool *pool;
    struct stage_times *times;
    char worker[WORKER_NAME_SIZE];
    struct stage_context context;
    struct failure_notice notice; /* used before there is a run */
    bool began_without_store;
    bool is_told; /* it ends because another stage failed */
};

static void print_help(void)
{
    printf("graphmill-%s - %s\n\nUsage: graphmill-%s --store URI (--pipeline FILE | --run ID) "
           "[options]\n\nReads:  %s\nWrites: %s\n\nOptions:\n",
           stage.name, stage.summary, stage.name, stage.reads, stage.writes);
    options_print_help(option_table);
    printf("\nSettings of the pipeline file, changed by --set:\n");
    setting_table_print_help(stage.name);
    printf(
        "\nExit status: 0 done; 64 usage; 65 bad data; 70 bug; 71 memory; 74 input/output; 75 try "
        "again; 78 bad settings.\n");
}

static enum error_code read_settings(struct program *p, struct error *err)
{
    const struct stage_options *o = &p->options;
    enum error_code rc = pipeline_settings_load(&p->settings, o->pipeline, err);
    for (int i = 0; rc == ERROR_NONE && i < o->set.count; i++)
        rc = pipeline_settings_override(&p->settings, o->set.item[i], err);
    return rc == ERROR_NONE ? pipeline_settings_check(&p->settings, err) : rc;
}

static enum error_code check_usage(const struct stage_options *o, const struct option_list *rest,
                                   struct error *err)
{
    if (rest->count)
        return error_set(err, ERROR_USAGE, "unexpected argument '%s'; " ADVICE "see --help",
                         rest->item[0]);
    if (!o->pipeline == !o->run)
        return error_set(err, ERROR_USAGE, "give either --pipeline FILE or --run ID");
    if (o->run && o->set.count)
        return error_set(err, ERROR_USAGE, "--set needs --pipeline; a run's settings are fixed");
    if (o->start && (strcmp(stage.name, "partition") != 0 || !o->pipeline || o->replay))
        return error_set(err, ERROR_USAGE,
                         "--start needs graphmill-partition --pipeline FILE: a run starts once its "
                         "partition is there");
    if (o->dry_run && (strcmp(stage.name, "ingest") != 0 || o->replay))
        return error_set(
            err, ERROR_USAGE,
            "--dry-run needs graphmill-ingest; graphmill run --dry-run covers all stages");
    if (o->trial && (strcmp(stage.name, "partition") != 0 || o->replay || o->start))
        return error_set(err, ERROR_USAGE,
                         "--trial needs graphmill-partition, without --replay and --start; "
                         "graphmill partition --compare measures all methods");
    if (o->trial_loads && !o->trial)
        return error_set(err, ERROR_USAGE, "--trial-loads goes with --trial");
    if (update_request_is_given(&o->update) &&
        (strcmp(stage.name, "ingest") != 0 || o->replay || o->dry_run))
        return error_set(
            err, ERROR_USAGE,
            "files of an update need graphmill-ingest, without --replay and --dry-run");
    if (o->update.base && !update_request_is_given(&o->update))
        return error_set(err, ERROR_USAGE, "--base goes with files of an update");
    if (o->print_config && !o->pipeline)
        return error_set(err, ERROR_USAGE,
                         "--print-config needs --pipeline; graphmill status shows a run");
    if (!o->store && !o->print_config)
        return error_set(err, ERROR_USAGE, "--store must be given");
    if (stage.form == STAGE_ONCE && o->idle)
        return error_set(err, ERROR_USAGE, "--idle is for stages that loop; --wait is for all");
    if (stage.form == STAGE_LOOP && !o->redis && !o->replay && !o->print_config)
        return error_set(err, ERROR_USAGE, "--redis must be given");
    return ERROR_NONE;
}

/* Returns how the store is opened. Only ingest creates a store. */
static unsigned store_flags_of(const struct stage_options *o)
{
    return (o->replay ? STORE_REPLAY : 0) | (o->dry_run || o->trial ? STORE_READ_ONLY : 0) |
           (strcmp(stage.name, "ingest") == 0 ? 0 : STORE_MUST_EXIST);
}

/* Opens the store. If it is missing, ingest may be about to create it, or the address has a typing
 * error: so all other stages wait for it, and create no folder. */
static enum error_code open_store(struct program *p, struct error *err)
{
    const struct stage_options *o = &p->options;
    enum error_code rc = store_open(o->store, store_flags_of(o), &p->store, err);
    if (rc == ERROR_NONE)
        rc = store_cache_set(p->store, o->scratch, o->cache, o->local_storage, err);
    if (rc == ERROR_NONE && !(store_capabilities(p->store) & STORE_IS_SHARED))
        return error_set(err, ERROR_INVALID,
                         "store %s: the programs of a pipeline need one that all of them see, such "
                         "as dir:PATH",
                         o->store);
    if (rc != ERROR_NOT_FOUND || p->options.replay || p->options.dry_run)
        return rc;
    p->began_without_store = true;
    return error_set(err, ERROR_UNAVAILABLE,
                     "there is no store at %s: " ADVICE "run ingest, or correct --store",
                     p->options.store);
}

/* Finds the run and binds it. */
static enum error_code bind_run(struct program *p, struct error *err)
{
    char run_id[ID_SIZE] = "";
    enum error_code rc = ERROR_NONE;
    if (p->options.run)
        (void)snprintf(run_id, sizeof run_id, "%s", p->options.run);
    else
        rc = run_join(p->store, &p->settings, run_id, err);
    if (rc == ERROR_NONE)
        rc = run_open(p->store, run_id, &p->run, err);
    if (rc == ERROR_NOT_FOUND)
        rc = ERROR_UNAVAILABLE; /* another program may be about to start it */
    if (rc == ERROR_NONE)
        p->settings = p->run.settings;
    return rc;
}

/* Opens the notice of a stage that waits for others, or for which others wait. It tells them when a
 * stage fails for good. */
static enum error_code open_notice(struct program *p, struct error *err)
{
    struct key key;
    const struct stage_options *o = &p->options;
    if (o->wait == 0 || !o->pipeline || !store_may_write(p->store))
        return ERROR_NONE;
    enum error_code rc = failure_notice_key(&p->settings, &key, err);
    if (rc == ERROR_NONE)
        rc = failure_notice_open(&p->notice, p->store, &key, stage.name, err);
    if (p->began_without_store)
        p->notice.stale[0] = '\0'; /* everything in the store is newer than this program */
    return rc;
}

/* Fails if a stage has failed for good: what this stage waits for will then never come. */
static enum error_code check_notice(struct program *p, struct error *err)
{
    struct failure_told told;
    bool found = false;
    if (failure_notice_read(&p->notice, &found, &told, NULL) != ERROR_NONE || !found)
        return ERROR_NONE; /* the program is waiting for the store in any case */
    p->is_told = true;
    return error_set(err, told.code, "%s failed for good: %s", told.stage, told.sentence);
}

/* Tries again while an earlier stage may still make what is missing. */
static enum error_code wait_for(struct program *p,
                                enum error_code (*attempt)(struct program *, struct error *),
                                struct error *err)
{
    const int64_t until = clock_ms() + p->options.wait * 1000;
    for (bool told = false;; told = true) {
        const enum error_code rc = attempt(p, err);
        if (rc != ERROR_UNAVAILABLE || clock_ms() >= until)
            return rc;
        if (stop_signal_seen())
            return error_context(err, rc, "asked to stop while waiting");
        const enum error_code of_others = check_notice(p, err);
        if (of_others != ERROR_NONE)
            return of_others;
        if (!told)
            log_info("waiting: %s", err->message);
        clock_sleep_ms(500);
    }
}

static enum error_code work_one(const struct program *p, const struct unit *unit, struct error *err)
{
    void *state = NULL;
    enum error_code rc = stage.open ? stage.open(&p->context, &state, err) : ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = stage.work(&p->context, state, unit, err);
    if (stage.close)
        stage.close(state);
    return rc;
}

static enum error_code work_once(struct program *p, struct error *err)
{
    const struct unit unit = {.kind = unit_of_stage(stage.name)};
    stage_times_enter(p->times, TIME_WAIT);
    stage_times_begin_unit(p->times, &unit);
    stage_times_enter(p->times, TIME_COMPUTE);
    const enum error_code rc = work_one(p, &unit, err);
    stage_times_end_unit(p->times, rc == ERROR_NONE);
    return rc;
}

static enum error_code check_numbers(const struct program *p, const struct unit *unit,
                                     struct error *err)
{
    struct chain_state state = {0};
    const enum error_code rc =
        chain_state_read(&p->run.schedule, p->store, p->run.plan.id, &state, err);
    return rc == ERROR_NONE ? chain_check_unit(&p->run.schedule, unit, state.weights_version, err)
                            : rc;
}

static enum error_code start_run(struct program *p, struct error *err)
{
    char run_id[ID_SIZE];
    const enum error_code rc = run_start(p->store, &p->settings, run_id, err);
    if (rc == ERROR_NONE)
        log_info("started run=%s", run_id);
    return rc;
}

/* Fails with ERROR_CORRUPT. A run of another environment can be replayed; if a bit then differs,
 * the message names that difference as a possible reason. */
static enum error_code tell_difference(const struct program *p, const char *key, struct error *err)
{
    struct error why = {0};
    if (stage.form == STAGE_ONCE ||
        run_check_environment(&p->run, blas_core_name(), &why) == ERROR_NONE)
        return error_set(err, ERROR_CORRUPT, "%s was computed again and differs from the record",
                         key);
    return error_set(err, ERROR_CORRUPT,
                     "%s was computed again and differs from the record, perhaps because this is "
                     "another environment: %s",
                     key, why.message);
}

static enum error_code replay(const struct program *p, struct error *err)
{
    struct unit unit;
    enum error_code rc = unit_parse(p->options.replay, &unit, err);
    if (rc == ERROR_NONE)
        rc = unit_check_stage(&unit, stage.name, err);
    if (rc == ERROR_NONE && p->context.schedule)
        rc = check_numbers(p, &unit, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc == ERROR_INVALID ? ERROR_USAGE : rc, "--replay %s",
                             p->options.replay);
    rc = work_one(p, &unit, err);
    if (rc == ERROR_NOT_FOUND)
        return error_context(err, rc,
                             "%s: an input was pruned or never made (checkpoint.keep: 0 keeps "
                             "every record)",
                             p->options.replay);
    if (rc != ERROR_NONE)
        return rc;
    const struct store_replay seen = store_replay_report(p->store);
    if (seen.differed) {
        printf("DIFFERS %s records=%d differ=%d first=%s\n", p->options.replay,
               seen.matched + seen.differed, seen.differed, seen.first_difference);
        return tell_difference(p, seen.first_difference, err);
    }
    if (seen.absent || !seen.matched)
        return error_set(err, ERROR_NOT_FOUND,
                         "%s: nothing stored to compare with: %s was pruned or never made "
                         "(checkpoint.keep: 0 keeps every record)",
                         p->options.replay, seen.absent ? seen.first_absent : "its record");
    printf("MATCH %s records=%d\n", p->options.replay, seen.matched);
    return ERROR_NONE;
}

static void name_worker(struct program *p)
{
    char host[48] = "host";
    (void)gethostname(host, sizeof host - 1);
    if (p->options.worker)
        (void)snprintf(p->worker, sizeof p->worker, "%s", p->options.worker);
    else
        (void)snprintf(p->worker, sizeof p->worker, "%.40s-%ld", host, (long)getpid());
}

/* Opens the file of times. It is for people, so a full disk does not keep the program from
 * working. */
static void open_times(struct program *p)
{
    struct error err = {0};
    const bool has_run = stage.form == STAGE_LOOP;
    const struct stage_times_config config = {
        .path = p->options.times,
        .stage = stage.name,
        .worker = p->worker,
        .run_id = has_run ? p->run.plan.id : NULL,
        .schedule = has_run ? &p->run.schedule : NULL,
        .store = p->store,
    };
    if (p->options.times && stage_times_open(&config, &p->times, &err) != ERROR_NONE)
        log_warn("no times are kept: %s", err.message);
    p->context.times = p->times;
}

static enum error_code work_loop(const struct program *p, struct error *err)
{
    const struct work_loop_config config = {
        .stage = &stage,
        .context = &p->context,
        .queue = {.url = p->options.redis,
                  .password_file = p->options.redis_password_file,
                  .run_id = p->run.plan.id,
                  .worker = p->worker,
                  .lease_ms = p->options.lease},
        .units_at_once = stage.works_side_by_side ? p->context.threads : 1,
        .leaves_notice = p->options.wait > 0,
        .idle_ms = p->options.idle * 1000,
        .idle_exit_ms = p->options.wait * 1000,
    };
    return work_loop_run(&config, err);
}

/* Returns the default of --memory. The programs of a run work side by side; ingest and partition
 * have the machine to themselves. */
static uint64_t default_memory_bytes(void)
{
    return host_memory_bytes() / (stage.form == STAGE_ONCE ? 2 : 4);
}

static enum error_code open_context(struct program *p, struct error *err)
{
    const struct stage_options *o = &p->options;
    int threads = o->threads ? (int)o->threads : host_core_count();
    uint64_t memory_bytes = o->memory ? o->memory : default_memory_bytes();
    enum error_code rc =
        address_budget_fit(host_addresses_left(), stage.multiplies, &threads, &memory_bytes, err);
    if (rc != ERROR_NONE)
        return rc;
    arena_budget_set(memory_bytes);
    p->context = (struct stage_context){
        .store = p->store,
        .settings = &p->settings,
        .threads = threads,
        .memory_bytes = memory_bytes,
        .sharers = (int)o->sharers,
        .is_replay = o->replay != NULL,
        .is_dry_run = o->dry_run,
        .trial_path = o->trial,
        .trial_loads = o->trial_loads,
        .update = update_request_is_given(&o->update) ? &o->update : NULL,
    };
    if (stage.form == STAGE_LOOP) {
        p->context.run_id = p->run.plan.id;
        p->context.book = &p->run.book;
        p->context.schedule = &p->run.schedule;
    }
    rc = thread_pool_new(threads, &p->pool, err);
    p->context.pool = p->pool;
    if (rc == ERROR_NONE)
        open_times(p);
    return rc;
}

/* Sets the environment that the headers of records will have. */
static void set_environment(const struct program *p)
{
    char text[ENVIRONMENT_TEXT_SIZE], brief[ENVIRONMENT_SHORT_SIZE];
    environment_text(p->settings.portable, blas_core_name(), text);
    environment_short(text, brief);
    record_environment_set(brief);
}

/* Checks the settings, and the weights that --start needs, before hours of work. */
static enum error_code check_settings(const struct program *p, struct error *err)
{
    struct run_origin origin;
    if (p->options.start && run_is_warm(&p->settings)) {
        const enum error_code rc = run_initial_of(&p->settings, &origin, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    return stage.check ? stage.check(&p->settings, err) : ERROR_NONE;
}

static enum error_code run_program(struct program *p, char **argv, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (p->options.pipeline)
        rc = read_settings(p, err);
    if (rc == ERROR_NONE && p->options.print_config && p->options.pipeline) {
        char text[SETTINGS_TEXT_SIZE];
        rc = pipeline_settings_text(&p->settings, text, err);
        if (rc == ERROR_NONE)
            printf("%s", text);
        return rc;
    }
    if (rc == ERROR_NONE && p->options.pipeline)
        rc = check_settings(p, err);
    if (rc == ERROR_NONE)
        rc = wait_for(p, open_store, err);
    if (rc == ERROR_NONE)
        rc = open_notice(p, err);
    if (rc == ERROR_NONE && (stage.form == STAGE_LOOP || p->options.run))
        rc = wait_for(p, bind_run, err);
    if (rc != ERROR_NONE)
        return rc;
    if (p->settings.portable)
        core_type_settle_portable(argv);
    set_environment(p);
    if (stage.form == STAGE_LOOP && !p->options.replay)
        rc = run_check_environment(&p->run, blas_core_name(), err);
    if (rc == ERROR_NONE && stage.check)
        rc = stage.check(&p->settings, err);
    if (rc == ERROR_NONE)
        rc = open_context(p, err);
    if (rc != ERROR_NONE)
        return rc;
    if (p->options.replay)
        return replay(p, err);
    if (stage.form == STAGE_LOOP)
        return work_loop(p, err);
    rc = wait_for(p, work_once, err);
    if (rc == ERROR_NONE && p->options.start)
        rc = start_run(p, err);
    if (rc != ERROR_NONE && !p->is_told)
        failure_notice_leave(&p->notice, rc, NULL, err->message);
    return rc;
}

int main(int argc, char **argv)
{
    static struct program program; /* too large for a stack */
    char name[64];
    struct error err = {0};
    struct option_list rest = {0};
    (void)snprintf(name, sizeof name, "graphmill-%s", stage.name);
    log_open(name, LOG_LEVEL_INFO);
    address_budget_begin();
    if (options_want_help(argc, argv)) {
        print_help();
        return EXIT_SUCCESS;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &program.options, &rest, &err);
    if (rc == ERROR_NONE)
        rc = update_options_read(&program.options.update_files, &program.options.update, &err);
    if (rc == ERROR_NONE && program.options.version) {
        printf("%s %s\n", name, GRAPHMILL_VERSION);
        return EXIT_SUCCESS;
    }
    if (rc == ERROR_NONE)
        rc = check_usage(&program.options, &rest, &err);
    if (rc == ERROR_NONE)
        rc = cpu_level_check(&err);
    if (rc == ERROR_NONE) {
        core_type_settle(argv);
        log_open(name, program.options.debug ? LOG_LEVEL_DEBUG
                                             : (enum log_level)program.options.log_level);
        stop_signal_install();
        library_failure_install();
        name_worker(&program);
        rc = run_program(&program, argv, &err);
    }
    struct error times_err = {0};
    if (stage_times_close(program.times, &times_err) != ERROR_NONE)
        log_warn("%s", times_err.message);
    thread_pool_free(program.pool);
    run_close(&program.run);
    store_close(program.store);
    if (rc != ERROR_NONE)
        log_failure(&err, program.options.debug || rc == ERROR_BUG);
    return error_exit_status(rc);
}
