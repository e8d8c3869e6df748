#include "store/records/parameters.h"

#include "store/objects/keys.h"
#include "store/records/parameter_values.h"

#include <inttypes.h>
#include <string.h>

enum { PARAMETERS_FORMAT = 3 };

/* --- what the four kinds share --- */

static struct record begin(enum record_kind kind, const uint64_t *version)
{
    struct record record = {.kind = kind, .version = PARAMETERS_FORMAT};
    record_add(&record, "version", ELEMENT_U64, version, 1);
    return record;
}

static enum error_code expect(const struct record_view *view, enum record_kind kind,
                              uint64_t *version, struct error *err)
{
    const void *data = NULL;
    enum error_code rc = record_expect(view, kind, PARAMETERS_FORMAT, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "version", ELEMENT_U64, 1, &data, NULL, err);
    if (rc == ERROR_NONE)
        memcpy(version, data, sizeof *version);
    return rc;
}

/* The end of every get: the view goes to the caller, or is given back after a failure. */
static enum error_code keep_view(enum error_code rc, struct record_view *view,
                                 struct record_view *kept)
{
    if (rc == ERROR_NONE)
        *kept = *view;
    else
        store_release_record(view);
    return rc;
}

/* --- weights --- */

static enum error_code put_weights(struct store *store, struct key key, const char *run_id,
                                   const struct weights *weights, enum store_durability durability,
                                   struct error *err)
{
    struct record record = begin(RECORD_WEIGHTS, &weights->version);
    record_add(&record, "value", ELEMENT_F32, weights->value, weights->value_count);
    record_add(&record, "table", ELEMENT_U8, weights->table, weights->table_size);
    record_add(&record, "progress", ELEMENT_F64, weights->progress, PROGRESS_COUNT);
    return store_put(store, key.text, run_id, &record, durability, err);
}

enum error_code weights_put(struct store *store, const char *run_id, const struct weights *weights,
                            struct error *err)
{
    return put_weights(store, key_weights(run_id, (int64_t)weights->version), run_id, weights,
                       STORE_RECOMPUTABLE, err);
}

enum error_code initial_weights_put(struct store *store, const char *run_id,
                                    const struct weights *weights, struct error *err)
{
    const struct key key = key_initial_weights(run_id);
    const enum error_code rc =
        put_weights(store, key, run_id, weights, STORE_RECOMPUTABLE, err); /* mends a damaged one */
    return rc == ERROR_NONE ? store_flush(store, key.text, err) : rc;
}

enum error_code weights_decode(const struct record_view *view, struct weights *out,
                               struct error *err)
{
    struct weights w = {0};
    enum error_code rc = expect(view, RECORD_WEIGHTS, &w.version, err);
    if (rc == ERROR_NONE)
        rc = parameter_values_get(view, "value", ANY_VALUE_COUNT, &w.value, &w.value_count, err);
    if (rc == ERROR_NONE)
        rc = parameter_table_get(view, w.value_count, &w.table, &w.table_size, err);
    if (rc == ERROR_NONE)
        rc = parameter_progress_get(view, w.progress, PROGRESS_COUNT, err);
    if (rc == ERROR_NONE)
        *out = w;
    return rc;
}

