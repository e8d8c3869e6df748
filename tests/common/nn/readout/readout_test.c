/* Compares readouts with plain loops in double, their gradients with central differences, and
 * results from pieces and from threads with those of one call. */
#include "common/nn/readout/readout.h"

#include "tests/support/test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { GRAPHS = 40, DIM = 13, ROWS = GRAPHS * (GRAPHS + 1) / 2 };

struct fixture {
    struct graph_rows graphs;
    uint32_t first[GRAPHS + 1], from[GRAPHS * DIM];
    float row[ROWS * DIM], out[GRAPHS * DIM], gradient[GRAPHS * DIM], back[ROWS * DIM];
};

static float element(size_t i)
{
    return (float)((i * 2654435761U >> 7) % 2001) / 1000 - 1;
}

/* Graph g has g + 1 nodes. */
static void fill(struct fixture *f)
{
    *f = (struct fixture){.graphs = {.graph_count = GRAPHS, .dim = DIM}};
    for (uint32_t g = 0; g < GRAPHS; g++)
        f->first[g + 1] = f->first[g] + g + 1;
    f->graphs.first = f->first;
    for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
        f->row[i] = element(i);
    for (size_t i = 0; i < (size_t)GRAPHS * DIM; i++)
        f->gradient[i] = element(i + 77);
}

static double expected(const struct fixture *f, enum readout_kind kind, uint32_t graph, uint32_t c)
{
    double sum = 0, most = (double)-INFINITY;
    const uint32_t count = f->first[graph + 1] - f->first[graph];
    for (uint32_t i = f->first[graph]; i < f->first[graph + 1]; i++) {
        const double value = (double)f->row[i * DIM + c];
        sum += value;
        most = value > most ? value : most;
    }
    return kind == READOUT_SUM ? sum : kind == READOUT_MEAN ? sum / count : most;
}

static void it_is_the_sum_mean_or_greatest_of_a_graph(void **state)
{
    static struct fixture f;
    (void)state;
    for (enum readout_kind kind = READOUT_SUM; kind < READOUT_COUNT; kind++) {
        fill(&f);
        readout_forward(kind, &f.graphs, f.row, NULL, f.out, f.from);
        for (uint32_t g = 0; g < GRAPHS; g++)
            for (uint32_t c = 0; c < DIM; c++)
                assert_true(fabs((double)f.out[g * DIM + c] - expected(&f, kind, g, c)) < 1e-5);
    }
}

/* The loss is the inner product of out and gradient. */
static void the_way_back_is_the_derivative(void **state)
{
    static struct fixture f;
    const float step = 0.25F;
    (void)state;
    for (enum readout_kind kind = READOUT_SUM; kind <= READOUT_MEAN; kind++) {
        fill(&f);
        readout_backward(kind, &f.graphs, f.gradient, NULL, NULL, f.back);
        for (uint32_t g = 0; g < GRAPHS; g++)
            for (uint32_t i = f.first[g]; i < f.first[g + 1]; i++)
                for (uint32_t c = 0; c < DIM; c++) {
                    const float kept = f.row[i * DIM + c];
                    f.row[i * DIM + c] = kept + step;
                    const double above = expected(&f, kind, g, c);
                    f.row[i * DIM + c] = kept - step;
                    const double below = expected(&f, kind, g, c);
                    f.row[i * DIM + c] = kept;
                    const double slope = (above - below) / (2 * (double)step);
                    assert_true(fabs((double)f.back[i * DIM + c] -
                                     slope * (double)f.gradient[g * DIM + c]) < 1e-5);
                }
    }
    fill(&f);
    readout_forward(READOUT_MAX, &f.graphs, f.row, NULL, f.out, f.from);
    readout_backward(READOUT_MAX, &f.graphs, f.gradient, f.from, NULL, f.back);
    for (uint32_t g = 0; g < GRAPHS; g++)
        for (uint32_t c = 0; c < DIM; c++) {
            bool seen = false; /* whether the first of equal maxima has been found */
            for (uint32_t i = f.first[g]; i < f.first[g + 1]; i++) {
                const bool is_most = !seen && f.row[i * DIM + c] >= f.out[g * DIM + c];
                const float wanted = is_most ? f.gradient[g * DIM + c] : 0;
                assert_true(f.back[i * DIM + c] >= wanted && f.back[i * DIM + c] <= wanted);
                seen |= is_most;
            }
            assert_true(seen);
        }
}

static void the_first_of_equal_maxima_has_the_gradient(void **state)
{
    static const float row[] = {1, 5, 3, 5, 3, 5}, gradient[] = {2, 7};
    static const uint32_t first[] = {0, 3};
    static const float wanted[] = {0, 7, 2, 0, 0, 0};
    const struct graph_rows graphs = {.first = first, .graph_count = 1, .dim = 2};
    float out[2], back[6];
    uint32_t from[2];
    (void)state;
    readout_forward(READOUT_MAX, &graphs, row, NULL, out, from);
    readout_backward(READOUT_MAX, &graphs, gradient, from, NULL, back);
    assert_memory_equal(back, wanted, sizeof wanted);
}

static void what_is_no_number_is_seen(void **state)
{
    static const float row[] = {1, NAN, 3}, before[] = {NAN, 2};
    static const uint32_t first[] = {0, 3};
    const struct graph_rows graphs = {.first = first, .graph_count = 1, .dim = 1};
    float out = 0;
    (void)state;
    for (enum readout_kind kind = READOUT_SUM; kind < READOUT_COUNT; kind++) {
        readout_forward(kind, &graphs, row, NULL, &out, NULL);
        assert_true(isnan(out));
        readout_add(kind, before, 2, 1, 0, &out, NULL);
        assert_true(isnan(out));
    }
}

static void pieces_and_threads_change_no_bit(void **state)
{
    static struct fixture f;
    static float other[GRAPHS * DIM], back[ROWS * DIM];
    static uint32_t from[GRAPHS * DIM];
    struct error err = {0};
    struct thread_pool *pool = NULL;
    (void)state;
    assert_ok(thread_pool_new(4, &pool, &err), &err);
    for (enum readout_kind kind = READOUT_SUM; kind < READOUT_COUNT; kind++) {
        fill(&f);
        readout_forward(kind, &f.graphs, f.row, NULL, f.out, f.from);
        readout_backward(kind, &f.graphs, f.gradient, f.from, NULL, f.back);
        memset(from, 0, sizeof from);
        readout_forward(kind, &f.graphs, f.row, pool, other, from);
        readout_backward(kind, &f.graphs, f.gradient, from, pool, back);
        assert_memory_equal(other, f.out, sizeof other);
        assert_memory_equal(back, f.back, sizeof back);
        for (uint32_t g = 0; g < GRAPHS; g++) {
            const uint32_t count = f.first[g + 1] - f.first[g];
            for (uint32_t done = 0, piece = 1; done < count; done += piece, piece++) {
                piece = count - done < piece ? count - done : piece;
                readout_add(kind, f.row + (size_t)(f.first[g] + done) * DIM, piece, DIM, done,
                            other + (size_t)g * DIM, NULL);
            }
            readout_finish(kind, count, DIM, other + (size_t)g * DIM);
        }
        assert_memory_equal(other, f.out, sizeof other);
    }
    thread_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_sum_mean_or_greatest_of_a_graph),
        cmocka_unit_test(the_way_back_is_the_derivative),
        cmocka_unit_test(the_first_of_equal_maxima_has_the_gradient),
        cmocka_unit_test(what_is_no_number_is_seen),
        cmocka_unit_test(pieces_and_threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
