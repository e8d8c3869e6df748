/*
 * keys - makes the keys of everything in a store.
 *
 *   dataset/<id>/schema  labels  splits  edge_splits  graphs  node_ids
 *                feature_statistics  node_columns  node_times  edges/<chunk>  features/<chunk>
 *   dataset/<id>/feature_statistics/<t>               for node types other than the first
 *   dataset/<id>/delta                                if it is a version of another dataset
 *   partition/<id>/assignment  permutation  book  splits  edge_splits  graphs  report
 *   partition/<id>/delta  placement                   if it uses the files of another partition
 *   partition/<id>/part/<p>/topology (artifact)  topology_seal  shard (artifact)  shard_seal
 *   partition/<id>/part/<p>/type/<t>/shard (artifact)  shard_seal
 *                                                     for node types other than the first
 *   run/<id>/plan  walk_counts  wanted_nodes  initial
 *   run/<id>/evaluation/<k>/mini_batch
 *   run/<id>/round/<r>/slot/<k>/mini_batch  gradient  gradient_range/<i>  residual
 *   run/<id>/round/<r>/gradient_sum/<n>  base
 *   run/<id>/round/<r>/pass/<n>/slot/<k>/pass_output  pass_gradient
 *   run/<id>/round/<r>/embedding/<s>   run/<id>/embedding/<v>/shard/<s>
 *   run/<id>/weights/<v>   run/<id>/optimizer/<v>
 *   run/<id>/evaluation/<k>/result/<v>
 *   run/<id>/snapshot/<v>
 *   run/<id>/infer/<v>/<layer>/part/<p>/shard (artifact)  shard_seal
 *   run/<id>/outputs/<v>[-<tag>] (artifact)  outputs/<v>[-<tag>]_seal
 *   refs: current/dataset/<settings>  current/partition/<settings>  current/run/newest
 *         current/id/<digits>  current/file/<digits>  current/failure/<digits>
 *         current/version/<digits>  current/next/<digits>
 *         run/<id>/wanted  run/<id>/failure  run/<id>/recheck  run/<id>/current_snapshot
 *         run/<id>/finished
 *
 * Round r computes with the weights of version v = r and makes version r + 1. The results of infer
 * are named by the version of the weights that it used; outputs also have a tag if the output
 * settings differ from the defaults. The seal of an artifact has the artifact's key followed by
 * "_seal". Numbers have ten digits, so that the order of keys is the order of numbers.
 */
#ifndef STORE_OBJECTS_KEYS_H
#define STORE_OBJECTS_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum { KEY_SIZE = 200, ID_SIZE = 80, OUTPUTS_TAG_SIZE = 9 };

struct key {
    char text[KEY_SIZE];
};

struct key key_dataset(const char *dataset_id, const char *what);
struct key key_edge_chunk(const char *dataset_id, int64_t chunk);
struct key key_feature_chunk(const char *dataset_id, int64_t chunk);
struct key key_feature_statistics(const char *dataset_id, uint32_t type);

struct key key_partition(const char *partition_id, const char *what);
/* what: "topology", "topology_seal", "shard", "shard_seal" */
struct key key_part(const char *partition_id, int part, const char *what);
/* Same for the shard of a node type: "shard", "shard_seal". Type 0 uses the keys of the part. */
struct key key_part_type(const char *partition_id, int part, uint32_t type, const char *what);

struct key key_run(const char *run_id, const char *what);
struct key key_run_plan(const char *run_id);
struct key key_current_snapshot(const char *run_id); /* a ref */
struct key key_mini_batch(const char *run_id, int64_t round, int slot);
struct key key_gradient(const char *run_id, int64_t round, int slot);
/* One range of a gradient's values, and the sum of that range over slots
 * (stages/plan/chain/gradient_sums.h). */
struct key key_gradient_range(const char *run_id, int64_t round, int slot, int range);
struct key key_gradient_sum(const char *run_id, int64_t round, int number);
struct key key_residual(const char *run_id, int64_t round, int slot);
/* The records of pass `pass` of a slot's step (stages/plan/chain/layer_pipeline.h). */
struct key key_pass_output(const char *run_id, int64_t round, int pass, int slot);
struct key key_pass_gradient(const char *run_id, int64_t round, int pass, int slot);
struct key key_round_base(const char *run_id, int64_t round);
/* The rows of a shard of embeddings that the rounds before version `version` changed. */
struct key key_embedding_seal(const char *run_id, int64_t version, int shard);
struct key key_walk_counts(const char *run_id);
struct key key_wanted_nodes(const char *run_id);
struct key key_initial_weights(const char *run_id);
struct key key_evaluation_mini_batch(const char *run_id, int slot);
struct key key_evaluation(const char *run_id, int64_t version, int slot);
struct key key_weights(const char *run_id, int64_t version);
struct key key_optimizer_state(const char *run_id, int64_t version);
struct key key_snapshot(const char *run_id, int64_t version);
/* what: "shard", "shard_seal" */
struct key key_infer(const char *run_id, int64_t version, int layer, int part, const char *what);
/* `tag` may be empty. */
struct key key_outputs(const char *run_id, int64_t version, const char *tag);
struct key key_outputs_seal(const char *run_id, int64_t version, const char *tag);
struct key key_current(const char *what, const char *name);

/* Sets `*out` to the key of the seal of the artifact with this key, which may come from a record.
 * Returns false if there is no room for it, so that no artifact has such a key. */
bool key_find_seal(const char *artifact, struct key *out);

#endif
