#include "common/nn/input_mixing.h"

#include "common/nn/layer.h"
#include "common/nn/layer_pass.h"

bool input_mixing_is_possible(const struct model *model, const struct input_rows *rows)
{
    const struct layer_type *type = layer_type_of(model->config.layer);
    return !rows->mostly_zero &&
           !type->maps_first(model_layer_input_dim(model, 0), model_layer_output_dim(model, 0));
}

enum error_code input_mixing_begin(struct input_mixing *out, const struct model *model,
                                   const struct message_block *block, const struct input_rows *rows,
                                   int threads, struct arena *arena, struct error *err)
{
    const uint32_t dim = model_layer_input_dim(model, 0);
    must(input_mixing_is_possible(model, rows));
    *out = (struct input_mixing){
        .block = *block, .rows = *rows, .dim = dim, .scratch_size = layer_pass_scratch(dim)};
    enum error_code rc = layer_type_of(model->config.layer)->weigh(block, arena, &out->mixing, err);
    const size_t width = mixing_width(&out->mixing, dim);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, &out->mixed,
                             block->destination_count * precision_stride(rows->precision, width),
                             precision_bytes(rows->precision), "mixed rows", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->scratch, (size_t)threads * out->scratch_size, "sums", err);
    return rc;
}

static void mix_tile(void *context, int64_t tile, int thread)
{
    const struct input_mixing *m = context;
    const size_t width = mixing_width(&m->mixing, m->dim);
    const uint32_t first = m->mixed_count + (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, m->block.destination_count);
    mixing_gather(&m->mixing, &m->block, &m->rows, m->dim, first, end,
                  m->scratch + (size_t)thread * m->scratch_size,
                  layer_pass_row(m->rows.precision, m->mixed, width, first));
}

bool input_mixing_advance(struct input_mixing *mixing, int64_t tile_count, struct thread_pool *pool)
{
    const uint32_t left = mixing->block.destination_count - mixing->mixed_count;
    const int64_t tiles = layer_pass_tiles(left);
    if (tile_count >= tiles) {
        thread_pool_run(pool, tiles, mix_tile, mixing);
        mixing->mixed_count += left;
        return false;
    }
    thread_pool_run(pool, tile_count, mix_tile, mixing);
    mixing->mixed_count += (uint32_t)(tile_count * TILE_ROWS);
    return true;
}
