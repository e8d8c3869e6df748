/*
 * bench_gather - reads rows of a 1 GB tensor by node id, through the feature source and from a
 * plain array.
 *
 *   bench_gather [folder]       prints: name value unit ratio
 *
 * The floor is a plain array on 2 MB pages whose rows are copied with a prefetch ring of 16 rows.
 * Within the budget the source is read by the same loop, batch by batch alternating with the floor,
 * and the least time of each counts. Beyond the budget, a batch of the size that 1,024 seeds with
 * fan-outs 15, 10, 5 need (27 % of all rows) is read from shards whose files are in the page cache.
 * The shards are in a scratch store in `folder` (TMPDIR by default; it needs 1 GB), which is
 * removed.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "store/features/feature_shard.h"
#include "store/features/feature_source.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PARTS = 8,
    ROWS = 2449024,
    DIM = 100,
    BATCH = 100000,
    WIDE_BATCH = 664000,
    REPEATS = 15,
    WIDE_REPEATS = 5,
    RING = 16
};

static const char partition[] = "bench";

struct bench {
    char folder[FILE_PATH_SIZE];
    struct store *store;
    uint32_t book[PARTS + 1];
    float *plain; /* [ROWS, DIM] */
    float *out;   /* [BATCH, DIM] */
    uint32_t *node;
};

static void check(enum error_code rc, const struct error *err)
{
    if (rc == ERROR_NONE)
        return;
    (void)fprintf(stderr, "bench_gather: %s\n", err->message);
    exit(1);
}

static void *mapped(size_t bytes)
{
    void *p = memory_map(bytes);
    must(p);
    memset(p, 1, bytes); /* so that the first touch is not measured */
    return p;
}

static void write_part(struct bench *bench, int part)
{
    struct error err = {0};
    struct feature_shard_writer *writer = NULL;
    const struct key key = key_part(partition, part, "shard");
    const struct key seal = key_part(partition, part, "shard_seal");
    const uint32_t first = bench->book[part], count = bench->book[part + 1] - first;
    const struct tensor_spec tensor = {
        .name = "features", .type = TENSOR_F32, .dim = DIM, .row_count = count};
    check(feature_shard_writer_new(bench->store, key.text, seal.text, partition, &writer, &err),
          &err);
    check(feature_shard_writer_begin(writer, &tensor, &err), &err);
    check(feature_shard_writer_add(writer, bench->plain + (size_t)first * DIM, count, &err), &err);
    check(feature_shard_writer_finish(writer, &err), &err);
}

static void prepare(struct bench *bench, const char *parent)
{
    struct error err = {0};
    const struct random_stream stream = random_stream_of(1, RANDOM_GENERATOR, 0, 0, 0);
    check(file_path(bench->folder, &err, "%s/bench_gather-%" PRId64, parent, clock_ms()), &err);
    check(store_open(bench->folder, 0, &bench->store, &err), &err);
    bench->plain = mapped((size_t)ROWS * DIM * sizeof(float));
    bench->out = mapped((size_t)BATCH * DIM * sizeof(float));
    bench->node = mapped((size_t)ROWS * sizeof *bench->node);
    for (size_t i = 0; i < (size_t)ROWS * DIM; i++)
        bench->plain[i] = (float)(i % 8191);
    for (int part = 0; part <= PARTS; part++)
        bench->book[part] = (uint32_t)((uint64_t)ROWS * (uint64_t)part / PARTS);
    for (int part = 0; part < PARTS; part++)
        write_part(bench, part);
    for (uint32_t i = 0; i < ROWS; i++)
        bench->node[i] = i;
    for (uint32_t i = ROWS; i > 1; i--) {
        const uint32_t other = random_below(random_word(&stream, i, 0), i);
        const uint32_t node = bench->node[i - 1];
        bench->node[i - 1] = bench->node[other];
        bench->node[other] = node;
    }
}

