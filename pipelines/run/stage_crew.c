#include "pipelines/run/stage_crew.h"

#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/log.h"
#include "pipelines/shared/child_process.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static enum error_code start_member(struct stage_crew *crew, struct crew_member *member,
                                    struct error *err)
{
    const struct crew_config *c = &crew->config;
    char program[FILE_PATH_SIZE], times[FILE_PATH_SIZE], threads[16], memory[24], lease[24];
    char sharers[16];
    struct child_command command = {0};
    enum error_code rc = child_program(stage_loop[member->stage_index].name, program, err);
    if (rc == ERROR_NONE)
        rc = file_path(times, err, "%s/times/%s.jsonl", c->folder->path, member->name);
    if (rc != ERROR_NONE)
        return rc;
    member->share = crew->share[member->stage_index];
    (void)snprintf(threads, sizeof threads, "%d", member->share.threads);
    (void)snprintf(memory, sizeof memory, "%" PRIu64, member->share.memory_bytes);
    (void)snprintf(lease, sizeof lease, "%" PRId64, c->lease_ms);
    (void)snprintf(sharers, sizeof sharers, "%d", member->share.sharers);
    child_add(&command, program);
    child_add_option(&command, "--store", c->folder->store_uri);
    child_add_option(&command, "--run", c->folder->run.plan.id);
    child_add_option(&command, "--redis", c->redis_url);
    if (c->redis_password_file)
        child_add_option(&command, "--redis-password-file", c->redis_password_file);
    child_add_option(&command, "--worker", member->name);
    child_add_option(&command, "--threads", threads);
    child_add_option(&command, "--lease", lease);
    child_add_option(&command, "--memory", memory);
    child_add_option(&command, "--sharers", sharers);
    child_add_option(&command, "--times", times);
    if (run_folder_has_store(c->folder))
        child_add_option(&command, "--local-storage", NULL);
    if (c->debug)
        child_add(&command, "--debug");
    member->log_start = child_log_end(member->log_path);
    member->beat_ms = 0;
    return child_start(&command, member->log_path, -1, &member->pid, err);
}

static enum error_code failed_for_good(const struct crew_member *member, int status,
                                       const char *how, const char *words, struct error *err)
{
    return error_set(err, child_error_code(status), "%s %s: %s (log: %s)", member->name, how, words,
                     member->log_path);
}

/* Handles a worker that failed or could not be started: restarts it at once or later, or ends the
 * run. */
static enum error_code on_failure(struct stage_crew *crew, struct crew_member *member, int status,
                                  const char *how, const char *words, struct error *err)
{
    const int64_t units_done = crew->config.units_done(crew->config.context);
    int64_t pause_ms = 0;
    if (!child_restart_allowed(&member->restart, status, units_done, &pause_ms))
        return failed_for_good(member, status, how, words, err);
    log_warn("%s %s: %s; starting it again%s", member->name, how, words,
             pause_ms >= 500 ? " after a pause" : "");
    member->start_ms = clock_ms() + pause_ms;
    member->failed = true;
    return ERROR_NONE;
}

static enum error_code killed_for_memory(const struct stage_crew *crew,
                                         const struct crew_member *member, struct error *err)
{
    const struct memory_kill kill = {
        .program = member->name,
        .log = member->log_path,
        .budget_bytes = member->share.memory_bytes,
        .run_bytes = crew->run_bytes,
        .least_bytes = crew->least_bytes,
    };
    return memory_kill_error(&kill, err);
}

static enum error_code on_end(struct stage_crew *crew, struct crew_member *member, int status,
                              struct error *err)
{
    char how[CHILD_TEXT_SIZE], words[CHILD_TEXT_SIZE];
    const bool as_asked = member->is_renewed && child_error_code(status) == ERROR_UNAVAILABLE;
    member->pid = 0;
    member->is_renewed = false;
    member->finished = status == 0 || member->is_leaving;
    if (member->finished)
        return ERROR_NONE;
    if (as_asked) {
        member->start_ms = clock_ms();
        return ERROR_NONE;
    }
    if (memory_kill_explains(&crew->kills, status))
        return killed_for_memory(crew, member, err);
    child_status_text(status, how);
    child_last_words(member->log_path, member->log_start, words);
    return on_failure(crew, member, status, how, words, err);
}

/* Starts the worker now, or later if the host has no process to spare. */
static enum error_code start_or_wait(struct stage_crew *crew, struct crew_member *member,
                                     struct error *err)
{
    struct error why = {0};
    const enum error_code rc = start_member(crew, member, &why);
    return rc == ERROR_NONE ? rc
                            : on_failure(crew, member, error_exit_status(rc), "was not started",
                                         why.message, err);
}

/* Returns the number of threads of a worker. One core samples mini-batches fast enough for about
 * eighteen cores that train (tests/bench/README.md); sample, which draws one mini-batch on each
 * thread, gets one thread for every twelve. */
