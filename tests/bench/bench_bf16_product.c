/*
 * bench_bf16_product - bf16 products on the tiles of a GraphSAGE step: the instruction alone, on
 * registers (floor), and bf16_product on 512 rows (ours), without and with the conversion of the
 * operands.
 *
 *   bench_bf16_product       prints: name value unit ratio
 *
 * It cycles through 24 tiles, so operands come from the third cache, as in a step.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/math/bf16_product.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)

#include <immintrin.h>

enum { ROWS = 512, TILES = 24, REPEATS = 20, CHAINS = 8, FLOOR_STEPS = 1 << 20 };

struct tile {
    float *gradient, *output;
    bf16 *input, *slope;
};

struct bench {
    size_t in, out; /* columns */
    struct tile tile[TILES];
    bf16 *weight, *forward_room, *backward_room, *left_room, *right_room;
    float *weight_gradient;
    struct bf16_right forward, backward;
};

/* Measures the GFLOP/s of eight chains of sums that touch no memory. */
__attribute__((target("avx512f,avx512bf16"))) static double floor_rate(void)
{
    const __m512i one = _mm512_set1_epi32(0x3f803f80);
    __m512 sum[CHAINS];
    float out[16], total = 0;
    for (int i = 0; i < CHAINS; i++)
        sum[i] = _mm512_setzero_ps();
    const double start = clock_seconds();
    for (int step = 0; step < FLOOR_STEPS; step++) {
#define CHAIN(i) sum[i] = _mm512_dpbf16_ps(sum[i], (__m512bh)one, (__m512bh)one);
        CHAIN(0) CHAIN(1) CHAIN(2) CHAIN(3) CHAIN(4) CHAIN(5) CHAIN(6) CHAIN(7)
    }
    const double seconds = clock_seconds() - start;
    for (int i = 0; i < CHAINS; i++) {
        _mm512_storeu_ps(out, sum[i]);
        total += out[0];
    }
    must(total > 0);
    return (double)FLOOR_STEPS * CHAINS * 64 / seconds * 1e-9;
}

static void *allocate(size_t count, size_t size)
{
    void *p = memory_map(count * size);
    must(p);
    return p;
}

static void fill(float *value, bf16 *rounded, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float x = (float)(i % 17) / 17 - 0.5F;
        if (value)
            value[i] = x;
        if (rounded)
            rounded[i] = bf16_of_float(x);
    }
}

static void prepare(struct bench *b, size_t in, size_t out)
{
    *b = (struct bench){.in = in, .out = out};
    for (int t = 0; t < TILES; t++) {
        struct tile *tile = &b->tile[t];
        tile->gradient = allocate(ROWS * out, sizeof(float));
        tile->output = allocate(ROWS * (in > out ? in : out), sizeof(float));
        tile->input = allocate(ROWS * in, sizeof(bf16));
        tile->slope = allocate(ROWS * bf16_stride(out), sizeof(bf16));
        fill(tile->gradient, tile->slope, ROWS * out);
        fill(NULL, tile->input, ROWS * in);
    }
    b->weight = allocate(in * out, sizeof(bf16));
    fill(NULL, b->weight, in * out);
    b->forward_room = allocate(bf16_right_size(in, out), sizeof(bf16));
    b->backward_room = allocate(bf16_right_size(out, in), sizeof(bf16));
    b->left_room = allocate(bf16_left_size(ROWS, out), sizeof(bf16));
    b->right_room = allocate(bf16_right_size(ROWS, in), sizeof(bf16));
    b->weight_gradient = allocate(in * out, sizeof(float));
    b->forward = bf16_right_of_columns(b->weight, out, in, in, b->forward_room);
    b->backward = bf16_right_of_rows(b->weight, out, in, in, b->backward_room);
}

static void forward(struct bench *b, const struct tile *tile)
{
    bf16_product(bf16_left_of_rows(tile->input, ROWS, b->in, b->in), b->forward, false,
                 tile->output, b->out);
}

static void input_gradient(struct bench *b, const struct tile *tile)
{
    bf16_product(bf16_left_of_rows(tile->slope, ROWS, b->out, bf16_stride(b->out)), b->backward,
                 false, tile->output, b->in);
}

static void weight_gradient_in_form(struct bench *b, const struct tile *tile)
{
    const struct bf16_left left = {.value = b->left_room, .rows = b->out, .depth = ROWS};
    const struct bf16_right right = {.value = b->right_room, .depth = ROWS, .cols = b->in};
    (void)tile;
    bf16_product(left, right, true, b->weight_gradient, b->in);
}

static void weight_gradient(struct bench *b, const struct tile *tile)
{
    bf16_product(bf16_left_of_columns(tile->gradient, ROWS, b->out, b->left_room),
                 bf16_right_of_rows(tile->input, ROWS, b->in, b->in, b->right_room), true,
                 b->weight_gradient, b->in);
}

static void report(struct bench *b, const char *what,
                   void (*product)(struct bench *, const struct tile *), double floor)
{
    double least = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = clock_seconds();
        for (int t = 0; t < TILES; t++)
            product(b, &b->tile[t]);
        const double seconds = (clock_seconds() - start) / TILES;
        if (repeat == 0 || seconds < least)
            least = seconds;
    }
    const double rate = 2.0 * ROWS * (double)b->in * (double)b->out / least * 1e-9;
    printf("bf16_%s_%dx%zux%zu %.1f GFLOP/s %.2f\n", what, ROWS, b->in, b->out, rate, floor / rate);
}

int main(void)
{
    static const size_t shapes[][2] = {{200, 256}, {512, 256}, {512, 47}};
    if (!bf16_product_is_possible()) {
        (void)fprintf(stderr, "this processor has no bf16 products (avx512_bf16)\n");
        return 0;
    }
    const double first = floor_rate(), second = floor_rate();
    const double floor = first > second ? first : second;
    printf("bf16_instruction_floor %.1f GFLOP/s 1.00\n", floor);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct bench bench;
        prepare(&bench, shapes[i][0], shapes[i][1]);
        report(&bench, "forward", forward, floor);
        report(&bench, "input_gradient", input_gradient, floor);
        report(&bench, "weight_gradient_in_form", weight_gradient_in_form, floor);
        report(&bench, "weight_gradient", weight_gradient,
               floor); /* the process ends here, and its memory with it */
    }
    return 0;
}

#else

int main(void)
{
    (void)fprintf(stderr, "this processor has no bf16 products (avx512_bf16)\n");
    return 0;
}

#endif
