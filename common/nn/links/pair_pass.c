#include "common/nn/links/pair_pass.h"

#include "common/math/blas.h"
#include "common/nn/operators/partial_sums.h"

#include <string.h>

enum { ROWS_AT_A_TIME = 16, SHARED_LEAST = 16, SHARED_ROWS = 64 };

/* ---- which pairs ---- */

static uint32_t relation_of(const struct pair_rows *pairs, size_t positive)
{
    return pairs->relation ? pairs->relation[positive] : 0;
}

/* Returns the end that a positive and its negatives share. */
static enum pair_end shared_end(const struct pair_rows *pairs, size_t positive)
{
    return corrupts_source(pairs->corrupt, positive) ? PAIR_TARGET : PAIR_SOURCE;
}

static uint32_t shared_row(const struct pair_rows *pairs, size_t positive)
{
    return shared_end(pairs, positive) == PAIR_SOURCE ? pairs->source[positive]
                                                      : pairs->target[positive];
}

/* Returns a pointer to the row index of the other end of a positive. */
static const uint32_t *other_of(const struct pair_rows *pairs, size_t positive)
{
    return shared_end(pairs, positive) == PAIR_SOURCE ? &pairs->target[positive]
                                                      : &pairs->source[positive];
}

static size_t first_negative(const struct pair_rows *pairs, size_t positive)
{
    return pairs->positive_count + positive * pairs->negatives_each;
}

static void make_query(const struct decoder *decoder, const struct pair_rows *pairs,
                       size_t positive, float *query)
{
    decoder->type->prepare(decoder, shared_end(pairs, positive), relation_of(pairs, positive),
                           pairs->row + shared_row(pairs, positive) * (size_t)decoder->dim, query);
}

bool pair_rows_share_negatives(const struct pair_rows *pairs, bool counts)
{
    const size_t each = pairs->negatives_each;
    if (each < SHARED_LEAST || pairs->positive_count < SHARED_LEAST)
        return false;
    if (counts)
        return true;
    const uint32_t *first = pairs->target + pairs->positive_count;
    for (size_t i = 1; i < pairs->positive_count; i++)
        if (memcmp(first + i * each, first, each * sizeof *first) != 0)
            return false;
    return true;
}

static bool is_product(const struct decoder *decoder, const struct pair_rows *pairs)
{
    return pairs->shares_negatives && decoder->type->is_product && decoder->outputs == 1;
}

/* Copies the rows of the shared negatives next to each other. */
static enum error_code gather_shared(const struct decoder *decoder, const struct pair_rows *pairs,
                                     struct arena *arena, float **out, struct error *err)
{
    const size_t dim = decoder->dim;
    const enum error_code rc =
        arena_new(arena, out, pairs->negatives_each * dim, "the rows of shared negatives", err);
    for (size_t k = 0; rc == ERROR_NONE && !arena->counts && k < pairs->negatives_each; k++)
        memcpy(*out + k * dim, pairs->row + pairs->target[pairs->positive_count + k] * dim,
               dim * sizeof **out);
    return rc;
}

/* ---- scores ---- */

struct scoring {
    const struct decoder *decoder;
    const struct pair_rows *pairs;
    float *room; /* [threads, query and scratch] */
    float *score;
    float *shared, *query; /* for a product: [negatives, dim] and [positives, dim] */
};

static size_t room_of(const struct decoder *decoder)
{
    return decoder_query(decoder) + decoder_scratch(decoder->dim);
}

static void score_positive(void *context, int64_t i, int thread)
{
    const struct scoring *scoring = context;
    const struct decoder *decoder = scoring->decoder;
    const struct pair_rows *pairs = scoring->pairs;
    float *query = scoring->room + (size_t)thread * room_of(decoder),
          *scratch = query + decoder_query(decoder);
    const size_t own = (size_t)i, first = first_negative(pairs, own), outputs = decoder->outputs;
    const enum pair_end end = shared_end(pairs, own);
    make_query(decoder, pairs, own, query);
    decoder->type->score(decoder, end, query, pairs->row, other_of(pairs, own), 1,
                         scoring->score + own * outputs, scratch);
    decoder->type->score(decoder, end, query, pairs->row, pairs->target + first,
                         pairs->negatives_each, scoring->score + first * outputs, scratch);
}

