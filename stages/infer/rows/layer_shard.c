#include "stages/infer/rows/layer_shard.h"

#include "store/objects/keys.h"

enum error_code layer_shard_write(const struct stage_context *context,
                                  const struct weights_identity *identity, int layer, int part,
                                  layer_shard_filler fill, void *filler, struct error *err)
{
    const int64_t version = identity->version;
    struct feature_shard_writer *writer = NULL;
    const struct key shard = key_infer(context->run_id, version, layer, part, "shard");
    const struct key seal = key_infer(context->run_id, version, layer, part, "shard_seal");
    enum error_code rc = feature_shard_writer_new(context->store, shard.text, seal.text,
                                                  context->run_id, &writer, err);
    if (rc != ERROR_NONE)
        return rc;
    feature_shard_writer_computed_with(writer, identity);
    rc = fill(filler, writer, err);
    stage_times_enter(context->times, TIME_WRITE);
    if (rc == ERROR_NONE)
        return feature_shard_writer_finish(writer, err);
    feature_shard_writer_abandon(writer);
    return rc;
}
