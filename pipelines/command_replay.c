/*
 * replay - one unit of work again, from stored records, compared with what is stored.
 *
 * The stage's own program does it, with a store that compares instead of writing.
 */
#include "common/base/options.h"
#include "pipelines/child_process.h"
#include "pipelines/commands.h"
#include "pipelines/run_folder.h"
#include "stages/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct replay_options {
    const char *run;
    int64_t round, slot, layer, part, threads;
    uint64_t memory;
    bool evaluation, json, initial;
};

/* clang-format off */
#define AT(field) offsetof(struct replay_options, field)
static const struct option_spec option_table[] = {
    {"round", OPTION_INT, AT(round), "0", 0, INT64_MAX / 2, "R", "sample, train-step, aggregate: the round; checkpoint, --evaluation: the weights' version"},
    {"slot", OPTION_INT, AT(slot), "0", 0, 65535, "K", "sample, train-step: the slot"},
    {"evaluation", OPTION_FLAG, AT(evaluation), NULL, 0, 0, NULL, "sample, train-step: the validation batch or result of that slot"},
    {"initial", OPTION_FLAG, AT(initial), NULL, 0, 0, NULL, "aggregate: the first weights"},
    {"layer", OPTION_INT, AT(layer), "0", 0, 1000, "L", "infer: the layer, from 1; 0: the outputs"},
    {"part", OPTION_INT, AT(part), "0", 0, 65535, "P", "infer: the part"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID", "which run, when the folder has several (default: the newest)"},
    {"threads", OPTION_INT, AT(threads), "0", 0, 1024, "N", "threads; 0: one a core"},
    {"memory", OPTION_BYTES, AT(memory), NULL, 0, 0, "SIZE", "memory budget"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

static enum error_code unit_of(const char *stage, const struct replay_options *o, struct unit *out,
                               struct error *err)
{
    *out = (struct unit){.round = o->round, .slot = (int32_t)o->slot};
    if (strcmp(stage, "ingest") == 0)
        *out = (struct unit){.kind = UNIT_INGEST};
    else if (strcmp(stage, "partition") == 0)
        *out = (struct unit){.kind = UNIT_PARTITION};
    else if (strcmp(stage, "sample") == 0)
        out->kind = o->evaluation ? UNIT_SAMPLE_EVALUATION : UNIT_SAMPLE;
    else if (strcmp(stage, "train-step") == 0)
        out->kind = o->evaluation ? UNIT_EVALUATE : UNIT_TRAIN_STEP;
    else if (strcmp(stage, "aggregate") == 0)
        out->kind = o->initial ? UNIT_INITIALISE : UNIT_AGGREGATE;
    else if (strcmp(stage, "checkpoint") == 0)
        out->kind = UNIT_CHECKPOINT;
    else if (strcmp(stage, "infer") == 0)
        *out = (struct unit){.kind = o->layer ? UNIT_INFER : UNIT_OUTPUTS,
                             .layer = (int32_t)o->layer,
                             .slot = o->layer ? (int32_t)o->part : 0};
    else
        return error_set(err, ERROR_USAGE,
                         "'%s' is no stage; expected ingest, partition, sample, train-step, "
                         "aggregate, checkpoint or infer",
                         stage);
    return ERROR_NONE;
}

static enum error_code replay_unit(const struct run_folder *folder, const struct unit *unit,
                                   const struct replay_options *o, struct error *err)
{
    char program[FILE_PATH_SIZE], name[UNIT_NAME_SIZE], line[CHILD_TEXT_SIZE];
    char threads[16], memory[24];
    struct child_command command = {0};
    int status = 0;
    enum error_code rc = child_program(unit_stage(unit->kind), program, err);
    if (rc != ERROR_NONE)
        return rc;
    unit_name(unit, name);
    (void)snprintf(threads, sizeof threads, "%" PRId64, o->threads);
    (void)snprintf(memory, sizeof memory, "%" PRIu64, o->memory);
    child_add(&command, program);
    child_add_option(&command, "--store", folder->store_uri);
    child_add_option(&command, "--run", folder->run.plan.id);
    child_add_option(&command, "--replay", name);
    child_add_option(&command, "--threads", threads);
    child_add_option(&command, "--log-level", "2");
    if (o->memory)
        child_add_option(&command, "--memory", memory);
    child_add_option(&command, "--local-storage", NULL);
    rc = child_run(&command, NULL, line, &status, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t word = strcspn(line, " ");
    if (o->json)
        printf("{\"unit\":\"%s\",\"verdict\":\"%.*s\",\"status\":%d}\n", name,
               line[0] ? (int)word : 5, line[0] ? line : "ERROR", status);
    else if (line[0])
        printf("%s\n", line);
    if (status != 0)
        return error_set(err, child_error_code(status), "replay of %s ended with status %d", name,
                         status);
    return ERROR_NONE;
}

enum error_code command_replay(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct replay_options options = {0};
    struct option_list rest = {0};
    struct unit unit;
    if (options_want_help(argc, argv)) {
        printf("graphmill replay RUN STAGE [options] - compute one unit again and compare\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 2)
        rc = error_set(err, ERROR_USAGE, "graphmill replay takes a run's folder and a stage");
    if (rc == ERROR_NONE)
        rc = unit_of(rest.item[1], &options, &unit, err);
    if (rc == ERROR_NONE)
        rc = run_folder_open(&folder, rest.item[0], options.run, err);
    if (rc == ERROR_NONE)
        rc = replay_unit(&folder, &unit, &options, err);
    run_folder_close(&folder);
    return rc;
}
