/* If positives share their negatives, products of matrices must give the results of single
 * pairs, with the same bits for any number of threads, in the memory that was counted. */
#include "common/nn/links/pair_pass.h"
#include "common/numbers/random.h"
#include "common/parallel/thread_pool.h"

#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { DIM = 37, ROWS = 90, POSITIVES = 150, NEGATIVES = 70, RELATIONS = 4 };
enum { PAIRS = POSITIVES * (1 + NEGATIVES) };

struct batch {
    float row[ROWS * DIM], weight[RELATIONS * DIM], slope[PAIRS];
    uint32_t source[POSITIVES], target[PAIRS];
    uint16_t relation[POSITIVES];
    struct pair_rows pairs;
};

struct result {
    float score[PAIRS], row_gradient[ROWS * DIM], gradient[RELATIONS * DIM];
    size_t used;
};

static float draw(uint64_t item)
{
    const struct random_stream stream = random_stream_of(8, RANDOM_WEIGHT, 0, 0, 0);
    return 2 * random_unit(random_word(&stream, item, 0)) - 1;
}

/* Some nodes are negatives several times, and some are also ends of positives. */
static void make_batch(struct batch *b, enum corrupted_end corrupt)
{
    uint64_t item = 0;
    for (size_t i = 0; i < sizeof b->row / sizeof *b->row; i++)
        b->row[i] = draw(item++);
    for (size_t i = 0; i < sizeof b->weight / sizeof *b->weight; i++)
        b->weight[i] = draw(item++);
    for (size_t i = 0; i < PAIRS; i++)
        b->slope[i] = i % 5 ? draw(item++) : 0;
    for (uint32_t i = 0; i < POSITIVES; i++) {
        b->source[i] = i * 7 % ROWS;
        b->target[i] = i * i % ROWS;
        b->relation[i] = (uint16_t)(i % RELATIONS);
        for (uint32_t k = 0; k < NEGATIVES; k++)
            b->target[POSITIVES + i * NEGATIVES + k] = k * k % 61;
    }
    b->pairs = (struct pair_rows){.row = b->row,
                                  .row_count = ROWS,
                                  .positive_count = POSITIVES,
                                  .negatives_each = NEGATIVES,
                                  .source = b->source,
                                  .target = b->target,
                                  .relation = b->relation,
                                  .corrupt = corrupt};
}

static void run(const struct batch *b, const struct decoder *decoder, bool counts,
                struct thread_pool *pool, struct result *out)
{
    struct error err = {0};
    struct arena arena = {.counts = counts};
    struct pair_rows pairs = b->pairs;
    float *parameter[DECODER_PARAMETER_COUNT_MAX] = {out->gradient};
    memset(out, 0, sizeof *out);
    if (counts)
        pairs.shares_negatives = pair_rows_share_negatives(&pairs, true);
    assert_ok(pair_pass_scores(decoder, &pairs, &arena, pool, out->score, &err), &err);
    assert_ok(pair_pass_backward(decoder, &pairs, b->slope, &arena, pool, out->row_gradient,
                                 parameter, &err),
              &err);
    out->used = arena.used;
    arena_release(&arena);
}

static void assert_near(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_true(fabsf(a[i] - b[i]) < 1e-4F * (1 + fabsf(b[i])));
}

static void products_give_what_pairs_give(void **state)
{
    static const enum decoder_kind kinds[] = {DECODER_DOT, DECODER_DISTMULT, DECODER_COSINE};
    static struct batch b;
    static struct result by_pairs, by_product, by_threads, counted;
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(3, &pool, &err), &err);
    for (int corrupt = 0; corrupt < CORRUPT_COUNT; corrupt++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            make_batch(&b, (enum corrupted_end)corrupt);
            const struct decoder decoder = {.type = decoder_type_of(kinds[kind]),
                                            .dim = DIM,
                                            .outputs = 1,
                                            .relation_count = RELATIONS,
                                            .parameter = {b.weight}};
            run(&b, &decoder, false, NULL, &by_pairs);
            b.pairs.shares_negatives = true;
            run(&b, &decoder, false, NULL, &by_product);
            run(&b, &decoder, false, pool, &by_threads);
            run(&b, &decoder, true, pool, &counted);
            assert_near(by_product.score, by_pairs.score, PAIRS);
            assert_near(by_product.row_gradient, by_pairs.row_gradient, (size_t)ROWS * DIM);
            assert_near(by_product.gradient, by_pairs.gradient, (size_t)RELATIONS * DIM);
            assert_true(by_threads.used <= counted.used && by_pairs.used <= counted.used);
            by_threads.used = by_product.used;
            assert_memory_equal(&by_product, &by_threads, sizeof by_product);
            if (decoder.type->is_product) /* the sums have another order */
                assert_memory_not_equal(by_product.score, by_pairs.score, sizeof by_pairs.score);
        }
    thread_pool_free(pool);
}

static void lists_that_differ_are_not_shared(void **state)
{
    static struct batch b;
    (void)state;
    make_batch(&b, CORRUPT_TARGET);
    assert_true(pair_rows_share_negatives(&b.pairs, false));
    b.target[PAIRS - 1]++;
    assert_false(pair_rows_share_negatives(&b.pairs, false));
    assert_true(pair_rows_share_negatives(&b.pairs, true));
    b.pairs.positive_count = 15; /* too few for products to pay */
    assert_false(pair_rows_share_negatives(&b.pairs, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_give_what_pairs_give),
        cmocka_unit_test(lists_that_differ_are_not_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
