#include "store/features/shard_delta.h"

#include "common/base/memory.h"
#include "common/numbers/ascending.h"
#include "store/features/feature_block.h"
#include "store/features/feature_shard_folder.h"
#include "store/objects/keys.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

struct shard_delta {
    struct store *store;
    const struct shard_seal *seal; /* borrowed */
    struct shard_seal own_seal;
    struct feature_shard *own;
    uint32_t *number[DELTA_TENSOR_COUNT_MAX]; /* [rows of the folder], ascending, owned */
    uint32_t *gone;                           /* [seal->own.gone], ascending, owned */
    pthread_mutex_t lock;                     /* guards `base` */
    struct feature_shard *base;               /* NULL if not open yet */
};

void shard_delta_close(struct shard_delta *delta)
{
    if (!delta)
        return;
    feature_shard_close(delta->base);
    feature_shard_close(delta->own);
    for (int i = 0; i < DELTA_TENSOR_COUNT_MAX; i++)
        memory_free(delta->number[i]);
    memory_free(delta->gone);
    (void)pthread_mutex_destroy(&delta->lock);
    memory_free(delta);
}

struct feature_shard *shard_delta_own(const struct shard_delta *delta)
{
    return delta->own;
}

/* --- numbers --- */

/* Reads the row numbers of a tensor of the folder: ascending, below `end`. */
static enum error_code read_numbers(struct shard_delta *delta, int own_tensor, uint64_t end,
                                    uint32_t **out, struct error *err)
{
    const struct tensor_spec *tensor = &delta->own_seal.tensor[own_tensor];
    enum error_code rc = memory_new(out, tensor->row_count, "the numbers of rows", err);
    if (rc == ERROR_NONE && tensor->row_count)
        rc = feature_shard_read_all(delta->own, tensor->name, *out, 1, err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < tensor->row_count; i++)
        if ((*out)[i] >= end || (i && (*out)[i] <= (*out)[i - 1]))
            rc = error_set(err, ERROR_CORRUPT,
                           "tensor %s: number %" PRIu32 " at %" PRIu64
                           ", expected ascending below %" PRIu64,
                           tensor->name, (*out)[i], i, end);
    return rc;
}

/* Returns how many removed rows of the base precede row `row` of the shard, or the place where that
 * row would be. */
