/* The units of infer: one layer's rows of one part, and the outputs. */
#include "stages/plan/chain/unit_row.h"

#include <inttypes.h>

/* Checks that the run ended with these weights: units of inference exist for no others. */
static enum error_code check_weights(const struct schedule *s, int64_t version,
                                     int64_t weights_version, struct error *err)
{
    const enum error_code rc = unit_check_version(s, version, err);
    if (rc != ERROR_NONE || weights_version < 0 || version == weights_version)
        return rc;
    return error_set(err, ERROR_INVALID,
                     "inference is with weights %" PRId64 " in this run, not with weights %" PRId64,
                     weights_version, version);
}

static enum error_code check_infer(const struct schedule *s, const struct unit *unit,
                                   int64_t weights_version, struct error *err)
{
    const enum error_code rc = check_weights(s, unit->round, weights_version, err);
    if (rc != ERROR_NONE)
        return rc;
    const int32_t first = schedule_first_layer(s);
    if (s->infers_some)
        return error_set(
            err, ERROR_INVALID,
            "inference of some nodes has no layers of their own: their outputs are one unit");
    if (unit->layer < first || unit->layer > s->layer_count)
        return error_set(err, ERROR_INVALID,
                         "there is no layer %" PRId32 ": there are layers %" PRId32 " to %" PRId32,
                         unit->layer, first, s->layer_count);
    return unit_check_number(unit->slot, s->part_count, "part", err);
}

/* Returns whether outputs read layer 0: events are computed from the rows that layer 1 reads, if
 * these are learnable rows. */
static bool outputs_read_layer_0(const struct schedule *s)
{
    return s->shows_history && schedule_first_layer(s) == 0;
}

/* Returns the lower of the last two layers: one has the logits, the other the embeddings. */
static int32_t first_layer_of_outputs(const struct schedule *s)
{
    return s->layer_count > 1 ? s->layer_count - 1 : s->layer_count;
}

static enum error_code infer_waits_for(const struct schedule *s, const struct unit *unit,
                                       int64_t last_version, struct unit_list *out,
                                       struct error *err)
{
    if (unit->layer == schedule_first_layer(s))
        return unit_list_add_slots(out, UNIT_CHECKPOINT, last_version, 1, err);
    return unit_list_add_layer(out, s, unit->round, unit->layer - 1, err);
}

static enum error_code infer_sets_free(const struct schedule *s, const struct unit *unit,
                                       int64_t weights_version, struct unit_list *out,
                                       struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)weights_version;
    if (unit->layer < s->layer_count)
        rc = unit_list_add_layer(out, s, unit->round, unit->layer + 1, err);
    if (rc == ERROR_NONE &&
        (unit->layer >= first_layer_of_outputs(s) || (unit->layer == 0 && outputs_read_layer_0(s))))
        rc = unit_list_add_slots(out, UNIT_OUTPUTS, unit->round, 1, err);
    return rc;
}

static struct key infer_output(const struct schedule *s, const char *run_id,
                               const struct unit *unit)
{
    (void)s;
    return key_infer(run_id, unit->round, unit->layer, unit->slot, "shard_seal");
}

static struct key infer_artifact(const struct schedule *s, const char *run_id,
                                 const struct unit *unit)
{
    (void)s;
    return key_infer(run_id, unit->round, unit->layer, unit->slot, "shard");
}

static int32_t infer_slot_count(const struct schedule *s, int64_t version)
{
    (void)version;
    return s->part_count;
}

static bool infer_is_covered(const struct schedule *s, const struct chain_state *state,
                             const struct unit *unit)
{
    (void)s;
    return state->finished && unit->round == state->weights_version;
}

const struct unit_row infer_unit = {
    .name = "infer",
    .stage = "infer",
    .line = LINE_WEIGHTS,
    .has_layer = true,
    .has_slot = true,
    .reads_embeddings = true,
    .replay_option = "layer",
    .folder = "infer",
    .check = check_infer,
    .waits_for = infer_waits_for,
    .sets_free = infer_sets_free,
    .output = infer_output,
    .slot_count = infer_slot_count,
    .artifact = infer_artifact,
    .is_covered = infer_is_covered,
};

static enum error_code check_outputs(const struct schedule *s, const struct unit *unit,
                                     int64_t weights_version, struct error *err)
{
    return check_weights(s, unit->round, weights_version, err);
}

static enum error_code outputs_waits_for(const struct schedule *s, const struct unit *unit,
                                         int64_t last_version, struct unit_list *out,
                                         struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (s->infers_some)
        return unit_list_add_slots(out, UNIT_CHECKPOINT, last_version, 1, err);
    if (outputs_read_layer_0(s))
        rc = unit_list_add_layer(out, s, unit->round, 0, err);
    for (int32_t layer = first_layer_of_outputs(s); layer <= s->layer_count && rc == ERROR_NONE;
         layer++)
        rc = unit_list_add_layer(out, s, unit->round, layer, err);
    return rc;
}

static struct key outputs_output(const struct schedule *s, const char *run_id,
                                 const struct unit *unit)
{
    return key_outputs_seal(run_id, unit->round, s->outputs_tag);
}

static struct key outputs_artifact(const struct schedule *s, const char *run_id,
                                   const struct unit *unit)
{
    return key_outputs(run_id, unit->round, s->outputs_tag);
}

static bool outputs_is_covered(const struct schedule *s, const struct chain_state *state,
                               const struct unit *unit)
{
    (void)s, (void)state, (void)unit;
    return false;
}

const struct unit_row outputs_unit = {
    .name = "outputs",
    .stage = "infer",
    .line = LINE_WEIGHTS,
    .folder = "outputs",
    .check = check_outputs,
    .waits_for = outputs_waits_for,
    .output = outputs_output,
    .artifact = outputs_artifact,
    .is_covered = outputs_is_covered,
};