/* Computes the scores of SHARED_ROWS positives with the shared negatives. */
static void score_tile(void *context, int64_t tile, int thread)
{
    const struct scoring *s = context;
    const struct pair_rows *pairs = s->pairs;
    const size_t dim = s->decoder->dim, each = pairs->negatives_each;
    const size_t first = (size_t)tile * SHARED_ROWS, left = pairs->positive_count - first;
    const size_t count = left < SHARED_ROWS ? left : SHARED_ROWS;
    float *scratch = s->room + (size_t)thread * room_of(s->decoder);
    for (size_t i = first; i < first + count; i++) {
        make_query(s->decoder, pairs, i, s->query + i * dim);
        s->decoder->type->score(s->decoder, shared_end(pairs, i), s->query + i * dim, pairs->row,
                                other_of(pairs, i), 1, s->score + i, scratch);
    }
    blas_product(BLAS_NT, matrix_view_of(s->query + first * dim, count, dim),
                 matrix_view_of(s->shared, each, dim), false,
                 s->score + first_negative(pairs, first), each);
}

static enum error_code score_shared(struct scoring *s, struct arena *arena,
                                    struct thread_pool *pool, struct error *err)
{
    const struct pair_rows *pairs = s->pairs;
    enum error_code rc = gather_shared(s->decoder, pairs, arena, &s->shared, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &s->query, pairs->positive_count * (size_t)s->decoder->dim,
                       "the queries of pairs", err);
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, ((int64_t)pairs->positive_count + SHARED_ROWS - 1) / SHARED_ROWS,
                        score_tile, s);
    return rc;
}

/* Threads write `score`. NOLINTBEGIN(readability-non-const-parameter) */
enum error_code pair_pass_scores(const struct decoder *decoder, const struct pair_rows *pairs,
                                 struct arena *arena, struct thread_pool *pool, float *score,
                                 struct error *err)
{
    struct scoring scoring = {.decoder = decoder, .pairs = pairs, .score = score};
    const enum error_code rc =
        arena_new(arena, &scoring.room, (size_t)thread_pool_size(pool) * room_of(decoder),
                  "the scores of pairs", err);
    if (rc == ERROR_NONE && is_product(decoder, pairs))
        return score_shared(&scoring, arena, pool, err);
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, pairs->positive_count, score_positive, &scoring);
    return rc;
}

/* NOLINTEND(readability-non-const-parameter) */

/* ---- the backward pass ---- */

/* The pairs sorted by row: those of row r are item[start[r] .. start[r + 1]), in their order. */
struct pair_lists {
    uint32_t *start; /* [rows + 1] */
    uint32_t *item;
};

struct way_back {
    const struct decoder *decoder;
    const struct pair_rows *pairs;
    const float *score_gradient;
    struct partial_sums sums; /* of the gradients of the parameters, one after the other */
    size_t parameter_first[DECODER_PARAMETER_COUNT_MAX + 1];
    int parameter_count;
    float *query; /* [positives, decoder_query()] */
    /* [positives, dim]: gradients of the rows that queries are computed from */
    float *shared_gradient;
    float *kept; /* [pairs, dim] if the decoder keeps rows */
    float *room; /* [threads, gradient of a query and scratch] */
    struct pair_lists shared, other;
    float *row_gradient;
    float *negative, *negative_gradient; /* for a product: [negatives, dim] */
    float *of_negatives;                 /* [threads, rows of a tile, dim]: gradients of queries */
};

/* Computes the gradients of a positive. `of_negatives` is the gradient that the query gets from
 * shared negatives; NULL: negatives are not shared. */
static void back_of_positive(const struct way_back *w, size_t i, const float *of_negatives,
                             float *const *parameter, float *room)
{
    const struct decoder *decoder = w->decoder;
    const struct pair_rows *pairs = w->pairs;
    const size_t dim = decoder->dim, wide = decoder_query(decoder),
                 first = first_negative(pairs, i);
    float *scratch = room + wide;
    struct decoder_back back = {.decoder = decoder,
                                .end = shared_end(pairs, i),
                                .query = w->query + i * wide,
                                .other = pairs->row,
                                .gradient = w->score_gradient + i * decoder->outputs,
                                .query_gradient = room,
                                .parameter_gradient = parameter,
                                .kept = w->kept ? w->kept + i * dim : NULL};
    make_query(decoder, pairs, i, w->query + i * wide);
    if (of_negatives)
        memcpy(room, of_negatives, wide * sizeof *room);
    else
        memset(room, 0, wide * sizeof *room);
    decoder->type->score_back(&back, other_of(pairs, i), 1, scratch);
    back.gradient = w->score_gradient + first * decoder->outputs;
    back.kept = w->kept ? w->kept + first * dim : NULL;
    if (!of_negatives)
        decoder->type->score_back(&back, pairs->target + first, pairs->negatives_each, scratch);
    decoder->type->prepare_back(decoder, back.end, relation_of(pairs, i),
                                pairs->row + shared_row(pairs, i) * dim, back.query_gradient,
                                w->shared_gradient + i * dim, parameter);
}

