#include "store/objects/keys.h"

#include "common/base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static struct key make(const char *format, ...) PRINTF_LIKE(1, 2);

static struct key make(const char *format, ...)
{
    struct key key;
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(key.text, sizeof key.text, format, args);
    va_end(args);
    must(size > 0 && size < KEY_SIZE); /* ids are bounded by ID_SIZE */
    return key;
}

struct key key_dataset(const char *dataset_id, const char *what)
{
    return make("dataset/%s/%s", dataset_id, what);
}

struct key key_edge_chunk(const char *dataset_id, int64_t chunk)
{
    return make("dataset/%s/edges/%010" PRId64, dataset_id, chunk);
}

struct key key_feature_chunk(const char *dataset_id, int64_t chunk)
{
    return make("dataset/%s/features/%010" PRId64, dataset_id, chunk);
}

struct key key_feature_statistics(const char *dataset_id, uint32_t type)
{
    return type ? make("dataset/%s/feature_statistics/%05" PRIu32, dataset_id, type)
                : key_dataset(dataset_id, "feature_statistics");
}

struct key key_partition(const char *partition_id, const char *what)
{
    return make("partition/%s/%s", partition_id, what);
}

struct key key_part(const char *partition_id, int part, const char *what)
{
    return make("partition/%s/part/%010d/%s", partition_id, part, what);
}

struct key key_part_type(const char *partition_id, int part, uint32_t type, const char *what)
{
    if (type == 0)
        return key_part(partition_id, part, what);
    return make("partition/%s/part/%010d/type/%05" PRIu32 "/%s", partition_id, part, type, what);
}

struct key key_run(const char *run_id, const char *what)
{
    return make("run/%s/%s", run_id, what);
}

struct key key_run_plan(const char *run_id)
{
    return key_run(run_id, "plan");
}

struct key key_current_snapshot(const char *run_id)
{
    return key_run(run_id, "current_snapshot");
}

struct key key_mini_batch(const char *run_id, int64_t round, int slot)
{
    return make("run/%s/round/%010" PRId64 "/slot/%05d/mini_batch", run_id, round, slot);
}

struct key key_gradient(const char *run_id, int64_t round, int slot)
{
    return make("run/%s/round/%010" PRId64 "/slot/%05d/gradient", run_id, round, slot);
}

struct key key_gradient_range(const char *run_id, int64_t round, int slot, int range)
{
    return make("run/%s/round/%010" PRId64 "/slot/%05d/gradient_range/%05d", run_id, round, slot,
                range);
}

struct key key_gradient_sum(const char *run_id, int64_t round, int number)
{
    return make("run/%s/round/%010" PRId64 "/gradient_sum/%010d", run_id, round, number);
}

struct key key_pass_output(const char *run_id, int64_t round, int pass, int slot)
{
    return make("run/%s/round/%010" PRId64 "/pass/%03d/slot/%05d/pass_output", run_id, round, pass,
                slot);
}

struct key key_pass_gradient(const char *run_id, int64_t round, int pass, int slot)
{
    return make("run/%s/round/%010" PRId64 "/pass/%03d/slot/%05d/pass_gradient", run_id, round,
                pass, slot);
}

struct key key_round_base(const char *run_id, int64_t round)
{
    return make("run/%s/round/%010" PRId64 "/base", run_id, round);
}

struct key key_residual(const char *run_id, int64_t round, int slot)
{
    return make("run/%s/round/%010" PRId64 "/slot/%05d/residual", run_id, round, slot);
}

struct key key_embedding_seal(const char *run_id, int64_t version, int shard)
{
    return make("run/%s/embedding/%010" PRId64 "/shard/%010d", run_id, version, shard);
}

struct key key_walk_counts(const char *run_id)
{
    return make("run/%s/walk_counts", run_id);
}

struct key key_wanted_nodes(const char *run_id)
{
    return make("run/%s/wanted_nodes", run_id);
}

struct key key_initial_weights(const char *run_id)
{
    return make("run/%s/initial", run_id);
}

struct key key_evaluation_mini_batch(const char *run_id, int slot)
{
    return make("run/%s/evaluation/%05d/mini_batch", run_id, slot);
}

struct key key_evaluation(const char *run_id, int64_t version, int slot)
{
    return make("run/%s/evaluation/%05d/result/%010" PRId64, run_id, slot, version);
}

struct key key_weights(const char *run_id, int64_t version)
{
    return make("run/%s/weights/%010" PRId64, run_id, version);
}

struct key key_optimizer_state(const char *run_id, int64_t version)
{
    return make("run/%s/optimizer/%010" PRId64, run_id, version);
}

struct key key_snapshot(const char *run_id, int64_t version)
{
    return make("run/%s/snapshot/%010" PRId64, run_id, version);
}

struct key key_infer(const char *run_id, int64_t version, int layer, int part, const char *what)
{
    return make("run/%s/infer/%010" PRId64 "/%05d/part/%010d/%s", run_id, version, layer, part,
                what);
}

struct key key_outputs(const char *run_id, int64_t version, const char *tag)
{
    return make("run/%s/outputs/%010" PRId64 "%s%s", run_id, version, tag[0] ? "-" : "", tag);
}

struct key key_outputs_seal(const char *run_id, int64_t version, const char *tag)
{
    return make("%s_seal", key_outputs(run_id, version, tag).text);
}

struct key key_current(const char *what, const char *name)
{
    return make("current/%s/%s", what, name);
}

bool key_find_seal(const char *artifact, struct key *out)
{
    const int size = snprintf(out->text, sizeof out->text, "%s_seal", artifact);
    return size > 0 && size < (int)sizeof out->text;
}
