#include "pipelines/run/run_preview.h"

#include "common/base/json.h"
#include "common/base/memory.h"
#include "pipelines/shared/child_process.h"
#include "pipelines/shared/warm_start.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/model/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum preview_stage { PREVIEW_INGEST, PREVIEW_PARTITION, PREVIEW_TRAIN, PREVIEW_INFER };
enum { PREVIEW_STAGES = PREVIEW_INFER + 1, WHY_SIZE = SETTING_CHANGES_SIZE + 2 * ID_SIZE };

static const char *const stage_names[PREVIEW_STAGES] = {[PREVIEW_INGEST] = "ingest",
                                                        [PREVIEW_PARTITION] = "partition",
                                                        [PREVIEW_TRAIN] = "train",
                                                        [PREVIEW_INFER] = "infer"};

struct preview {
    struct pipeline_options *options;
    struct run_folder folder;  /* closed if it does not exist yet */
    struct run_binding newest; /* empty if no run was started */
    struct run_binding run;    /* empty if it was not started */
    char dataset_id[ID_SIZE], partition_id[ID_SIZE], run_id[ID_SIZE];
    bool runs[PREVIEW_STAGES];
    char why[PREVIEW_STAGES][WHY_SIZE];
};

static void say(struct preview *p, enum preview_stage stage, bool runs, const char *format, ...)
    PRINTF_LIKE(4, 5);

static void say(struct preview *p, enum preview_stage stage, bool runs, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->runs[stage] = runs;
    (void)vsnprintf(p->why[stage], WHY_SIZE, format, args);
    va_end(args);
}

/* Returns in which parts the settings differ. The path of the data is not a difference if the data
 * are the same. */
static unsigned parts_that_differ(const struct run_binding *newest, const char *dataset_id,
                                  const char *partition_id)
{
    return (strcmp(newest->book.dataset_id, dataset_id) != 0 ? SETTING_OF_DATASET : 0) |
           (strcmp(newest->plan.partition_id, partition_id) != 0 ? SETTING_OF_PARTITION : 0) |
           SETTING_OF_TRAINING | SETTING_OF_TARGET;
}

/* Prints that a stage has to run, because of the changed settings or of `otherwise`. All later
 * stages run, too. */
static void say_runs(struct preview *p, enum preview_stage stage, unsigned parts,
                     const char *otherwise)
{
    char changes[SETTING_CHANGES_SIZE] = "";
    if (p->newest.plan.id[0])
        (void)pipeline_settings_changes(&p->newest.settings, &p->options->settings, parts, changes);
    say(p, stage, true, "%s", changes[0] ? changes : otherwise);
    for (int later = (int)stage + 1; later < PREVIEW_STAGES; later++)
        say(p, (enum preview_stage)later, true, "%s runs", stage_names[later - 1]);
}

/* --- stage by stage; *done: there is nothing left to look at --- */

/* Asks graphmill-ingest, which reads the input, whether it has changed. */
static enum error_code ask_ingest(struct preview *p, bool *unchanged, struct error *err)
{
    static const char known[] = "unchanged ", answer[] = "dataset=";
    char program[FILE_PATH_SIZE], line[CHILD_TEXT_SIZE];
    struct child_command command = {0};
    int status = 0;
    enum error_code rc = child_program("ingest", program, err);
    child_add(&command, program);
    child_add_option(&command, "--dry-run", NULL);
    child_add_option(&command, "--log-level", "2");
    child_add_option(&command, "--store", p->folder.store_uri);
    child_add_option(&command, "--pipeline", p->options->file);
    for (int i = 0; i < p->options->set.count; i++)
        child_add_option(&command, "--set", p->options->set.item[i]);
    if (rc == ERROR_NONE)
        rc = child_run(&command, NULL, line, &status, err);
    if (rc != ERROR_NONE)
        return rc;
    *unchanged = strncmp(line, known, sizeof known - 1) == 0;
    const char *id = line + (*unchanged ? sizeof known - 1 : 0);
    if (status != 0 || strncmp(id, answer, sizeof answer - 1) != 0)
        return error_set(err, status ? child_error_code(status) : ERROR_BUG,
                         "graphmill-ingest --dry-run ended with status %d", status);
    (void)snprintf(p->dataset_id, sizeof p->dataset_id, "%s", id + sizeof answer - 1);
    return ERROR_NONE;
}

