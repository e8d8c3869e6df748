#include "store/records/parameters.h"

#include "store/objects/keys.h"
#include "store/records/embedding_rows.h"
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

/* "counts" and "loss", the same in a gradient and an evaluation. */
static enum error_code get_counts(const struct record_view *view, uint64_t *seed_count,
                                  uint64_t *correct_count, double *loss_sum, struct error *err)
{
    const void *counts = NULL, *loss = NULL;
    enum error_code rc = record_section_get(view, "counts", ELEMENT_U64, 2, &counts, NULL, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "loss", ELEMENT_F64, 1, &loss, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *count = counts;
    if (count[1] > count[0])
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section counts has %" PRIu64
                         " correct ones, expected at most the "
                         "%" PRIu64 " seeds",
                         view->key, count[1], count[0]);
    *seed_count = count[0];
    *correct_count = count[1];
    memcpy(loss_sum, loss, sizeof *loss_sum);
    return ERROR_NONE;
}

/* --- weights --- */

enum error_code weights_put(struct store *store, const char *run_id, const struct weights *weights,
                            struct error *err)
{
    struct record record = begin(RECORD_WEIGHTS, &weights->version);
    record_add(&record, "value", ELEMENT_F32, weights->value, weights->value_count);
    record_add(&record, "table", ELEMENT_U8, weights->table, weights->table_size);
    record_add(&record, "progress", ELEMENT_F64, weights->progress, PROGRESS_COUNT);
    return store_put(store, key_weights(run_id, (int64_t)weights->version).text, run_id, &record,
                     STORE_RECOMPUTABLE, err);
}

enum error_code weights_decode(const struct record_view *view, struct weights *out,
                               struct error *err)
{
    struct weights w = {0};
    enum error_code rc = expect(view, RECORD_WEIGHTS, &w.version, err);
    if (rc == ERROR_NONE)
        rc = parameter_values_get(view, "value", 0, &w.value, &w.value_count, err);
    if (rc == ERROR_NONE)
        rc = parameter_table_get(view, w.value_count, &w.table, &w.table_size, err);
    if (rc == ERROR_NONE)
        rc = parameter_progress_get(view, w.progress, PROGRESS_COUNT, err);
    if (rc == ERROR_NONE)
        *out = w;
    return rc;
}