static struct feature_source *open_source(const struct bench *bench, uint64_t budget)
{
    struct error err = {0};
    struct feature_source *source = NULL;
    const struct feature_source_config config = {.store = bench->store,
                                                 .origin = FEATURES_OF_PARTITION,
                                                 .id = partition,
                                                 .part_count = PARTS,
                                                 .book = bench->book,
                                                 .tensor = "features",
                                                 .budget_bytes = budget};
    check(feature_source_open(&config, &source, &err), &err);
    return source;
}

/* Copies rows with the same loop for floor and ours. */
static void copy_rows(const struct feature_rows *rows, float *out)
{
    const float *base = rows->base;
    for (size_t i = 0; i < BATCH; i++) {
        if (i + RING < BATCH) {
            const char *next = (const char *)(base + rows->row_index[i + RING] * rows->stride);
            for (size_t byte = 0; byte < DIM * sizeof(float); byte += 64)
                __builtin_prefetch(next + byte);
        }
        memcpy(out + i * DIM, base + rows->row_index[i] * rows->stride, DIM * sizeof *out);
    }
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the seconds for a row of the plain array. */
static double in_budget(struct bench *bench)
{
    struct error err = {0};
    struct feature_source *source = open_source(bench, (uint64_t)ROWS * DIM * sizeof(float));
    double floor_s = 1e9, our_s = 1e9;
    must(feature_source_is_resident(source));
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const uint32_t *node = bench->node + (size_t)repeat * BATCH;
        struct feature_rows rows = {
            .base = bench->plain, .stride = DIM, .dim = DIM, .row_index = node};
        double start = clock_seconds();
        copy_rows(&rows, bench->out);
        floor_s = least(floor_s, clock_seconds() - start);
        start = clock_seconds();
        check(feature_source_fetch(source, node, BATCH, &rows, &err), &err);
        copy_rows(&rows, bench->out);
        our_s = least(our_s, clock_seconds() - start);
    }
    printf("gather_floor %.1f ns/row 1.00\n", floor_s / BATCH * 1e9);
    printf("gather_in_budget %.1f ns/row %.2f\n", our_s / BATCH * 1e9, our_s / floor_s);
    feature_source_close(source);
    return floor_s / BATCH;
}

/* Measures with a budget of `percent` of the tensor; `floor_s` is the seconds for a row of the
 * floor. */
static void out_of_budget(struct bench *bench, int percent, double floor_s)
{
    struct error err = {0};
    const uint64_t all = (uint64_t)ROWS * DIM * sizeof(float);
    struct feature_source *source = open_source(bench, all / 100 * (uint64_t)percent);
    double seconds = 1e9, cpu = 1e9;
    must(!feature_source_is_resident(source));
    for (int repeat = 0; repeat < WIDE_REPEATS; repeat++) {
        const uint32_t *node = bench->node + (size_t)repeat * BATCH;
        struct feature_rows rows;
        const double start = clock_seconds(), cpu_start = cpu_seconds();
        check(feature_source_fetch(source, node, WIDE_BATCH, &rows, &err), &err);
        seconds = least(seconds, clock_seconds() - start);
        cpu = least(cpu, cpu_seconds() - cpu_start);
    }
    printf("gather_out_of_budget_%d%% %.1f ns/row %.2f\n", percent, seconds / WIDE_BATCH * 1e9,
           seconds / WIDE_BATCH / floor_s);
    printf("gather_out_of_budget_%d%%_processor %.1f ns/row %.2f\n", percent,
           cpu / WIDE_BATCH * 1e9, cpu / WIDE_BATCH / floor_s);
    feature_source_close(source);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct error err = {0};
    const char *parent = argc > 1 ? argv[1] : getenv("TMPDIR");
    prepare(&bench, parent ? parent : "/tmp");
    const double floor_s = in_budget(&bench);
    out_of_budget(&bench, 40, floor_s);
    out_of_budget(&bench, 60, floor_s);
    store_close(bench.store);
    check(file_remove_all(bench.folder, &err), &err);
    return 0;
}
