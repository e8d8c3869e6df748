#include "stages/plan/chain/schedule.h"

#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/plan/model/identity_digits.h"
#include "stages/plan/model/run_model.h"
#include "stages/plan/model/run_origin.h"
#include "stages/sampling/negative_list.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/records/round/gradient_encoding.h"

#include <inttypes.h>

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Makes the schedule of a run of inference alone: its rounds were done elsewhere, each is an epoch,
 * and a snapshot follows the last one. */
static enum error_code make_imported(struct schedule *s, const struct pipeline_settings *settings,
                                     struct error *err)
{
    struct run_origin origin;
    const enum error_code rc = run_origin_of(settings, &origin, err);
    if (rc != ERROR_NONE)
        return rc;
    s->train_count = s->batch_size = 1;
    s->batches_per_epoch = s->batches_per_round = 1;
    s->rounds_per_epoch = 1;
    s->epochs = s->round_count = s->every_rounds = origin.version;
    s->valid_count = 0;
    s->reuse_epochs = 1;
    s->can_stop_early = false;
    s->staleness = 0;
    s->chooses_base = false;
    s->pipelined_layers = 0;
    return ERROR_NONE;
}

/* Returns the most nodes that so many examples have. */
static int64_t seeds_of(const struct pipeline_settings *settings, int64_t examples,
                        int64_t negatives, enum negative_kind negative)
{
    if (!task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES))
        return examples;
    if (sampler_goes_by_time(pipeline_sampler(settings))) /* each end is a seed of its own */
        return examples * (2 + negatives);
    if (negative == NEGATIVE_IN_BATCH)
        return 2 * examples;
    return 2 * examples + (negative == NEGATIVE_SHARED ? negatives : examples * negatives);
}

/* Refuses counts that do not go together, or that are too large. */
static enum error_code check_counts(const struct schedule *s, struct error *err)
{
    const int64_t evaluation_slots = divide_up(s->valid_count, s->evaluation_batch_size);
    if (s->staleness > s->every_rounds)
        return error_set(
            err, ERROR_INVALID,
            "aggregate.staleness is %" PRId64 ", but a snapshot is made every %" PRId64
            " rounds: expected at most that, or a checkpoint.every_epochs of %" PRId64 " or more",
            s->staleness, s->every_rounds, divide_up(s->staleness, s->rounds_per_epoch));
    if (evaluation_slots > 65535)
        return error_set(
            err, ERROR_INVALID,
            "sample.evaluation_batch_size %lld makes %lld validation batches, expected "
            "at most 65535",
            (long long)s->evaluation_batch_size, (long long)evaluation_slots);
    if (s->round_count > UINT32_MAX)
        return error_set(err, ERROR_INVALID, "the run has %lld rounds, expected at most %lld",
                         (long long)s->round_count, (long long)UINT32_MAX);
    return ERROR_NONE;
}