static enum error_code look_at_ingest(struct preview *p, bool *done, struct error *err)
{
    bool unchanged = false;
    const enum error_code rc = ask_ingest(p, &unchanged, err);
    *done = !unchanged;
    if (rc == ERROR_NONE && unchanged)
        say(p, PREVIEW_INGEST, false, "unchanged");
    else if (rc == ERROR_NONE)
        say_runs(p, PREVIEW_INGEST, SETTING_OF_DATASET, "this input was not read here before");
    return rc;
}

static enum error_code look_at_partition(struct preview *p, bool *done, struct error *err)
{
    bool found = false;
    enum error_code rc = identity_partition(p->folder.store, &p->options->settings, p->dataset_id,
                                            p->partition_id, err);
    if (rc == ERROR_NONE)
        rc = store_has(p->folder.store, key_partition(p->partition_id, "book").text, &found, err);
    *done = !found;
    if (rc == ERROR_NONE && found)
        say(p, PREVIEW_PARTITION, false, "unchanged");
    else if (rc == ERROR_NONE)
        say_runs(p, PREVIEW_PARTITION,
                 SETTING_OF_PARTITION |
                     (parts_that_differ(&p->newest, p->dataset_id, "") & SETTING_OF_DATASET),
                 "this dataset was not partitioned here before");
    return rc;
}

static void say_new_run(struct preview *p, const struct run_plan *plan)
{
    char why[WHY_SIZE];
    say_runs(p, PREVIEW_TRAIN, parts_that_differ(&p->newest, p->dataset_id, p->partition_id),
             "nothing was trained on this here before");
    memcpy(why, p->why[PREVIEW_TRAIN], sizeof why);
    if (plan->first_version > 0)
        say(p, PREVIEW_TRAIN, true, "%.*s (a new run, from round %" PRId64 " of run %s on)",
            SETTING_CHANGES_SIZE, why, plan->first_version, plan->origin);
    else
        say(p, PREVIEW_TRAIN, true, "%.*s (a new run)", SETTING_CHANGES_SIZE, why);
}

static void say_infer(struct preview *p, const struct chain_state *state)
{
    if (!state->finished)
        say_runs(p, PREVIEW_INFER, SETTING_OF_OUTPUTS, "the outputs are not there");
    else
        say(p, PREVIEW_INFER, false, "nothing: run %s is finished", p->run_id);
}

/* Examines the run that the settings would start. Its plan does not exist yet, so the schedule is
 * made from the settings. */
static enum error_code look_at_started(struct preview *p, struct error *err)
{
    struct chain_state state = {0};
    struct schedule schedule;
    enum error_code rc = run_open(p->folder.store, p->run_id, &p->run, err);
    if (rc == ERROR_NONE)
        rc = run_schedule(&schedule, &p->options->settings, &p->run.book, err);
    if (rc == ERROR_NONE)
        rc = chain_state_read(&schedule, p->folder.store, p->run_id, &state, err);
    if (rc == ERROR_NONE && !state.finished)
        rc = run_check_environment(&p->run, run_core_type(&p->options->settings), err);
    if (rc != ERROR_NONE)
        return rc;
    if (state.stopped) {
        say(p, PREVIEW_TRAIN, false, "unchanged");
        say_infer(p, &state);
        return ERROR_NONE;
    }
    say_runs(p, PREVIEW_TRAIN, 0, "");
    say(p, PREVIEW_TRAIN, true, "run %s goes on from round %" PRId64 " of %" PRId64, p->run_id,
        state.snapshot_version > 0 ? state.snapshot_version : 0, schedule.round_count);
    return ERROR_NONE;
}

static enum error_code look_at_run(struct preview *p, struct error *err)
{
    struct run_plan plan = {0};
    bool started = false;
    const enum error_code rc =
        run_plan_of(p->folder.store, &p->options->settings, p->partition_id, &plan, &started, err);
    memcpy(p->run_id, plan.id, sizeof p->run_id);
    if (rc != ERROR_NONE)
        return rc;
    if (started)
        return look_at_started(p, err);
    say_new_run(p, &plan);
    return ERROR_NONE;
}

/* --- all of it --- */