static int threads_of(const struct stage_row *stage, int shared)
{
    enum { TRAINING_THREADS_FOR_ONE = 12 };
    if (stage->threads == THREADS_SHARED)
        return shared;
    return stage->threads == THREADS_FEW ? 1 + shared / TRAINING_THREADS_FOR_ONE : 1;
}

/* Returns the worker's entry. A worker that was removed keeps its entry for a later return. */
static struct crew_member *member_of(struct stage_crew *crew, int stage, int number)
{
    for (int i = 0; i < crew->count; i++)
        if (crew->member[i].stage_index == stage && crew->member[i].number == number)
            return &crew->member[i];
    struct crew_member *member = &crew->member[crew->count++];
    *member = (struct crew_member){.stage_index = stage, .number = number};
    (void)snprintf(member->name, sizeof member->name, "%s-%d", stage_loop[stage].name, number);
    return member;
}

static enum error_code name_log(const struct stage_crew *crew, struct crew_member *member,
                                struct error *err)
{
    return file_path(member->log_path, err, "%s/logs/%s.log", crew->config.folder->path,
                     member->name);
}

static enum error_code add_member(struct stage_crew *crew, int stage, struct error *err)
{
    struct crew_member *member = member_of(crew, stage, crew->sets);
    must(member->pid == 0);
    member->finished = member->is_leaving = false;
    const enum error_code rc = name_log(crew, member, err);
    return rc == ERROR_NONE ? start_or_wait(crew, member, err) : rc;
}

enum error_code stage_crew_add_set(struct stage_crew *crew, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    const char *only = crew->config.only_stage;
    must(crew->sets < crew->config.workers);
    for (int i = 0; rc == ERROR_NONE && i < STAGE_LOOP_COUNT; i++)
        if (!only || strcmp(only, stage_loop[i].name) == 0)
            rc = add_member(crew, i, err);
    crew->sets++;
    return rc;
}

/* Asks the worker to end for good after its unit. */
static void take_back(struct crew_member *member)
{
    member->is_leaving = true;
    member->is_renewed = false;
    member->finished = member->pid == 0;
    if (member->pid > 0)
        (void)kill(member->pid, SIGTERM);
}

void stage_crew_take_back_set(struct stage_crew *crew)
{
    must(crew->sets > 1);
    crew->sets--;
    for (int i = 0; i < crew->count; i++)
        if (crew->member[i].number == crew->sets)
            take_back(&crew->member[i]);
}

/* Computes a stage's share of threads and memory for each of so many workers. */
static void share_out(struct stage_crew *crew, int stage, int workers, uint64_t memory_bytes)
{
    const int threads = crew->config.threads ? crew->config.threads : host_core_count();
    const int shared = threads > workers ? threads / workers : 1;
    crew->share[stage] = (struct crew_share){.threads = threads_of(&stage_loop[stage], shared),
                                             .sharers = workers,
                                             .memory_bytes = memory_bytes};
}

static bool same_share(const struct crew_share *a, const struct crew_share *b)
{
    return a->threads == b->threads && a->sharers == b->sharers &&
           a->memory_bytes == b->memory_bytes;
}

/* Makes sure that the worker runs with its stage's share. One that is about to end is started again
 * when it has ended. */
static enum error_code keep(struct stage_crew *crew, int stage, int number, struct error *err)
{
    const int before = crew->count;
    struct crew_member *member = member_of(crew, stage, number);
    const bool is_new = crew->count > before;
    if (member->pid > 0) {
        const bool same = same_share(&member->share, &crew->share[stage]);
        member->is_renewed = member->is_renewed || member->is_leaving || !same;
        member->is_leaving = false;
        if (member->is_renewed)
            (void)kill(member->pid, SIGTERM);
    } else if (is_new || member->is_leaving) {
        member->finished = member->is_leaving = false;
        member->start_ms = clock_ms();
    }
    return is_new ? name_log(crew, member, err) : ERROR_NONE;
}

enum error_code stage_crew_scale(struct stage_crew *crew, const int count[STAGE_LOOP_COUNT],
                                 const struct memory_shares *shares, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    crew->run_bytes = shares->run_bytes;
    crew->least_bytes = shares->least_bytes;
    for (int stage = 0; stage < STAGE_LOOP_COUNT; stage++) {
        must(count[stage] <= CREW_SIZE_MAX / STAGE_LOOP_COUNT);
        if (count[stage] > 0)
            share_out(crew, stage, count[stage], shares->worker_bytes[stage]);
        for (int number = 0; rc == ERROR_NONE && number < count[stage]; number++)
            rc = keep(crew, stage, number, err);
    }
    for (int i = 0; i < crew->count; i++)
        if (crew->member[i].number >= count[crew->member[i].stage_index] &&
            !crew->member[i].is_leaving)
            take_back(&crew->member[i]);
    return rc;
}

void stage_crew_count(const struct stage_crew *crew, int count[STAGE_LOOP_COUNT])
{
    memset(count, 0, STAGE_LOOP_COUNT * sizeof *count);
    for (int i = 0; i < crew->count; i++)
        count[crew->member[i].stage_index] += !crew->member[i].is_leaving;
}