enum error_code weights_get(struct store *store, const char *run_id, int64_t version,
                            struct weights *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc = store_get(store, key_weights(run_id, version).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = weights_decode(&view, out, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(&view, out->version, version, err);
    if (rc != ERROR_NONE)
        *out = (struct weights){0};
    return keep_view(rc, &view, &out->view);
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
        rc = parameter_values_get(view, "first", 0, &s.first, &s.value_count, err);
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

/* --- gradient --- */

enum { GROUP_TYPE, GROUP_WIDTH, GROUP_ROWS, GROUP_FIELDS };

/* `group` [group_count, GROUP_FIELDS] is filled, and borrowed by the record. */
static void add_rows(struct record *record, const struct gradient *g, uint32_t *group)
{
    uint64_t rows = 0, values = 0;
    for (int i = 0; i < g->group_count; i++) {
        const struct gradient_rows *of = &g->group[i];
        must(of->node == g->group[0].node + rows && of->gradient == g->group[0].gradient + values);
        group[i * GROUP_FIELDS + GROUP_TYPE] = of->type;
        group[i * GROUP_FIELDS + GROUP_WIDTH] = of->width;
        group[i * GROUP_FIELDS + GROUP_ROWS] = (uint32_t)of->count;
        rows += of->count;
        values += of->count * of->width;
    }
    if (g->group_count == 0)
        return;
    record_add(record, "row_node", ELEMENT_U32, g->group[0].node, rows);
    record_add(record, "row_gradient", ELEMENT_F32, g->group[0].gradient, values);
    if (g->group_count > 1 || g->group[0].type != 0)
        record_add(record, "row_group", ELEMENT_U32, group,
                   (uint64_t)g->group_count * GROUP_FIELDS);
}

enum error_code gradient_put(struct store *store, const char *run_id, int64_t round, int slot,
                             const struct gradient *gradient, struct error *err)
{
    const uint64_t counts[2] = {gradient->seed_count, gradient->correct_count};
    uint32_t group[RELATION_TYPE_COUNT_MAX * GROUP_FIELDS];
    struct record record = begin(RECORD_GRADIENT, &gradient->weights_version);
    record_add(&record, "value", ELEMENT_F32, gradient->value, gradient->value_count);
    record_add(&record, "counts", ELEMENT_U64, counts, 2);
    record_add(&record, "loss", ELEMENT_F64, &gradient->loss_sum, 1);
    add_rows(&record, gradient, group);
    return store_put(store, key_gradient(run_id, round, slot).text, run_id, &record,
                     STORE_RECOMPUTABLE, err);
}

const struct gradient_rows *gradient_rows_of(const struct gradient *gradient, uint32_t type)
{
    for (int i = 0; i < gradient->group_count; i++)
        if (gradient->group[i].type == type)
            return &gradient->group[i];
    return NULL;
}

/* Rows of one width, for nodes of type 0. */
static enum error_code take_plain_group(const struct record_view *view, uint64_t rows,
                                        uint64_t values, struct gradient *g, struct error *err)
{
    if (rows == 0 || values == 0 || values % rows || values / rows > UINT16_MAX + 1U)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section row_gradient has %" PRIu64
                         " values, expected rows of 1 to 65536 for each of %" PRIu64 " nodes",
                         view->key, values, rows);
    g->group_count = 1;
    g->group[0] = (struct gradient_rows){.width = (uint32_t)(values / rows), .count = rows};
    return ERROR_NONE;
}

static enum error_code take_groups(const struct record_view *view, uint64_t rows, uint64_t values,
                                   struct gradient *g, struct error *err)
{
    const void *data = NULL;
    uint64_t numbers = 0;
    const enum error_code rc =
        record_section_get(view, "row_group", ELEMENT_U32, -1, &data, &numbers, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *group = data;
    const uint64_t count = numbers / GROUP_FIELDS;
    uint64_t has_rows = 0, has_values = 0;
    bool valid = numbers % GROUP_FIELDS == 0 && count >= 1 && count <= RELATION_TYPE_COUNT_MAX;
    for (uint64_t i = 0; valid && i < count; i++, group += GROUP_FIELDS) {
        g->group[i] = (struct gradient_rows){
            .type = group[GROUP_TYPE], .width = group[GROUP_WIDTH], .count = group[GROUP_ROWS]};
        valid = group[GROUP_ROWS] >= 1 && group[GROUP_WIDTH] >= 1 &&
                group[GROUP_WIDTH] <= UINT16_MAX + 1U &&
                group[GROUP_TYPE] < RELATION_TYPE_COUNT_MAX &&
                (i == 0 || group[GROUP_TYPE] > g->group[i - 1].type);
        has_rows += g->group[i].count;
        has_values += g->group[i].count * g->group[i].width;
    }
    if (!valid || has_rows != rows || has_values != values)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section row_group has %" PRIu64 " numbers for %" PRIu64
                         " rows of %" PRIu64
                         " values in all, expected type, width and rows of each group, types "
                         "ascending",
                         view->key, numbers, rows, values);
    g->group_count = (int)count;
    return ERROR_NONE;
}

/* The sparse sections. */
static enum error_code get_sparse(const struct record_view *view, struct gradient *g,
                                  struct error *err)
{
    const void *node = NULL, *gradient = NULL;
    uint64_t rows = 0, values = 0;
    enum error_code rc = record_section_get(view, "row_node", ELEMENT_U32, -1, &node, &rows, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "row_gradient", ELEMENT_F32, -1, &gradient, &values, err);
    if (rc == ERROR_NONE)
        rc = record_has(view, "row_group") ? take_groups(view, rows, values, g, err)
                                           : take_plain_group(view, rows, values, g, err);
    const uint32_t *of_group = node;
    const float *gradient_of_group = gradient;
    for (int i = 0; rc == ERROR_NONE && i < g->group_count; i++) {
        struct gradient_rows *group = &g->group[i];
        group->node = of_group;
        group->gradient = gradient_of_group;
        of_group += group->count;
        gradient_of_group += group->count * group->width;
        rc = embedding_nodes_check(view, "row_node", group->node, group->count, err);
    }
    return rc;
}

enum error_code gradient_decode(const struct record_view *view, struct gradient *out,
                                struct error *err)
{
    struct gradient g = {0};
    const void *value = NULL;
    enum error_code rc = expect(view, RECORD_GRADIENT, &g.weights_version, err);
    if (rc == ERROR_NONE)
        rc = record_section_get(view, "value", ELEMENT_F32, -1, &value, &g.value_count, err);
    if (rc == ERROR_NONE)
        rc = get_counts(view, &g.seed_count, &g.correct_count, &g.loss_sum, err);
    if (rc != ERROR_NONE)
        return rc;
    if (g.value_count == 0)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section value has 0 values, expected at least 1", view->key);
    g.value = value;
    if (record_has(view, "row_node") || record_has(view, "row_gradient") ||
        record_has(view, "row_group"))
        rc = get_sparse(view, &g, err);
    if (rc == ERROR_NONE)
        *out = g;
    return rc;
}

enum error_code gradient_get(struct store *store, const char *run_id, int64_t round, int slot,
                             struct gradient *out, struct error *err)
{
    struct record_view view = {0};
    enum error_code rc =
        store_get(store, key_gradient(run_id, round, slot).text, run_id, &view, err);
    if (rc == ERROR_NONE)
        rc = gradient_decode(&view, out, err);
    if (rc != ERROR_NONE)
        *out = (struct gradient){0};
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
        rc = get_counts(view, &e.seed_count, &e.correct_count, &e.loss_sum, err);
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
