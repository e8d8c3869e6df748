#include "store/records/round/gradient_range.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "store/records/parameter_values.h"
#include "store/records/round/encoded_values.h"

#include <inttypes.h>
#include <string.h>

enum { GRADIENT_RANGE_VERSION = 1, VALUES_TOGETHER = 16 };

static uint64_t start_of(uint64_t trained_count, int range_count, int range)
{
    const uint64_t count = (uint64_t)range_count, at = (uint64_t)range;
    const uint64_t share = trained_count / count, rest = trained_count % count;
    const uint64_t start = share * at + rest * at / count;
    return start - start % VALUES_TOGETHER; /* so that ranges begin where vectors do */
}

void gradient_range_bounds(uint64_t trained_count, uint64_t value_count, int range_count, int range,
                           uint64_t *first, uint64_t *end)
{
    *first = start_of(trained_count, range_count, range);
    *end = range + 1 < range_count ? start_of(trained_count, range_count, range + 1) : value_count;
}

/* --- put --- */

/* `encoded` of its values, the first of them. */
static enum error_code put_range(struct store *store, const char *run_id, const struct key *key,
                                 const struct gradient_range *range,
                                 const struct encoded_floats *encoded, struct error *err)
{
    const uint64_t place[2] = {range->first, range->value_count};
    const uint64_t counts[2] = {range->seed_count, range->correct_count};
    const double error[2] = {range->squared_error, range->squared_norm};
    struct record record = {.kind = RECORD_GRADIENT_RANGE, .version = GRADIENT_RANGE_VERSION};
    record_add(&record, "version", ELEMENT_U64, &range->weights_version, 1);
    record_add(&record, "range", ELEMENT_U64, place, 2);
    if (!range->sum)
        encoded_values_add(&record, range->value, range->count, encoded);
    else
        record_add(&record, "sum", ELEMENT_F64, range->sum, range->count);
    encoding_error_add(&record, error);
    if (range->statistics_count)
        record_add(&record, "statistics", ELEMENT_F64, range->statistics, range->statistics_count);
    record_add(&record, "counts", ELEMENT_U64, counts, 2);
    record_add(&record, "loss", ELEMENT_F64, &range->loss_sum, 1);
    return store_put(store, key->text, run_id, &record, STORE_RECOMPUTABLE, err);
}

enum error_code gradient_range_put(struct store *store, const char *run_id, const struct key *key,
                                   const struct gradient_range *range, struct error *err)
{
    static const struct encoded_floats none = {0};
    return put_range(store, run_id, key, range, &none, err);
}

/* Returns the encoded form of values [first, end). */
static struct encoded_floats slice(const struct encoded_floats *whole, uint64_t first, uint64_t end)
{
    struct encoded_floats part = {0};
    const uint64_t stop = end < whole->count ? end : whole->count;
    if (first < stop)
        (void)encoded_floats_slice(whole, first, stop - first, &part);
    return part;
}

enum error_code gradient_put_ranges(struct store *store, const char *run_id, int64_t round,
                                    int slot, const struct gradient *gradient,
                                    const struct gradient_form *form, int range_count,
                                    struct error *err)
{
    struct gradient rest = *gradient;
    struct encoded_floats whole;
    double error[2];
    enum error_code rc = encoded_values_make(gradient, form, round, slot, &whole, error, err);
    for (int i = 0; i < range_count && rc == ERROR_NONE; i++) {
        uint64_t first = 0, end = 0;
        gradient_range_bounds(form->encoded_count, gradient->value_count, range_count, i, &first,
                              &end);
        const struct key key = key_gradient_range(run_id, round, slot, i);
        const struct encoded_floats encoded = slice(&whole, first, end);
        const struct gradient_range range = {.weights_version = gradient->weights_version,
                                             .first = first,
                                             .count = end - first,
                                             .value_count = gradient->value_count,
                                             .value = gradient->value + first,
                                             .seed_count = gradient->seed_count,
                                             .correct_count = gradient->correct_count,
                                             .loss_sum = gradient->loss_sum,
                                             .squared_error = error[0],
                                             .squared_norm = error[1]};
        rc = put_range(store, run_id, &key, &range, &encoded, err);
    }
    encoded_floats_free(&whole);
    rest.value = NULL;
    rest.squared_error = rest.squared_norm = 0;
    return rc == ERROR_NONE ? gradient_put(store, run_id, round, slot, &rest, form, err) : rc;
}

/* --- get --- */

static enum error_code get_place(const struct record_view *view, struct gradient_range *r,
                                 struct error *err)
{
    const void *data = NULL;
    enum error_code rc = record_section_get(view, "version", ELEMENT_U64, 1, &data, NULL, err);
    if (rc == ERROR_NONE) {
        memcpy(&r->weights_version, data, sizeof r->weights_version);
        rc = record_section_get(view, "range", ELEMENT_U64, 2, &data, NULL, err);
    }
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t *place = data;
    r->first = place[0];
    r->value_count = place[1];
    return ERROR_NONE;
}

/* Sets values or sum, and their number. */
static enum error_code get_numbers(const struct record_view *view, struct gradient_range *r,
                                   struct value_sections *values, struct error *err)
{
    const void *sum = NULL;
    enum error_code rc = ERROR_NONE;
    if (record_has(view, "sum")) {
        rc = record_section_get(view, "sum", ELEMENT_F64, -1, &sum, &r->count, err);
        r->sum = sum;
        return rc;
    }
    rc = value_sections_get(view, r->first, values, err);
    r->value = values->value;
    r->count = values->encoded.count + values->value_count;
    return rc;
}

