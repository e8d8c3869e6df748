#include "stages/ingest/generate/community_model.h"

#include "common/base/memory.h"

#include <math.h>

/* weight of the lightest level */
static const double weight_unit = 65536.0;

/* Returns 2^-x for a small x >= 0, by roots and products only; the fraction is taken to 32 binary
 * digits. */
static double half_to_the(double x)
{
    double result = 1.0, root = 0.5;
    const int whole = (int)x;
    double fraction = x - whole;
    for (int i = 0; i < whole; i++)
        result *= 0.5;
    for (int digit = 0; digit < 32; digit++) {
        root = sqrt(root);
        fraction *= 2.0;
        if (fraction >= 1.0) {
            result *= root;
            fraction -= 1.0;
        }
    }
    return result;
}

/* Computes the levels from the lightest on. The nodes of level k and above are the places [0,
 * at_least). */
static void make_levels(struct community_model *model, double exponent)
{
    const double step = 1.0 / half_to_the(0.25), tail_step = half_to_the((exponent - 1.0) / 4.0);
    double weight = 1.0, tail = 1.0;
    uint32_t at_least[COMMUNITY_LEVELS_MAX + 1] = {0};
    uint32_t count = 0;
    while (count < COMMUNITY_LEVELS_MAX && weight * weight <= (double)model->node_count &&
           tail * (double)model->node_count >= 1.0) {
        at_least[count] = (uint32_t)(tail * (double)model->node_count);
        model->weight[count] = (uint64_t)(weight * weight_unit + 0.5);
        weight *= step;
        tail *= tail_step;
        count++;
    }
    model->level_count = count;
    for (uint32_t i = 0; i <= count; i++)
        model->first_place[i] = at_least[count - i];
}

/* Returns the first place of the i-th run that belongs to `community`. */
static uint32_t first_of(const struct community_model *model, uint32_t community, uint32_t i)
{
    const uint32_t from = model->first_place[i], step = model->community_count;
    return from + (community + step - from % step) % step;
}

static uint32_t count_of(const struct community_model *model, uint32_t community, uint32_t i)
{
    const uint32_t first = first_of(model, community, i), end = model->first_place[i + 1];
    return first < end ? (end - first - 1) / model->community_count + 1 : 0;
}

static uint64_t weight_of_run(const struct community_model *model, uint32_t i)
{
    return model->weight[model->level_count - 1 - i];
}

static uint64_t *row_of(const struct community_model *model, uint32_t community)
{
    return model->weight_before + (uint64_t)community * (model->level_count + 1);
}

enum error_code community_model_init(struct community_model *model, uint32_t node_count,
                                     uint32_t community_count, double exponent, struct error *err)
{
    must(community_count >= 1 && community_count <= node_count && exponent > 1.0);
    *model = (struct community_model){.node_count = node_count, .community_count = community_count};
    make_levels(model, exponent);
    const uint32_t levels = model->level_count;
    const enum error_code rc =
        memory_new(&model->weight_before, (size_t)(community_count + 1) * (levels + 1),
                   "weights of communities", err);
    if (rc != ERROR_NONE)
        return rc;
    uint64_t *all = row_of(model, community_count);
    for (uint32_t c = 0; c < community_count; c++) {
        uint64_t *row = row_of(model, c);
        for (uint32_t i = 0; i < levels; i++)
            row[i + 1] = row[i] + count_of(model, c, i) * weight_of_run(model, i);
    }
    for (uint32_t i = 0; i < levels; i++) {
        const uint32_t count = model->first_place[i + 1] - model->first_place[i];
        all[i + 1] = all[i] + count * weight_of_run(model, i);
    }
    return ERROR_NONE;
}

void community_model_release(struct community_model *model)
{
    memory_free(model->weight_before);
    *model = (struct community_model){0};
}

/* Returns the high 64 bits of a * b: `a` as a fraction of 2^64, times b. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    const uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
    return a_high * b_high + (middle >> 32) + ((a_low * b_high + (uint32_t)middle) >> 32);
}

/* Finds the run that holds the weight of `draw`, and the index of the node in it. */
static uint32_t find_run(const struct community_model *model, const uint64_t *row, uint64_t draw,
                         uint32_t *index)
{
    const uint64_t at = multiply_high(draw, row[model->level_count]);
    uint32_t low = 0, high = model->level_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (row[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    *index = (uint32_t)((at - row[low]) / weight_of_run(model, low));
    return low;
}

uint32_t community_model_any(const struct community_model *model, uint64_t draw)
{
    uint32_t index = 0;
    const uint32_t run = find_run(model, row_of(model, model->community_count), draw, &index);
    return model->first_place[run] + index;
}

uint32_t community_model_inside(const struct community_model *model, uint32_t community,
                                uint64_t draw)
{
    uint32_t index = 0;
    const uint32_t run = find_run(model, row_of(model, community), draw, &index);
    return first_of(model, community, run) + index * model->community_count;
}
