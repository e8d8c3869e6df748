/*
 * Records of parameters.h and gradient.h that are needed together, and asked for at once.
 */
#include "store/objects/keys.h"
#include "store/records/parameter_values.h"
#include "store/records/round/gradient.h"
#include "store/records/round/parameters.h"

/* The state that all visits of a series share. */
struct series {
    const char *run_id;
    int64_t number; /* the round, or the version of the weights */
    struct weights *weights;
    struct optimizer_state *state;
    gradient_visitor visit_gradient;
    evaluation_visitor visit_evaluation;
    void *context;
};

/* --- weights and state --- */

static struct key key_of_version(const void *context, size_t index)
{
    const struct series *s = context;
    return index == 0 ? key_weights(s->run_id, s->number)
                      : key_optimizer_state(s->run_id, s->number);
}

/* The view stays with what was decoded. */
static enum error_code take_version(void *context, size_t index, struct record_view *view,
                                    struct error *err)
{
    const struct series *s = context;
    struct record_view *kept = index == 0 ? &s->weights->view : &s->state->view;
    enum error_code rc = index == 0 ? weights_decode(view, s->weights, err)
                                    : optimizer_state_decode(view, s->state, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(view, index == 0 ? s->weights->version : s->state->version,
                                     s->number, err);
    *(rc == ERROR_NONE ? view : kept) = (struct record_view){0}; /* one of the two owns it */
    return rc;
}

enum error_code parameters_get(struct store *store, const char *run_id, int64_t version,
                               struct weights *weights, struct optimizer_state *state,
                               struct error *err)
{
    struct series s = {.run_id = run_id, .number = version, .weights = weights, .state = state};
    const struct store_series series = {.owner_id = run_id,
                                        .count = 2,
                                        .key = key_of_version,
                                        .visit = take_version,
                                        .context = &s};
    *weights = (struct weights){0};
    *state = (struct optimizer_state){0};
    const enum error_code rc = store_get_each(store, &series, err);
    if (rc == ERROR_NONE)
        return rc;
    store_release_record(&weights->view);
    *weights = (struct weights){0};
    *state = (struct optimizer_state){0};
    return rc;
}

/* --- gradients --- */

static struct key key_of_gradient(const void *context, size_t slot)
{
    const struct series *s = context;
    return key_gradient(s->run_id, s->number, (int)slot);
}

static enum error_code show_gradient(void *context, size_t slot, struct record_view *view,
                                     struct error *err)
{
    const struct series *s = context;
    struct gradient gradient = {0};
    enum error_code rc = gradient_decode(view, &gradient, err);
    if (rc != ERROR_NONE)
        return rc;
    gradient.view = *view;
    *view = (struct record_view){0};
    rc = s->visit_gradient(s->context, (int)slot, &gradient, err);
    gradient_release(&gradient);
    return rc;
}

enum error_code gradient_get_each(struct store *store, const char *run_id, int64_t round,
                                  int slot_count, size_t together, gradient_visitor visit,
                                  void *context, struct error *err)
{
    struct series s = {
        .run_id = run_id, .number = round, .visit_gradient = visit, .context = context};
    const struct store_series series = {.owner_id = run_id,
                                        .count = (size_t)slot_count,
                                        .together = together,
                                        .key = key_of_gradient,
                                        .visit = show_gradient,
                                        .context = &s};
    return store_get_each(store, &series, err);
}

/* --- evaluations --- */

static struct key key_of_slot(const void *context, size_t slot)
{
    const struct series *s = context;
    return key_evaluation(s->run_id, s->number, (int)slot);
}

static enum error_code show_evaluation(void *context, size_t slot, struct record_view *view,
                                       struct error *err)
{
    const struct series *s = context;
    struct evaluation evaluation = {0};
    enum error_code rc = evaluation_decode(view, &evaluation, err);
    if (rc == ERROR_NONE)
        rc = parameter_version_check(view, evaluation.version, s->number, err);

    return rc == ERROR_NONE ? s->visit_evaluation(s->context, (int)slot, &evaluation, err) : rc;
}

enum error_code evaluation_get_each(struct store *store, const char *run_id, int64_t version,
                                    int slot_count, evaluation_visitor visit, void *context,
                                    struct error *err)
{
    struct series s = {
        .run_id = run_id, .number = version, .visit_evaluation = visit, .context = context};
    const struct store_series series = {.owner_id = run_id,
                                        .count = (size_t)slot_count,
                                        .key = key_of_slot,
                                        .visit = show_evaluation,
                                        .context = &s};
    return store_get_each(store, &series, err);
}
