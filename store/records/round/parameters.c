#include "store/records/round/parameters.h"

#include "store/records/parameter_values.h"
#include "store/records/section_table.h"

/* --- weights --- */

static enum error_code check_table(const struct record_view *view, void *out, struct error *err)
{
    const struct weights *w = out;
    return parameter_table_check(view, w->table, w->table_size, w->value_count, err);
}

#define SECTION_STRUCT struct weights
static const struct section_row weights_rows[] = {
    {SECTION_VALUE("version", U64, version)},
    {SECTION_ARRAY("value", F32, value), .sets = AT(value_count), .checks = SECTION_FINITE},
    {SECTION_ARRAY("table", U8, table), .sets = AT(table_size), .read = check_table},
    {SECTION_VALUE("progress", F64, progress), .checks = SECTION_FINITE},
};
static const struct section_table weights_table = SECTION_TABLE(RECORD_WEIGHTS, 3, 3, weights_rows);
#undef SECTION_STRUCT

enum error_code weights_put(struct store *store, const char *run_id, const struct weights *weights,
                            struct error *err)
{
    return section_table_put(store, &weights_table,
                             key_weights(run_id, (int64_t)weights->version).text, run_id, weights,
                             STORE_RECOMPUTABLE, err);
}

enum error_code initial_weights_put(struct store *store, const char *run_id,
                                    const struct weights *weights, struct error *err)
{
    const struct key key = key_initial_weights(run_id);
    const enum error_code rc = section_table_put(store, &weights_table, key.text, run_id, weights,
                                                 STORE_RECOMPUTABLE, err); /* mends a damaged one */
    return rc == ERROR_NONE ? store_flush(store, key.text, err) : rc;
}

enum error_code weights_decode(const struct record_view *view, struct weights *out,
                               struct error *err)
{
    return section_table_decode(&weights_table, view, out, err);
}

static enum error_code get_weights(struct store *store, struct key key, const char *run_id,
                                   int64_t version, struct weights *out, struct error *err)
{
    enum error_code rc = section_table_get(store, &weights_table, key.text, run_id, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&out->view, out->version, version, err);
    return section_table_keep(&weights_table, rc, out);
}

enum error_code weights_get(struct store *store, const char *run_id, int64_t version,
                            struct weights *out, struct error *err)
{
    return get_weights(store, key_weights(run_id, version), run_id, version, out, err);
}

enum error_code initial_weights_get(struct store *store, const char *run_id, struct weights *out,
                                    struct error *err)
{
    return get_weights(store, key_initial_weights(run_id), run_id, 0, out, err);
}

/* --- optimizer_state --- */

#define SECTION_STRUCT struct optimizer_state
static const struct section_row state_rows[] = {
    {SECTION_VALUE("version", U64, version)},
    {SECTION_VALUE("step", U64, step)},
    {SECTION_ARRAY("first", F32, first), .sets = AT(value_count), .checks = SECTION_FINITE},
    {SECTION_ARRAY("second", F32, second), .count = AT(value_count), .if_there = true,
     .checks = SECTION_FINITE},
    {SECTION_ARRAY("rounds", F64, rounds), .sets = AT(round_count), .unit = PROGRESS_COUNT,
     .least = 1, .if_there = true, .checks = SECTION_FINITE},
};
static const struct section_table state_table =
    SECTION_TABLE(RECORD_OPTIMIZER_STATE, 3, 3, state_rows);
#undef SECTION_STRUCT

enum error_code optimizer_state_put(struct store *store, const char *run_id,
                                    const struct optimizer_state *state, struct error *err)
{
    return section_table_put(store, &state_table,
                             key_optimizer_state(run_id, (int64_t)state->version).text, run_id,
                             state, STORE_RECOMPUTABLE, err);
}

enum error_code optimizer_state_decode(const struct record_view *view, struct optimizer_state *out,
                                       struct error *err)
{
    return section_table_decode(&state_table, view, out, err);
}

enum error_code optimizer_state_get(struct store *store, const char *run_id, int64_t version,
                                    struct optimizer_state *out, struct error *err)
{
    enum error_code rc = section_table_get(
        store, &state_table, key_optimizer_state(run_id, version).text, run_id, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&out->view, out->version, version, err);
    return section_table_keep(&state_table, rc, out);
}

/* --- evaluation --- */

static enum error_code check_counts(const struct record_view *view, void *out, struct error *err)
{
    const struct evaluation *e = out;
    return seed_counts_check(view, e->seed_count, e->correct_count, err);
}

#define SECTION_STRUCT struct evaluation
static const struct section_row evaluation_rows[] = {
    {SECTION_VALUE("version", U64, version)},
    {SECTION_VALUE("loss", F64, loss_sum)},
    {SECTION_VALUES("counts", U64, seed_count, correct_count), .read = check_counts},
    {SECTION_ARRAY("tally", F64, tally), .sets = AT(tally_size), .least = 1},
    {SECTION_ARRAY("score", F32, score), .sets = AT(score_count), .when = AT(score_count),
     .if_there = true},
    {SECTION_ARRAY("truth", U8, truth), .count = AT(score_count), .when = AT(score_count),
     .behind = 2},
};
static const struct section_table evaluation_table =
    SECTION_TABLE(RECORD_EVALUATION, 3, 3, evaluation_rows);

enum error_code evaluation_put(struct store *store, const char *run_id, int slot,
                               const struct evaluation *evaluation, struct error *err)
{
    return section_table_put(store, &evaluation_table,
                             key_evaluation(run_id, (int64_t)evaluation->version, slot).text,
                             run_id, evaluation, STORE_RECOMPUTABLE, err);
}

enum error_code evaluation_decode(const struct record_view *view, struct evaluation *out,
                                  struct error *err)
{
    return section_table_decode(&evaluation_table, view, out, err);
}

enum error_code evaluation_get(struct store *store, const char *run_id, int64_t version, int slot,
                               struct evaluation *out, struct error *err)
{
    enum error_code rc = section_table_get(
        store, &evaluation_table, key_evaluation(run_id, version, slot).text, run_id, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&out->view, out->version, version, err);
    return section_table_keep(&evaluation_table, rc, out);
}
