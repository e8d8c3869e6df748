#include "common/nn/links/pair_pass.h"

struct scoring {
    const struct decoder *decoder;
    const struct pair_rows *pairs;
    float *room; /* [threads, query and scratch] */
    float *score;
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
    const size_t outputs = decoder->outputs;
    const size_t own = (size_t)i, each = pairs->negatives_each;
    const size_t first = pairs->positive_count + own * each;
    decoder->type->prepare(decoder, pairs->row + pairs->source[own] * (size_t)decoder->dim, query);
    decoder->type->score(decoder, query, pairs->row, pairs->target + own, 1,
                         scoring->score + own * outputs, scratch);
    decoder->type->score(decoder, query, pairs->row, pairs->target + first, each,
                         scoring->score + first * outputs, scratch);
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
    if (rc == ERROR_NONE && !arena->counts)
        thread_pool_run(pool, pairs->positive_count, score_positive, &scoring);
    return rc;
}

/* NOLINTEND(readability-non-const-parameter) */

static bool is_sloped(const float *gradient, size_t count)
{
    bool is_any = false;
    for (size_t i = 0; i < count; i++)
        is_any = is_any || gradient[i] < 0 || gradient[i] > 0;
    return is_any;
}

enum error_code pair_pass_backward(const struct decoder *decoder, const struct pair_rows *pairs,
                                   const float *score_gradient, struct arena *arena,
                                   float *row_gradient, float *const *parameter_gradient,
                                   struct error *err)
{
    const size_t dim = decoder->dim, each = pairs->negatives_each;
    float *scratch = NULL;
    const enum error_code rc =
        arena_new(arena, &scratch, decoder_scratch(decoder->dim), "the gradient of pairs", err);
    if (rc != ERROR_NONE || arena->counts)
        return rc;
    for (size_t i = 0; i < pairs->positive_count; i++)
        for (size_t k = 0; k <= each; k++) {
            const size_t at = k == 0 ? i : pairs->positive_count + i * each + k - 1;
            const size_t s = pairs->source[i] * dim, t = pairs->target[at] * dim;
            if (is_sloped(score_gradient + at * decoder->outputs, decoder->outputs))
                decoder->type->backward(decoder, pairs->row + s, pairs->row + t,
                                        score_gradient + at * decoder->outputs, row_gradient + s,
                                        row_gradient + t, parameter_gradient, scratch);
        }
    return ERROR_NONE;
}