static uint64_t gone_before(const struct shard_delta *delta, uint64_t row)
{
    uint64_t low = 0, high = delta->seal->own.gone;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (delta->gone[middle] - middle <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum error_code read_all_numbers(struct shard_delta *delta, struct error *err)
{
    const int count = delta->seal->tensor_count;
    enum error_code rc = read_numbers(delta, 2 * count, UINT32_MAX, &delta->gone, err);
    for (int i = 0; rc == ERROR_NONE && i < count; i++)
        rc = read_numbers(delta, 2 * i + 1, delta->seal->tensor[i].row_count, &delta->number[i],
                          err);
    return rc;
}

enum error_code shard_delta_open(struct store *store, const char *key,
                                 const struct shard_seal *seal, struct shard_delta **out,
                                 struct error *err)
{
    struct shard_delta *delta = NULL;
    enum error_code rc = memory_new(&delta, 1, "a shard that is a delta", err);
    if (rc != ERROR_NONE)
        return rc;
    delta->store = store;
    delta->seal = seal;
    must(pthread_mutex_init(&delta->lock, NULL) == 0);
    shard_seal_own(seal, &delta->own_seal);
    rc = feature_shard_open_sealed(store, key, &delta->own_seal, &delta->own, err);
    if (rc == ERROR_NONE) {
        rc = read_all_numbers(delta, err);
        if (rc == ERROR_CORRUPT)
            rc = error_context(err, rc, "artifact %s", key);
    }
    if (rc != ERROR_NONE) {
        shard_delta_close(delta);
        return rc;
    }
    *out = delta;
    return ERROR_NONE;
}

/* --- the base --- */

/* Checks that the base has all rows that the folder does not replace. */
static enum error_code check_base(const struct shard_delta *delta, const struct shard_seal *base,
                                  struct error *err)
{
    const struct sealed_rows_of_delta *own = &delta->seal->own;
    enum error_code rc = shard_seal_check_base(delta->seal, base, err);
    for (int i = 0; rc == ERROR_NONE && i < base->tensor_count; i++) {
        const uint64_t rows = base->tensor[i].row_count, all = delta->seal->tensor[i].row_count;
        const bool fits = own->gone <= rows && (!own->gone || delta->gone[own->gone - 1] < rows);
        const uint64_t left = fits ? rows - own->gone : 0;
        const uint64_t behind =
            own->rows[i] - ascending_below(delta->number[i], own->rows[i], left);
        if (!fits || left > all || behind != all - left)
            rc = error_set(err, ERROR_CORRUPT,
                           "tensor %s: %" PRIu64 " rows behind %" PRIu64
                           " of the base less %" PRIu64 ", expected %" PRIu64 " in all",
                           base->tensor[i].name, behind, rows, own->gone, all);
    }
    return rc;
}

static enum error_code open_base(struct shard_delta *delta, struct error *err)
{
    const char *key = delta->seal->own.base;
    struct key seal_key;
    struct shard_seal base;
    if (!key_find_seal(key, &seal_key))
        return error_set(err, ERROR_CORRUPT, "the base %s is not the key of a shard", key);
    enum error_code rc = shard_seal_get(delta->store, seal_key.text, NULL, &base, err);
    if (rc == ERROR_NONE)
        rc = check_base(delta, &base, err);
    return rc == ERROR_NONE ? feature_shard_open_sealed(delta->store, key, &base, &delta->base, err)
                            : rc;
}

static enum error_code acquire_base(struct shard_delta *delta, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    (void)pthread_mutex_lock(&delta->lock);
    if (!delta->base)
        rc = open_base(delta, err);
    (void)pthread_mutex_unlock(&delta->lock);
    return rc;
}

/* --- a block --- */

/* Copies consecutive rows of a shard into memory, block after block. */
struct row_reader {
    struct feature_shard *shard;
    const char *tensor;
    size_t row_bytes;
    uint64_t block;
    struct feature_pin pin; /* of `block` */
};

static void end_reading(struct row_reader *reader)
{
    feature_pin_release(&reader->pin);
}

static enum error_code copy_rows(struct row_reader *reader, uint64_t first, uint64_t count,
                                 char *to, struct error *err)
{
    for (uint64_t at = first; at < first + count;) {
        const uint64_t block = at / FEATURE_BLOCK_ROWS, in_block = at % FEATURE_BLOCK_ROWS;
        if (!reader->pin.rows || reader->block != block) {
            feature_pin_release(&reader->pin);
            const enum error_code rc =
                feature_shard_pin(reader->shard, reader->tensor, block, &reader->pin, err);
            if (rc != ERROR_NONE)
                return rc;
            reader->block = block;
        }
        const uint64_t there = FEATURE_BLOCK_ROWS - in_block, left = first + count - at;
        const uint64_t rows = left < there ? left : there;
        memcpy(to, (const char *)reader->pin.rows + in_block * reader->row_bytes,
               rows * reader->row_bytes);
        to += rows * reader->row_bytes;
        at += rows;
    }
    return ERROR_NONE;
}

/* The sources of a block: it has the rows [first, first + count) of the shard. */
struct block_plan {
    uint64_t first, count;
    uint64_t left;         /* rows of the base that are left; later rows are new */
    uint64_t gone;         /* removed rows of the base before the first row */
    uint64_t own, own_end; /* the folder's rows in the block */
};

static struct block_plan plan_block(const struct shard_delta *delta, int index, uint64_t block,
                                    uint64_t base_rows)
{
    const struct sealed_rows_of_delta *own = &delta->seal->own;
    struct block_plan plan = {.first = block * FEATURE_BLOCK_ROWS,
                              .count = feature_block_rows(&delta->seal->tensor[index], block),
                              .left = base_rows - own->gone};
    plan.gone = gone_before(delta, plan.first);
    plan.own = ascending_below(delta->number[index], own->rows[index], plan.first);
    plan.own_end = ascending_below(delta->number[index], own->rows[index], plan.first + plan.count);
    return plan;
}

/* Copies rows of the base, also those that the folder replaces afterwards. */
static enum error_code copy_base(struct shard_delta *delta, int index,
                                 const struct block_plan *plan, char *to, struct error *err)
{
    const struct tensor_spec *tensor = &delta->seal->tensor[index];
    struct row_reader reader = {
        .shard = delta->base, .tensor = tensor->name, .row_bytes = tensor_row_bytes(tensor)};
    const uint64_t all = plan->first + plan->count, end = all < plan->left ? all : plan->left;
    uint64_t gone = plan->gone;
    enum error_code rc = ERROR_NONE;
    for (uint64_t row = plan->first; rc == ERROR_NONE && row < end;) {
        /* Copies up to the next removed row. */
        uint64_t until = end;
        if (gone < delta->seal->own.gone && delta->gone[gone] - gone < end)
            until = delta->gone[gone] - gone;
        if (until > row)
            rc = copy_rows(&reader, row + gone, until - row,
                           to + (row - plan->first) * reader.row_bytes, err);
        row = until;
        while (gone < delta->seal->own.gone && delta->gone[gone] - gone <= row)
            gone++;
    }
    end_reading(&reader);
    return rc;
}

static enum error_code copy_own(struct shard_delta *delta, int index, const struct block_plan *plan,
                                char *to, struct error *err)
{
    const struct tensor_spec *tensor = &delta->seal->tensor[index];
    struct row_reader reader = {
        .shard = delta->own, .tensor = tensor->name, .row_bytes = tensor_row_bytes(tensor)};
    enum error_code rc = ERROR_NONE;
    for (uint64_t i = plan->own; rc == ERROR_NONE && i < plan->own_end; i++)
        rc = copy_rows(&reader, i, 1,
                       to + (delta->number[index][i] - plan->first) * reader.row_bytes, err);
    end_reading(&reader);
    return rc;
}

static enum error_code make_block(struct shard_delta *delta, int index,
                                  const struct block_plan *plan, struct feature_pin *pin,
                                  struct error *err)
{
    const size_t row_bytes = tensor_row_bytes(&delta->seal->tensor[index]);
    char *copy = NULL;
    enum error_code rc =
        memory_new(&copy, FEATURE_BLOCK_SUM_SIZE + plan->count * row_bytes, "a block of rows", err);
    if (rc != ERROR_NONE)
        return rc;
    *pin = (struct feature_pin){
        .copy = copy, .rows = copy + FEATURE_BLOCK_SUM_SIZE, .row_count = (uint32_t)plan->count};
    if (plan->own_end - plan->own < plan->count)
        rc = copy_base(delta, index, plan, copy + FEATURE_BLOCK_SUM_SIZE, err);
    if (rc == ERROR_NONE)
        rc = copy_own(delta, index, plan, copy + FEATURE_BLOCK_SUM_SIZE, err);
    if (rc != ERROR_NONE)
        feature_pin_release(pin);
    return rc;
}

enum error_code shard_delta_pin(struct shard_delta *delta, int index, uint64_t block,
                                struct feature_pin *pin, struct error *err)
{
    const char *name = delta->seal->tensor[index].name;
    enum error_code rc = acquire_base(delta, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct block_plan plan =
        plan_block(delta, index, block, feature_shard_tensor(delta->base, name)->row_count);
    const uint64_t end = plan.first + plan.count;
    if (plan.own != plan.own_end || gone_before(delta, end - 1) != 0)
        return make_block(delta, index, &plan, pin, err);
    rc = feature_shard_pin(delta->base, name, block, pin, err);
    pin->row_count = (uint32_t)plan.count;
    return rc;
}