static enum error_code get_weights(struct store *store, struct key key, const char *run_id,
                                   int64_t version, struct weights *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, key.text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = weights_decode(&view, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&view, out->version, version, err);
    if (rc != ERROR_NONE)
        *out = (struct weights){0};
    return keep_view(rc, &view, &out->view);
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

enum error_code optimizer_state_put(struct store *store, const char *run_id,
                                    const struct optimizer_state *state, struct error *err)
{
    struct record record = begin(RECORD_OPTIMIZER_STATE, &state->version);
    record_add(&record, "step", ELEMENT_U64, &state->step, 1);
    record_add(&record, "first", ELEMENT_F32, state->first, state->value_count);
    if (state->second)
        record_add(&record, "second", ELEMENT_F32, state->second, state->value_count);
    if (state->rounds)
        record_add(&record, "rounds", ELEMENT_F64, state->rounds,
                   state->round_count * PROGRESS_COUNT);
    return store_put(store, key_optimizer_state(run_id, (int64_t)state->version).text, run_id,
                     &record, STORE_RECOMPUTABLE, err);
}

enum error_code optimizer_state_decode(const struct record_view *view, struct optimizer_state *out,
                                       struct error *err)
{
    struct optimizer_state s = {0};
    const void *step = NULL;
    uint64_t second_count = 0;
    enum error_code rc = expect(view, RECORD_OPTIMIZER_STATE, &s.version, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "step", ELEMENT_U64, 1, &step, NULL, err);
    if (rc == ERROR_NONE)
        rc = parameter_values_get(view, "first", ANY_VALUE_COUNT, &s.first, &s.value_count, err);
    if (rc == ERROR_NONE && record_has(view, "second"))
        rc = parameter_values_get(view, "second", s.value_count, &s.second, &second_count, err);
    if (rc == ERROR_NONE)
        rc = parameter_rounds_get(view, PROGRESS_COUNT, &s.rounds, &s.round_count, err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(&s.step, step, sizeof s.step);
    *out = s;
    return ERROR_NONE;
}

enum error_code optimizer_state_get(struct store *store, const char *run_id, int64_t version,
                                    struct optimizer_state *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc =
        store_get(store, key_optimizer_state(run_id, version).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = optimizer_state_decode(&view, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&view, out->version, version, err);
    if (rc != ERROR_NONE)
        *out = (struct optimizer_state){0};
    return keep_view(rc, &view, &out->view);
}

/* --- evaluation --- */

enum error_code evaluation_put(struct store *store, const char *run_id, int slot,
                               const struct evaluation *evaluation, struct error *err)
{
    const uint64_t counts[2] = {evaluation->seed_count, evaluation->correct_count};
    struct record record = begin(RECORD_EVALUATION, &evaluation->version);
    record_add(&record, "loss", ELEMENT_F64, &evaluation->loss_sum, 1);
    record_add(&record, "counts", ELEMENT_U64, counts, 2);
    record_add(&record, "tally", ELEMENT_F64, evaluation->tally, evaluation->tally_size);
    if (evaluation->score_count) {
        record_add(&record, "score", ELEMENT_F32, evaluation->score, evaluation->score_count);
        record_add(&record, "truth", ELEMENT_U8, evaluation->truth, evaluation->score_count);
    }
    return store_put(store, key_evaluation(run_id, (int64_t)evaluation->version, slot).text, run_id,
                     &record, STORE_RECOMPUTABLE, err);
}

static enum error_code get_tally(const struct record_view *view, struct evaluation *e,
                                 struct error *err)
{
    const void *data = NULL;
    const enum error_code rc =
        record_section_get(view, "tally", ELEMENT_F64, -1, &data, &e->tally_size, err);
    if (rc == ERROR_NONE && e->tally_size == 0)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section tally has 0 counts, expected at least 1", view->key);
    e->tally = data;
    return rc;
}

static enum error_code get_scores(const struct record_view *view, struct evaluation *e,
                                  struct error *err)
{
    const void *score = NULL, *truth = NULL;
    uint64_t count = 0;
    enum error_code rc = record_section_get(view, "score", ELEMENT_F32, -1, &score, &count, err);
    if (rc == ERROR_NONE && count > INT64_MAX)
        rc = error_set(err, ERROR_CORRUPT, "record %s: section score is too long", view->key);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "truth", ELEMENT_U8, (int64_t)count, &truth, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    e->score = score;
    e->truth = truth;
    e->score_count = count;
    for (uint64_t i = 0; i < count; i++)
        if (e->truth[i] > 1)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: section truth, value %" PRIu64 " is %d, expected 0 or 1",
                             view->key, i, e->truth[i]);
    return ERROR_NONE;
}

enum error_code evaluation_decode(const struct record_view *view, struct evaluation *out,
                                  struct error *err)
{
    struct evaluation e = {0};
    enum error_code rc = expect(view, RECORD_EVALUATION, &e.version, err);
    if (rc == ERROR_NONE)
        rc = seed_counts_get(view, &e.seed_count, &e.correct_count, &e.loss_sum, err);
    if (rc == ERROR_NONE)
        rc = get_tally(view, &e, err);
    if (rc == ERROR_NONE && record_has(view, "score"))
        rc = get_scores(view, &e, err);
    if (rc == ERROR_NONE)
        *out = e;
    return rc;
}

enum error_code evaluation_get(struct store *store, const char *run_id, int64_t version, int slot,
                               struct evaluation *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc =
        store_get(store, key_evaluation(run_id, version, slot).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = evaluation_decode(&view, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&view, out->version, version, err);
    if (rc != ERROR_NONE)
        *out = (struct evaluation){0};
    return keep_view(rc, &view, &out->view);
}