bool stage_crew_is_settled(const struct stage_crew *crew)
{
    for (int i = 0; i < crew->count; i++) {
        const struct crew_member *member = &crew->member[i];
        if (member->is_leaving ? member->pid > 0 : !member->beat_ms)
            return false;
    }
    return true;
}

int stage_crew_size(const struct stage_crew *crew)
{
    int size = 0;
    for (int i = 0; i < crew->count; i++)
        size += !crew->member[i].is_leaving;
    return size;
}

enum error_code stage_crew_start(struct stage_crew *crew, const struct crew_config *config,
                                 struct error *err)
{
    enum error_code rc = ERROR_NONE;
    must(config->workers * STAGE_LOOP_COUNT <= CREW_SIZE_MAX);
    crew->config = *config;
    crew->run_bytes = config->shares->run_bytes;
    crew->least_bytes = config->shares->least_bytes;
    memory_kill_begin(&crew->kills);
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        share_out(crew, i, config->workers, config->shares->worker_bytes[i]);
    for (int i = 0; rc == ERROR_NONE && i < config->workers_at_start; i++)
        rc = stage_crew_add_set(crew, err);
    if (rc != ERROR_NONE)
        stage_crew_stop(crew);
    return rc;
}

static enum error_code start_again(struct stage_crew *crew, struct crew_member *member,
                                   struct error *err)
{
    crew->restarts += member->failed;
    member->failed = false;
    return start_or_wait(crew, member, err);
}

/* Returns whether any worker is about to end. The memory that it uses is not free before then. */
static bool someone_leaves(const struct stage_crew *crew)
{
    for (int i = 0; i < crew->count; i++)
        if (crew->member[i].pid > 0 && (crew->member[i].is_leaving || crew->member[i].is_renewed))
            return true;
    return false;
}

static enum error_code check_member(struct stage_crew *crew, struct crew_member *member,
                                    struct error *err)
{
    int word = 0;
    enum error_code rc = ERROR_NONE;
    if (member->pid > 0 && waitpid(member->pid, &word, WNOHANG) == member->pid)
        rc = on_end(crew, member, child_status(word), err);
    if (rc == ERROR_NONE && member->pid == 0 && !member->finished &&
        clock_ms() >= member->start_ms && !someone_leaves(crew))
        rc = start_again(crew, member, err);
    return rc;
}

enum error_code stage_crew_check(struct stage_crew *crew, bool *all_finished, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    *all_finished = true;
    memory_kill_look(&crew->kills);
    for (int i = 0; rc == ERROR_NONE && i < crew->count; i++) {
        rc = check_member(crew, &crew->member[i], err);
        *all_finished = *all_finished && crew->member[i].finished;
    }
    return rc;
}

static bool is_fresh(const struct worker_beat *beat)
{
    return beat->age_seconds * 1000.0 < CREW_FRESH_MS;
}

/* Returns whether the current process of the worker has sent a heartbeat lately. */
static bool has_fresh_beat(const struct crew_member *member, const struct worker_beat *beat,
                           int count)
{
    for (int i = 0; i < count; i++)
        if (is_fresh(&beat[i]) && beat[i].pid == member->pid &&
            strcmp(beat[i].worker, member->name) == 0)
            return true;
    return false;
}

/* A worker that never sent a heartbeat is still opening its data, which may take minutes, so it is
 * not killed. */
void stage_crew_heed_beats(struct stage_crew *crew, const struct worker_beat *beat, int count)
{
    const int64_t now = clock_ms();
    bool anyone = false;
    for (int i = 0; i < count; i++)
        anyone = anyone || is_fresh(&beat[i]);
    for (int i = 0; i < crew->count; i++) {
        struct crew_member *member = &crew->member[i];
        if (has_fresh_beat(member, beat, count))
            member->beat_ms = now;
        if (!anyone || member->pid <= 0 || !member->beat_ms ||
            now - member->beat_ms <= CREW_SILENCE_MS)
            continue;
        log_warn("%s gives no sign of life for %d s while others do; killing it", member->name,
                 CREW_SILENCE_MS / 1000);
        member->beat_ms = 0;
        (void)kill(member->pid, SIGKILL);
    }
}

void stage_crew_stop(struct stage_crew *crew)
{
    const int64_t until = clock_ms() + CHILD_STOP_MS;
    bool left = true;
    for (int i = 0; i < crew->count; i++)
        if (crew->member[i].pid > 0)
            (void)kill(crew->member[i].pid, SIGTERM);
    while (left) {
        left = false;
        for (int i = 0; i < crew->count; i++) {
            struct crew_member *member = &crew->member[i];
            if (member->pid > 0 && waitpid(member->pid, NULL, WNOHANG) != 0)
                member->pid = 0;
            if (member->pid > 0 && clock_ms() > until)
                (void)kill(member->pid, SIGKILL);
            left = left || member->pid > 0;
        }
        if (left)
            clock_sleep_ms(5);
    }
}