static enum error_code open_folder(struct preview *p, bool *found, struct error *err)
{
    char path[FILE_PATH_SIZE], uri[FILE_PATH_SIZE], newest[ID_SIZE];
    enum error_code rc = pipeline_folder_path(p->options, path, err);
    if (rc == ERROR_NONE)
        rc = run_folder_store_uri(path, p->options->store, uri, found, err);
    if (rc != ERROR_NONE || !(*found || p->options->store))
        return rc;
    rc = run_folder_open_store(&p->folder, uri, STORE_READ_ONLY, err);
    *found = rc == ERROR_NONE;
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE && run_newest(p->folder.store, newest, NULL) == ERROR_NONE &&
        run_open(p->folder.store, newest, &p->newest, NULL) != ERROR_NONE)
        run_close(&p->newest); /* a damaged run gives no reasons */
    return rc;
}

/* Names the run by the weights that it begins with. */
static enum error_code name_initial(struct preview *p, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct warm_start *warm = NULL;
    enum error_code rc = pipeline_folder_path(p->options, path, err);
    if (rc == ERROR_NONE)
        rc = warm_start_open(&p->options->settings, p->options->file, path, &warm, err);
    warm_start_close(warm);
    return rc;
}

static enum error_code look(struct preview *p, struct error *err)
{
    bool found = false, done = false;
    enum error_code rc = open_folder(p, &found, err);
    if (rc == ERROR_NONE)
        rc = name_initial(p, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!found) {
        say_runs(p, PREVIEW_INGEST, 0, "nothing is here yet");
        return ERROR_NONE;
    }
    rc = look_at_ingest(p, &done, err);
    if (rc == ERROR_NONE && !done)
        rc = look_at_partition(p, &done, err);
    return rc == ERROR_NONE && !done ? look_at_run(p, err) : rc;
}

static void print_text(const struct preview *p)
{
    for (int i = 0; i < PREVIEW_STAGES; i++)
        printf("%-10s %s%s\n", stage_names[i], p->runs[i] ? "runs: " : "", p->why[i]);
}

static enum error_code print_json(const struct preview *p, struct error *err)
{
    struct json_writer json = {0};
    json_open_object(&json, NULL);
    if (p->run_id[0])
        json_put_string(&json, "run", p->run_id);
    json_open_array(&json, "stages");
    for (int i = 0; i < PREVIEW_STAGES; i++) {
        json_open_object(&json, NULL);
        json_put_string(&json, "stage", stage_names[i]);
        json_put_bool(&json, "runs", p->runs[i]);
        json_put_string(&json, "why", p->why[i]);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    const enum error_code rc = json_writer_finish(&json, err);
    if (rc == ERROR_NONE)
        printf("%s\n", json.text);
    json_writer_release(&json);
    return rc;
}

enum error_code run_preview(struct pipeline_options *options, struct error *err)
{
    struct preview *p = NULL;
    enum error_code rc = memory_new(&p, 1, "the preview", err);
    if (rc != ERROR_NONE)
        return rc;
    p->options = options;
    rc = look(p, err);
    if (rc == ERROR_NONE && options->json)
        rc = print_json(p, err);
    else if (rc == ERROR_NONE)
        print_text(p);
    run_close(&p->newest);
    run_close(&p->run);
    run_folder_close(&p->folder);
    memory_free(p);
    return rc;
}

void run_preview_tell(const struct run_binding *newest, const struct run_binding *run)
{
    const unsigned parts = parts_that_differ(newest, run->book.dataset_id, run->plan.partition_id) |
                           SETTING_OF_OUTPUTS;
    char changes[SETTING_CHANGES_SIZE];
    const bool is_new = strcmp(newest->plan.id, run->plan.id) != 0;
    if (!newest->plan.id[0])
        return;
    if (pipeline_settings_changes(&newest->settings, &run->settings, parts, changes))
        (void)fprintf(stderr, "%-10s %s%s%s\n", is_new ? "other run" : "same run", changes,
                      is_new ? ", against run " : "", is_new ? newest->plan.id : "");
    else if (is_new)
        (void)fprintf(stderr, "%-10s the input is not that of run %s\n", "other run",
                      newest->plan.id);
    if (is_new && run->plan.first_version > 0)
        (void)fprintf(stderr, "%-10s begun from round %" PRId64 " of run %s\n", "",
                      run->plan.first_version, run->plan.origin);
}