enum error_code schedule_init(struct schedule *out, const struct pipeline_settings *settings,
                              int64_t train_count, int64_t valid_count, int32_t part_count,
                              struct error *err)
{
    const bool is_imported = run_is_imported(settings);
    if (is_imported)
        train_count = 1;
    if (train_count < 1)
        return error_set(
            err, ERROR_INPUT,
            "the dataset has no training nodes: expected labels and a train split beside the edges "
            "(format folder: node-label.csv and train.csv)");
    const struct sampler *sampler = pipeline_sampler(settings);
    struct model *model = NULL;
    const enum error_code checked = run_model_shape(&model, settings, err);
    if (checked != ERROR_NONE)
        return checked;
    struct schedule s = {
        .train_count = train_count,
        .valid_count = valid_count,
        .batch_size = smaller(settings->sample.batch_size, train_count),
        .evaluation_batch_size = settings->sample.evaluation_batch_size,
        .epochs = settings->epochs,
        .run_ahead = settings->sample.run_ahead + settings->aggregate.staleness.value,
        .reuse_epochs = settings->sample.reuse_epochs,
        .staleness = settings->aggregate.staleness.value,
        .chooses_base =
            settings->aggregate.staleness.is_most && settings->aggregate.staleness.value > 0,
        .reads_base = settings->aggregate.staleness.value > 0 &&
                      settings->aggregate.compensation == COMPENSATE_GRADIENT,
        .ranges = (int32_t)settings->aggregate.ranges,
        .fan_in = (int32_t)settings->aggregate.fan_in,
        .pipelined_layers =
            settings->train_step.pipeline == PIPELINE_LAYERS ? model->config.layer_count : 0,
        .can_stop_early = settings->checkpoint.patience > 0,
        .infers_some = settings->infer.nodes[0] != '\0',
        .layer_count = settings->infer.nodes[0] ? 0 : model->config.layer_count,
        .keeps_residuals = settings->train_step.gradient == GRADIENT_SPARSE,
        .counts_walks = sampler->counts_walks && sampler->counts_walks(&settings->sample.option),
        .needs_degree = model->needs_degree,
        .divides_by_ends = model->divides_by_ends,
        .part_count = part_count,
        .embeddings = embedding_tensors_plain(settings, part_count),
        .shows_history = pipeline_history(settings) == HISTORY_ALL,
        .infers_best = settings->infer.weights == WEIGHTS_BEST,
        .seed = (uint64_t)settings->seed,
    };
    memory_free(model);
    s.embedding_shards = s.embeddings.shard_count;
    s.seeds_most = seeds_of(settings, s.batch_size, pipeline_negatives(settings),
                            (enum negative_kind)settings->sample.negative);
    s.evaluation_seeds_most = seeds_of(settings, s.evaluation_batch_size,
                                       pipeline_evaluation_negatives(settings), NEGATIVE_UNIFORM);
    s.batches_per_epoch = divide_up(train_count, s.batch_size);
    if (sampler->unit == SAMPLER_OF_CLUSTERS) {
        s.cluster_count =
            (int32_t)smaller(sampler->parts_of_batch(&settings->sample.option), part_count);
        s.batches_per_epoch = divide_up(part_count, s.cluster_count);
    }
    s.batches_per_round = (int32_t)smaller(settings->sample.batches_per_round, s.batches_per_epoch);
    s.rounds_per_epoch = divide_up(s.batches_per_epoch, s.batches_per_round);
    s.round_count = s.rounds_per_epoch * s.epochs;
    s.every_rounds = settings->checkpoint.every_epochs * s.rounds_per_epoch;
    if (is_imported) {
        const enum error_code rc = make_imported(&s, settings, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    enum error_code rc = check_counts(&s, err);
    if (rc != ERROR_NONE)
        return rc;
    s.evaluation_slot_count = (int32_t)divide_up(s.valid_count, s.evaluation_batch_size);
    rc = identity_outputs_tag(settings, s.outputs_tag, err);
    if (rc == ERROR_NONE)
        *out = s;
    return rc;
}

void schedule_take_graphs(struct schedule *s, uint32_t most_nodes, uint32_t node_count)
{
    s->seeds_most = smaller(s->batch_size * most_nodes, node_count);
    s->evaluation_seeds_most = smaller(s->evaluation_batch_size * most_nodes, node_count);
}

static int64_t round_in_epoch(const struct schedule *s, int64_t round)
{
    return round % s->rounds_per_epoch;
}

int32_t schedule_slot_count(const struct schedule *s, int64_t round)
{
    const int64_t before = round_in_epoch(s, round) * s->batches_per_round;
    return (int32_t)smaller(s->batches_per_round, s->batches_per_epoch - before);
}

int64_t schedule_slot_before(const struct schedule *s, int64_t round, int32_t slot)
{
    do
        round--;
    while (round >= 0 && schedule_slot_count(s, round) <= slot);
    return round;
}

int64_t schedule_slot_after(const struct schedule *s, int64_t round, int32_t slot)
{
    do
        round++;
    while (round < s->round_count && schedule_slot_count(s, round) <= slot);
    return round < s->round_count ? round : -1;
}

int64_t schedule_oldest_residual(const struct schedule *s, int64_t version)
{
    int64_t oldest = version;
    for (int32_t slot = 0; s->keeps_residuals && slot < s->batches_per_round; slot++) {
        const int64_t before = schedule_slot_before(s, version, slot);
        oldest = before >= 0 && before < oldest ? before : oldest;
    }
    return oldest;
}

int64_t schedule_epoch(const struct schedule *s, int64_t round)
{
    return round / s->rounds_per_epoch;
}

bool schedule_samples(const struct schedule *s, int64_t round)
{
    return schedule_epoch(s, round) % s->reuse_epochs == 0;
}

void schedule_batch_source(const struct schedule *s, int64_t round, int32_t slot,
                           int64_t *source_round, int32_t *source_slot)
{
    const int64_t epoch = schedule_epoch(s, round);
    const int64_t first_epoch = epoch - epoch % s->reuse_epochs;
    int64_t batch = round_in_epoch(s, round) * s->batches_per_round + slot;
    if (epoch != first_epoch) {
        const struct random_stream stream =
            random_stream_of(s->seed, RANDOM_REORDER, (uint32_t)epoch, 0, 0);
        batch = (int64_t)random_permute(&stream, (uint64_t)batch, (uint64_t)s->batches_per_epoch);
    }
    *source_round = first_epoch * s->rounds_per_epoch + batch / s->batches_per_round;
    *source_slot = (int32_t)(batch % s->batches_per_round);
}

bool schedule_waits_for_batch(const struct schedule *s, int64_t round, int64_t source_round)
{
    return schedule_samples(s, round) || source_round >= round - s->staleness;
}

void schedule_seed_range(const struct schedule *s, int64_t round, int32_t slot, int64_t *first,
                         int64_t *count)
{
    const int64_t batch = round_in_epoch(s, round) * s->batches_per_round + slot;
    *first = batch * s->batch_size;
    *count = smaller(s->batch_size, s->train_count - *first);
}

void schedule_cluster_range(const struct schedule *s, int64_t round, int32_t slot, int64_t *first,
                            int64_t *count)
{
    const int64_t batch = round_in_epoch(s, round) * s->batches_per_round + slot;
    *first = batch * s->cluster_count;
    *count = smaller(s->cluster_count, s->part_count - *first);
}

int64_t schedule_shuffled_part(const struct schedule *s, int64_t epoch, int64_t position)
{
    const struct random_stream stream =
        random_stream_of(s->seed, RANDOM_SHUFFLE, (uint32_t)epoch, 1, 0);
    return (int64_t)random_permute(&stream, (uint64_t)position, (uint64_t)s->part_count);
}

int64_t schedule_shuffled(const struct schedule *s, int64_t epoch, int64_t position)
{
    const struct random_stream stream =
        random_stream_of(s->seed, RANDOM_SHUFFLE, (uint32_t)epoch, 0, 0);
    return (int64_t)random_permute(&stream, (uint64_t)position, (uint64_t)s->train_count);
}

void schedule_evaluation_range(const struct schedule *s, int32_t slot, int64_t *first,
                               int64_t *count)
{
    *first = slot * s->evaluation_batch_size;
    *count = smaller(s->evaluation_batch_size, s->valid_count - *first);
}

bool schedule_has_snapshot(const struct schedule *s, int64_t version)
{
    return version > 0 && (version % s->every_rounds == 0 || version == s->round_count);
}

bool schedule_waits_for_checkpoint(const struct schedule *s, int64_t version)
{
    return (s->can_stop_early || s->embedding_shards > 0) && schedule_has_snapshot(s, version);
}

int64_t schedule_base(const struct schedule *s, int64_t round)
{
    return round > s->staleness ? round - s->staleness : 0;
}

int64_t schedule_snapshot_before(const struct schedule *s, int64_t version)
{
    const int64_t before = (version - 1) / s->every_rounds * s->every_rounds;
    return version > 1 && before > 0 ? before : -1;
}

int64_t schedule_snapshot_at_or_after(const struct schedule *s, int64_t version)
{
    return smaller(divide_up(version > 0 ? version : 1, s->every_rounds) * s->every_rounds,
                   s->round_count);
}

int64_t schedule_oldest_needed(const struct schedule *s, int64_t version)
{
    const int64_t epoch = schedule_epoch(s, version);
    return smaller(version, (epoch - epoch % s->reuse_epochs) * s->rounds_per_epoch);
}
