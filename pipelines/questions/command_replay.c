/*
 * replay - computes one unit of work again from stored records, and compares the result with the
 * stored one.
 *
 * The stage's own program does the work, with a store that compares instead of writing.
 */
#include "common/base/json.h"
#include "common/base/options.h"
#include "pipelines/shared/child_process.h"
#include "pipelines/shared/commands.h"
#include "pipelines/shared/run_folder.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/unit_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct replay_options {
    const char *run, *store;
    int64_t round, slot, pass, layer, part, sum, threads;
    uint64_t memory;
    bool evaluation, json, initial, seal, walks;
};

/* Stands for a number that was not given: the newest stored unit is taken. */
enum { NOT_GIVEN = -1 };

/* clang-format off */
#define AT(field) offsetof(struct replay_options, field)
static const struct option_spec option_table[] = {
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "instead of RUN: the store that has the run"},
    {"round", OPTION_INT, AT(round), NULL, 0, INT64_MAX / 2, "R",
     "sample, train-step, aggregate: the round; checkpoint, --evaluation, --seal: the weights' "
     "version (default: the newest that is stored)"},
    {"slot", OPTION_INT, AT(slot), NULL, 0, INT32_MAX, "K",
     "sample, train-step: the slot (default: 0)"},
    {"pass", OPTION_INT, AT(pass), NULL, 0, 1000, "N",
     "train-step: with train-step.pipeline: layers, a pass of that slot's step, forward or "
     "backward, from 1; without it, the gradient"},
    {"evaluation", OPTION_FLAG, AT(evaluation), NULL, 0, 0, NULL,
     "sample, train-step: the validation batch or result of that slot"},
    {"walks", OPTION_FLAG, AT(walks), NULL, 0, 0, NULL, "sample: the counts of GraphSAINT's walks"},
    {"initial", OPTION_FLAG, AT(initial), NULL, 0, 0, NULL, "aggregate: the first weights"},
    {"sum", OPTION_INT, AT(sum), NULL, 0, INT32_MAX, "N",
     "aggregate: a sum of gradients: with aggregate.ranges one for each range, from 0 on; with "
     "aggregate.fan_in level after level"},
    {"seal", OPTION_FLAG, AT(seal), NULL, 0, 0, NULL,
     "train-step: the embeddings of a shard in a version of the weights (--round) of which there "
     "is a snapshot"},
    {"layer", OPTION_INT, AT(layer), NULL, 0, 1000, "L",
     "infer: the layer, from 1, with embeddings from 0 (default: the outputs)"},
    {"part", OPTION_INT, AT(part), NULL, 0, INT32_MAX, "P",
     "infer: the part; --seal: the shard (default: 0)"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "which run, when the folder has several (default: the newest)"},
    {"threads", OPTION_INT, AT(threads), "0", 0, 1024, "N", "threads; 0: one a core"},
    {"memory", OPTION_BYTES, AT(memory), NULL, 0, 0, "SIZE", "memory budget"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

/* Returns the option that selects the kind of unit of a stage; NULL if none was given. */
static const char *chosen_by(const struct replay_options *o)
{
    if (o->layer >= 0 || o->pass >= 0)
        return o->layer >= 0 ? "layer" : "pass";
    if (o->seal)
        return "seal";
    if (o->walks || o->sum >= 0)
        return o->walks ? "walks" : "sum";
    return o->evaluation ? "evaluation" : o->initial ? "initial" : NULL;
}

static bool is_chosen(const struct unit_row *row, const char *option)
{
    return option && row->replay_option ? strcmp(option, row->replay_option) == 0
                                        : option == row->replay_option;
}

static enum error_code kind_of(const char *stage, const struct replay_options *o,
                               enum unit_kind *out, struct error *err)
{
    const char *option = chosen_by(o);
    for (*out = UNIT_UNKNOWN + 1; *out < UNIT_KIND_COUNT; ++*out) {
        const struct unit_row *row = unit_row_of(*out);
        if (strcmp(stage, row->stage) == 0 && is_chosen(row, option))
            return ERROR_NONE;
    }
    if (option && unit_of_stage(stage) != UNIT_UNKNOWN)
        return error_set(err, ERROR_USAGE, "a unit of %s has no --%s", stage, option);
    char names[STAGE_NAMES_SIZE];
    stage_list_names(names);
    return error_set(err, ERROR_USAGE, "'%s' is no stage; expected %s", stage, names);
}

/* --- numbers --- */

static bool has_round(enum unit_kind kind)
{
    const enum unit_line line = unit_row_of(kind)->line;
    return line == LINE_ROUNDS || line == LINE_VERSIONS;
}

/* Returns a round, or version of the weights, for which nothing exists yet. Mini-batches are made
 * furthest ahead. */
static int64_t beyond(const struct schedule *s, const struct chain_state *state)
{
    const int64_t next = schedule_snapshot_at_or_after(s, state->snapshot_version + 1);
    const int64_t ahead = next + s->run_ahead + 2;
    return ahead < s->round_count ? ahead : s->round_count + 1;
}

/* Finds the newest round for which the record of the unit's kind and slot is stored. */
static enum error_code find_newest(const struct run_folder *folder, const struct chain_state *state,
                                   struct unit *unit, struct error *err)
{
    const struct schedule *schedule = &folder->run.schedule;
    bool found = false, any = false;
    enum error_code rc = ERROR_NONE;
    for (unit->round = beyond(schedule, state); rc == ERROR_NONE && !found && unit->round > 0;) {
        unit->round--;
        if (chain_check_unit(schedule, unit, -1, NULL) != ERROR_NONE)
            continue;
        any = true;
        const struct key key = chain_output_key(schedule, folder->run.plan.id, unit);
        rc = store_has(folder->store, key.text, &found, err);
    }
    if (rc != ERROR_NONE || found)
        return rc;
    if (!any) { /* no round has such a record */
        rc = chain_check_unit(schedule, unit, -1, err);
        return rc == ERROR_INVALID ? error_context(err, ERROR_USAGE, "replay") : rc;
    }
    return error_set(err, ERROR_NOT_FOUND,
                     "no unit of this kind is stored: pruned, or not made yet "
                     "(checkpoint.keep: 0 keeps every record)");
}

/* Sets the version of an inference unit: the weights that the run ended with, the only ones that
 * are used for inference. */
static enum error_code set_version(const struct chain_state *state, struct unit *unit,
                                   struct error *err)
{
    if (!state->stopped)
        return error_set(err, ERROR_NOT_FOUND, "the run has not ended: nothing is inferred yet");
    unit->round = state->weights_version;
    return ERROR_NONE;
}

/* Returns the number that follows the round; each kind of unit has its own name for it. */
static int64_t slot_of(const struct unit_row *row, const struct replay_options *o)
{
    if (row->line == LINE_WEIGHTS || o->seal)
        return o->part;
    return o->sum >= 0 ? o->sum : o->slot;
}

static enum error_code choose_unit(const struct run_folder *folder, const struct replay_options *o,
                                   struct unit *unit, struct error *err)
{
    const struct run_binding *run = &folder->run;
    const struct unit_row *row = unit_row_of(unit->kind);
    const int64_t slot = slot_of(row, o);
    struct chain_state state = {0};
    enum error_code rc = ERROR_NONE;
    if (!row->check) /* a unit that precedes the run */
        return ERROR_NONE;
    unit->slot = slot == NOT_GIVEN ? 0 : (int32_t)slot;
    unit->layer = row->has_layer ? (int32_t)(o->pass >= 0 ? o->pass : o->layer) : 0;
    rc = chain_state_read(&run->schedule, folder->store, run->plan.id, &state, err);
    if (rc == ERROR_NONE && has_round(unit->kind)) {
        unit->round = o->round;
        if (o->round == NOT_GIVEN)
            rc = find_newest(folder, &state, unit, err);
    } else if (rc == ERROR_NONE && row->line == LINE_WEIGHTS) {
        rc = set_version(&state, unit, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    rc = chain_check_unit(&run->schedule, unit, state.weights_version, err);
    return rc == ERROR_INVALID ? error_context(err, ERROR_USAGE, "replay") : rc;
}

/* --- the stage's program --- */

/* Prints the verdict, which is the first word of the program's answer: MATCH or DIFFERS. */
static enum error_code print_json(const char *unit, char *line, int status, struct error *err)
{
    struct json_writer json = {0};
    line[strcspn(line, " ")] = '\0';
    json_open_object(&json, NULL);
    json_put_string(&json, "unit", unit);
    json_put_string(&json, "verdict", line[0] ? line : "ERROR");
    json_put_int64(&json, "status", status);
    json_close_object(&json);
    return json_writer_print(&json, err);
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
    if (run_folder_has_store(folder))
        child_add_option(&command, "--local-storage", NULL);
    rc = child_run(&command, NULL, line, &status, err);
    if (rc != ERROR_NONE)
        return rc;
    if (o->json)
        rc = print_json(name, line, status, err);
    else if (line[0])
        printf("%s\n", line);
    if (rc != ERROR_NONE)
        return rc;
    if (status != 0)
        return error_set(err, child_error_code(status), "replay of %s ended with status %d", name,
                         status);
    return ERROR_NONE;
}

enum error_code command_replay(int argc, char **argv, struct error *err)
{
    static struct run_folder folder;
    struct replay_options options = {.round = NOT_GIVEN,
                                     .slot = NOT_GIVEN,
                                     .pass = NOT_GIVEN,
                                     .layer = NOT_GIVEN,
                                     .part = NOT_GIVEN,
                                     .sum = NOT_GIVEN};
    struct option_list rest = {0};
    struct unit unit = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill replay RUN|--store URI STAGE [options] - compute one unit again and "
               "compare\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = run_folder_word(&rest, options.store, err);
    if (rc == ERROR_NONE && rest.count == 1)
        rest.item[rest.count++] = "train-step";
    if (rc == ERROR_NONE && rest.count != 2)
        rc = error_set(err, ERROR_USAGE,
                       "graphmill replay takes a run's folder, or --store, and a stage (default: "
                       "train-step)");
    if (rc == ERROR_NONE)
        rc = kind_of(rest.item[1], &options, &unit.kind, err);
    if (rc == ERROR_NONE)
        rc = run_folder_open(&folder, rest.item[0], options.run, err);
    if (rc == ERROR_NONE)
        rc = choose_unit(&folder, &options, &unit, err);
    if (rc == ERROR_NONE)
        rc = replay_unit(&folder, &unit, &options, err);
    run_folder_close(&folder);
    return rc;
}