static void back_of_tile(void *context, const struct partial_sums_tile *tile)
{
    const struct way_back *w = context;
    float *parameter[DECODER_PARAMETER_COUNT_MAX] = {NULL};
    float *room = w->room + (size_t)tile->thread * room_of(w->decoder);
    if (tile->fresh)
        memset(tile->sum, 0, w->sums.size * sizeof *tile->sum);
    for (int p = 0; p < w->parameter_count; p++)
        parameter[p] = tile->sum + w->parameter_first[p];
    const size_t dim = w->decoder->dim, each = w->pairs->negatives_each;
    const size_t count = tile->end - tile->first;
    float *of_negatives = NULL;
    if (w->negative) {
        of_negatives = w->of_negatives + (size_t)tile->thread * w->sums.tile_rows * dim;
        blas_product(
            BLAS_NN,
            matrix_view_of(w->score_gradient + first_negative(w->pairs, tile->first), count, each),
            matrix_view_of(w->negative, each, dim), false, of_negatives, dim);
    }
    for (uint32_t i = tile->first; i < tile->end; i++)
        back_of_positive(w, i, of_negatives ? of_negatives + (i - tile->first) * dim : NULL,
                         parameter, room);
}

/* Computes the gradients of SHARED_ROWS shared negatives, from all queries. */
static void back_of_shared(void *context, int64_t tile, int thread)
{
    const struct way_back *w = context;
    const size_t dim = w->decoder->dim, each = w->pairs->negatives_each;
    const size_t first = (size_t)tile * SHARED_ROWS, left = each - first;
    const struct matrix_view slope = {.value = w->score_gradient + w->pairs->positive_count + first,
                                      .rows = w->pairs->positive_count,
                                      .cols = left < SHARED_ROWS ? left : SHARED_ROWS,
                                      .stride = each};
    (void)thread;
    blas_product(BLAS_TN, slope, matrix_view_of(w->query, w->pairs->positive_count, dim), false,
                 w->negative_gradient + first * dim, dim);
}

static void back_of_row(const struct way_back *w, uint32_t row)
{
    const struct decoder *decoder = w->decoder;
    const struct pair_rows *pairs = w->pairs;
    const size_t dim = decoder->dim;
    float *gradient = w->row_gradient + row * dim;
    for (uint32_t k = w->shared.start[row]; k < w->shared.start[row + 1]; k++)
        decoder_add_scaled(gradient, w->shared_gradient + w->shared.item[k] * dim, 1, dim);
    for (uint32_t k = w->other.start[row]; k < w->other.start[row + 1]; k++) {
        const size_t pair = w->other.item[k];
        if (w->negative && pair >= pairs->positive_count) {
            const float *shared = w->negative_gradient + (pair - pairs->positive_count) * dim;
            decoder_add_scaled(gradient, shared, 1, dim);
            continue;
        }
        const size_t positive = pair < pairs->positive_count
                                    ? pair
                                    : (pair - pairs->positive_count) / pairs->negatives_each;
        const float *slope = w->score_gradient + pair * decoder->outputs;
        if (decoder_is_sloped(slope, decoder->outputs))
            decoder->type->other_back(
                decoder, shared_end(pairs, positive), w->query + positive * decoder_query(decoder),
                pairs->row + row * dim, slope, w->kept ? w->kept + pair * dim : NULL, gradient);
    }
}

static void back_of_rows(void *context, int64_t tile, int thread)
{
    const struct way_back *w = context;
    const uint32_t first = (uint32_t)(tile * ROWS_AT_A_TIME), left = w->pairs->row_count - first;
    (void)thread;
    for (uint32_t i = 0; i < (left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME); i++)
        back_of_row(w, first + i);
}

static uint32_t row_of_shared(const struct pair_rows *pairs, size_t i)
{
    return shared_row(pairs, i);
}

static uint32_t row_of_other(const struct pair_rows *pairs, size_t i)
{
    return i < pairs->positive_count ? *other_of(pairs, i) : pairs->target[i];
}

