#include "common/nn/operators/partial_sums.h"

#include "common/math/vector.h"
#include "common/numbers/cpu_kernel.h"

enum { CACHE_LINE_FLOATS = CACHE_LINE_BYTES / sizeof(float) };

CPU_KERNEL(add_sum, (float *restrict sum, const float *restrict more, size_t count),
           (sum, more, count))
{
    vector_add(sum, more, count);
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

uint32_t partial_sums_tile_rows(uint32_t rows)
{
    const size_t even = (rows + (size_t)PARTIAL_SUMS_CHAINS - 1) / PARTIAL_SUMS_CHAINS;
    const size_t whole = round_up(even, PARTIAL_SUMS_ROWS_UNIT);
    if (whole > PARTIAL_SUMS_ROWS_MOST)
        return PARTIAL_SUMS_ROWS_MOST;
    return whole < PARTIAL_SUMS_ROWS_LEAST ? PARTIAL_SUMS_ROWS_LEAST : (uint32_t)whole;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t chains_of(const struct partial_sums *sums)
{
    return least(sums->tiles, PARTIAL_SUMS_CHAINS);
}

static int64_t groups_of(const struct partial_sums *sums)
{
    return least(sums->tiles, PARTIAL_SUMS_GROUPS);
}

enum error_code partial_sums_init(struct partial_sums *out, uint32_t rows, size_t size, int threads,
                                  struct arena *arena, struct error *err)
{
    static const char what[] = "gradients";
    must(rows > 0);
    *out = (struct partial_sums){.rows = rows,
                                 .tile_rows = partial_sums_tile_rows(rows),
                                 .size = round_up(size, CACHE_LINE_FLOATS),
                                 .by_chain = threads > PARTIAL_SUMS_GROUPS};
    out->tiles = ((int64_t)rows + out->tile_rows - 1) / out->tile_rows;
    const int64_t sums = out->by_chain ? chains_of(out) : groups_of(out);
    const bool joins = !out->by_chain && out->tiles > PARTIAL_SUMS_GROUPS;
    enum error_code rc = arena_new(arena, &out->sum, (size_t)sums * out->size, what, err);
    if (rc == ERROR_NONE && joins)
        rc = arena_new(arena, &out->spare, (size_t)threads * out->size, what, err);
    return rc;
}

struct run {
    const struct partial_sums *sums;
    partial_sums_body body;
    void *context;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): the body writes it */
static void run_chain(const struct run *run, int64_t chain, float *sum, int thread)
{
    const struct partial_sums *sums = run->sums;
    for (int64_t t = chain; t < sums->tiles; t += PARTIAL_SUMS_CHAINS) {
        const uint32_t first = (uint32_t)(t * sums->tile_rows);
        const uint32_t left = sums->rows - first;
        const struct partial_sums_tile tile = {
            .first = first,
            .end = left < sums->tile_rows ? sums->rows : first + sums->tile_rows,
            .fresh = t == chain,
            .sum = sum,
            .thread = thread};
        run->body(run->context, &tile);
    }
}

static void run_unit(void *context, int64_t unit, int thread)
{
    const struct run *run = context;
    const struct partial_sums *sums = run->sums;
    float *sum = sums->sum + (size_t)unit * sums->size;
    run_chain(run, unit, sum, thread);
    if (!sums->spare)
        return;
    float *spare = sums->spare + (size_t)thread * sums->size;
    for (int64_t chain = unit + PARTIAL_SUMS_GROUPS; chain < chains_of(sums);
         chain += PARTIAL_SUMS_GROUPS) {
        run_chain(run, chain, spare, thread);
        add_sum(sum, spare, sums->size);
    }
}

void partial_sums_run(const struct partial_sums *sums, struct thread_pool *pool,
                      partial_sums_body body, void *context)
{
    struct run run = {sums, body, context};
    thread_pool_run(pool, sums->by_chain ? chains_of(sums) : groups_of(sums), run_unit, &run);
}

const float *partial_sums_total(const struct partial_sums *sums, size_t first, size_t count)
{
    float *total = sums->sum + first;
    for (int64_t group = 0; group < groups_of(sums); group++) {
        float *of_group = total + (size_t)group * sums->size;
        for (int64_t chain = group + PARTIAL_SUMS_GROUPS; sums->by_chain && chain < chains_of(sums);
             chain += PARTIAL_SUMS_GROUPS)
            add_sum(of_group, total + (size_t)chain * sums->size, count);
        if (group > 0)
            add_sum(total, of_group, count);
    }
    return total;
}

/* Floats of a total that a thread adds up at a time. */
enum { FLOATS_AT_ONCE = 2048 };

struct total_job {
    const struct partial_sums *sums;
    size_t first, count;
    float *out;
};

static void total_part(void *context, int64_t part, int thread)
{
    const struct total_job *job = context;
    const size_t at = (size_t)part * FLOATS_AT_ONCE, left = job->count - at;
    const size_t count = left < FLOATS_AT_ONCE ? left : FLOATS_AT_ONCE;
    (void)thread;
    vector_copy(job->out + at, partial_sums_total(job->sums, job->first + at, count), count);
}

/* Threads write `out`. NOLINTBEGIN(readability-non-const-parameter) */
void partial_sums_total_into(const struct partial_sums *sums, struct thread_pool *pool,
                             size_t first, size_t count, float *out)
/* NOLINTEND(readability-non-const-parameter) */
{
    struct total_job job = {sums, first, count, out};
    thread_pool_run(pool, (int64_t)(round_up(count, FLOATS_AT_ONCE) / FLOATS_AT_ONCE), total_part,
                    &job);
}