static enum error_code get_values(const struct record_view *view, struct gradient_range *r,
                                  struct value_sections *values, struct error *err)
{
    const void *data = NULL;
    enum error_code rc = get_numbers(view, r, values, err);
    if (rc != ERROR_NONE)
        return rc;
    if (r->first > r->value_count || r->count > r->value_count - r->first)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: section range: %" PRIu64 " values from value %" PRIu64
                         " on, expected at most the %" PRIu64 " of the gradient",
                         view->key, r->count, r->first, r->value_count);
    if (!record_has(view, "statistics"))
        return ERROR_NONE;
    rc = record_section_get(view, "statistics", ELEMENT_F64, -1, &data, &r->statistics_count, err);
    r->statistics = data;
    return rc;
}

/* Encoded values, as floats. */
static enum error_code decode_values(const struct value_sections *values, struct gradient_range *r,
                                     struct error *err)
{
    if (values->encoded.count == 0)
        return ERROR_NONE;
    const enum error_code rc =
        memory_new(&r->decoded, (size_t)r->count, "a range of a gradient", err);
    if (rc != ERROR_NONE)
        return rc;
    const double began = clock_seconds();
    value_sections_read(values, r->decoded);
    r->decode_seconds = clock_seconds() - began;
    r->value = r->decoded;
    return ERROR_NONE;
}

enum error_code gradient_range_decode(const struct record_view *view, struct gradient_range *out,
                                      struct error *err)
{
    struct gradient_range r = {0};
    struct value_sections values = {0};
    double error[2] = {0};
    enum error_code rc = record_expect(view, RECORD_GRADIENT_RANGE, GRADIENT_RANGE_VERSION, err);
    if (rc == ERROR_NONE)
        rc = get_place(view, &r, err);
    if (rc == ERROR_NONE)
        rc = get_values(view, &r, &values, err);
    if (rc == ERROR_NONE)
        rc = encoding_error_get(view, error, err);
    if (rc == ERROR_NONE)
        rc = seed_counts_get(view, &r.seed_count, &r.correct_count, &r.loss_sum, err);
    r.squared_error = error[0];
    r.squared_norm = error[1];
    if (rc == ERROR_NONE)
        rc = decode_values(&values, &r, err);
    if (rc == ERROR_NONE)
        *out = r;
    return rc;
}

static struct key key_of(const void *context, size_t index)
{
    const struct gradient_range_series *series = context;
    return series->key(series->context, index);
}

static enum error_code show(void *context, size_t index, struct record_view *view,
                            struct error *err)
{
    const struct gradient_range_series *series = context;
    struct gradient_range range = {0};
    enum error_code rc = gradient_range_decode(view, &range, err);
    if (rc != ERROR_NONE)
        return rc;
    range.view = *view;
    rc = series->visit(series->context, index, &range, err);
    memory_free(range.decoded);
    *view = range.view;
    return rc;
}

enum error_code gradient_range_get_each(struct store *store, const char *run_id,
                                        const struct gradient_range_series *series,
                                        struct error *err)
{
    struct gradient_range_series own = *series;
    const struct store_series all = {.owner_id = run_id,
                                     .count = series->count,
                                     .together = series->together,
                                     .key = key_of,
                                     .visit = show,
                                     .context = &own};
    return store_get_each(store, &all, err);
}

/* --- all of a gradient --- */

struct gathering {
    const char *run_id;
    int64_t round;
    int slot;
    const struct gradient *gradient;
    float *value;
    uint64_t filled;
};

static struct key key_of_range(const void *context, size_t index)
{
    const struct gathering *g = context;
    return key_gradient_range(g->run_id, g->round, g->slot, (int)index);
}

static enum error_code gather(void *context, size_t index, struct gradient_range *range,
                              struct error *err)
{
    struct gathering *g = context;
    (void)index;
    if (!range->value || range->first != g->filled ||
        range->value_count != g->gradient->value_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: values from %" PRIu64 " on of %" PRIu64
                         ", expected those from %" PRIu64 " on of %" PRIu64,
                         range->view.key, range->first, range->value_count, g->filled,
                         g->gradient->value_count);
    memcpy(g->value + g->filled, range->value, range->count * sizeof *g->value);
    g->filled += range->count;
    return ERROR_NONE;
}

enum error_code gradient_gather_ranges(struct store *store, const char *run_id, int64_t round,
                                       int slot, const struct gradient *gradient, int range_count,
                                       float *value, struct error *err)
{
    struct gathering g = {.run_id = run_id, .round = round, .slot = slot, .gradient = gradient};
    g.value = value;
    const struct gradient_range_series series = {
        .count = (size_t)range_count, .key = key_of_range, .visit = gather, .context = &g};
    const enum error_code rc = gradient_range_get_each(store, run_id, &series, err);
    if (rc != ERROR_NONE || g.filled == gradient->value_count)
        return rc;
    return error_set(err, ERROR_CORRUPT,
                     "record %s: its ranges have %" PRIu64 " values, expected %" PRIu64,
                     gradient->view.key, g.filled, gradient->value_count);
}