/* Sorts `count` pairs by their rows. */
static void fill_lists(const struct pair_lists *lists, const struct pair_rows *pairs, size_t count,
                       uint32_t (*row_of)(const struct pair_rows *, size_t))
{
    uint32_t *start = lists->start;
    memset(start, 0, ((size_t)pairs->row_count + 1) * sizeof *start);
    for (size_t i = 0; i < count; i++)
        start[row_of(pairs, i) + 1]++;
    for (uint32_t r = 0; r < pairs->row_count; r++)
        start[r + 1] += start[r];
    for (size_t i = 0; i < count; i++) /* start[r] becomes the end of row r */
        lists->item[start[row_of(pairs, i)]++] = (uint32_t)i;
    memmove(start + 1, start, pairs->row_count * sizeof *start);
    start[0] = 0;
}

static enum error_code make_room(struct way_back *w, size_t pair_count, int threads,
                                 struct arena *arena, struct error *err)
{
    static const char what[] = "the gradient of pairs";
    const struct decoder *decoder = w->decoder;
    const struct pair_rows *pairs = w->pairs;
    const size_t rows = (size_t)pairs->row_count + 1, positives = pairs->positive_count;
    const size_t values = w->parameter_first[w->parameter_count];
    enum error_code rc = partial_sums_init(&w->sums, pairs->positive_count, values ? values : 1,
                                           threads, arena, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->query, positives * decoder_query(decoder), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->shared_gradient, positives * decoder->dim, what, err);
    if (rc == ERROR_NONE && decoder->type->keeps_row)
        rc = arena_new(arena, &w->kept, pair_count * decoder->dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->room, (size_t)threads * room_of(decoder), what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->shared.start, rows, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->shared.item, positives, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->other.start, rows, what, err);
    return rc == ERROR_NONE ? arena_new(arena, &w->other.item, pair_count, what, err) : rc;
}

/* Allocates what the matrix products need. */
static enum error_code make_shared_room(struct way_back *w, int threads, struct arena *arena,
                                        struct error *err)
{
    static const char what[] = "the gradient of shared negatives";
    const size_t dim = w->decoder->dim;
    enum error_code rc = gather_shared(w->decoder, w->pairs, arena, &w->negative, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->negative_gradient, w->pairs->negatives_each * dim, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &w->of_negatives, (size_t)threads * w->sums.tile_rows * dim, what,
                       err);
    return rc;
}

static void find_parameters(struct way_back *w)
{
    struct decoder_parameter own[DECODER_PARAMETER_COUNT_MAX] = {0};
    w->parameter_count = w->decoder->type->parameters(w->decoder->dim, w->decoder->outputs,
                                                      w->decoder->relation_count, own);
    for (int p = 0; p < w->parameter_count; p++)
        w->parameter_first[p + 1] = w->parameter_first[p] + (size_t)own[p].rows * own[p].cols;
}

/* Threads write `row_gradient`. NOLINTBEGIN(readability-non-const-parameter) */
enum error_code pair_pass_backward(const struct decoder *decoder, const struct pair_rows *pairs,
                                   const float *score_gradient, struct arena *arena,
                                   struct thread_pool *pool, float *row_gradient,
                                   float *const *parameter_gradient, struct error *err)
{
    struct way_back w = {.decoder = decoder,
                         .pairs = pairs,
                         .score_gradient = score_gradient,
                         .row_gradient = row_gradient};
    const bool by_product = is_product(decoder, pairs);
    const size_t pair_count = /* where memory is only counted, the larger number */
        by_product && !arena->counts ? pairs->positive_count + (size_t)pairs->negatives_each
                                     : pairs->positive_count * (1 + (size_t)pairs->negatives_each);
    find_parameters(&w);
    enum error_code rc = make_room(&w, pair_count, thread_pool_size(pool), arena, err);
    if (rc == ERROR_NONE && by_product)
        rc = make_shared_room(&w, thread_pool_size(pool), arena, err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    fill_lists(&w.shared, pairs, pairs->positive_count, row_of_shared);
    /* if all positives share their negatives, this lists only those of the first positive */
    fill_lists(&w.other, pairs, pair_count, row_of_other);
    partial_sums_run(&w.sums, pool, back_of_tile, &w);
    if (by_product)
        thread_pool_run(pool, ((int64_t)pairs->negatives_each + SHARED_ROWS - 1) / SHARED_ROWS,
                        back_of_shared, &w);
    for (int p = 0; p < w.parameter_count; p++) {
        const size_t count = w.parameter_first[p + 1] - w.parameter_first[p];
        decoder_add_scaled(parameter_gradient[p],
                           partial_sums_total(&w.sums, w.parameter_first[p], count), 1, count);
    }
    thread_pool_run(pool, ((int64_t)pairs->row_count + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME,
                    back_of_rows, &w);
    return ERROR_NONE;
}

/* NOLINTEND(readability-non-const-parameter) */
