/*
 * keys - what everything in a store is called.
 *
 *   dataset/<id>/schema  labels  splits  edge_splits  graphs  node_ids  feature_statistics  node_columns  node_times  edges/<chunk>  features/<chunk>
 *   dataset/<id>/feature_statistics/<t>                               of the node types but the first
 *   dataset/<id>/delta                                                of a version of another dataset
 *   partition/<id>/assignment  permutation  book  splits  edge_splits  graphs  report
 *   partition/<id>/delta  placement                                              of one that uses the files of another
 *   partition/<id>/part/<p>/topology (artifact)  topology_seal  shard (artifact)  shard_seal
 *   partition/<id>/part/<p>/type/<t>/shard (artifact)  shard_seal     of the node types but the first
 *   run/<id>/plan  walk_counts  wanted_nodes  initial
 *   run/<id>/evaluation/<k>/mini_batch
 *   run/<id>/round/<r>/slot/<k>/mini_batch  gradient  gradient_range/<i>  residual   run/<id>/round/<r>/gradient_sum/<n>  base
 *   run/<id>/round/<r>/pass/<n>/slot/<k>/pass_output  pass_gradient
 *   run/<id>/round/<r>/embedding/<s>   run/<id>/embedding/<v>/shard/<s>
 *   run/<id>/weights/<v>   run/<id>/optimizer/<v>
 *   run/<id>/evaluation/<k>/result/<v>
 *   run/<id>/snapshot/<v>
 *   run/<id>/infer/<v>/<layer>/part/<p>/shard (artifact)  shard_seal
 *   run/<id>/outputs/<v>[-<tag>] (artifact)  outputs/<v>[-<tag>]_seal
 *   switches: current/dataset/<settings>  current/partition/<settings>  current/run/newest
 *             current/id/<digits>  current/file/<digits>  current/failure/<digits>
 *             current/version/<digits>  current/next/<digits>
 *             run/<id>/wanted  run/<id>/failure  run/<id>/recheck  run/<id>/current_snapshot  run/<id>/finished
 *
 * Weights of version v are those that round v computes with: round r turns version r into r + 1.
 * What infer makes is named by the version of the weights it was made with, and outputs by a tag,
 * too, when the settings say something else of them than the defaults. The seal of an artifact has
 * the artifact's key with "_seal" behind it. Numbers have ten digits, so that the order of keys is
 * the order of numbers.
 */
#ifndef STORE_OBJECTS_KEYS_H
#define STORE_OBJECTS_KEYS_H

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
/* The same of a node type: "shard", "shard_seal". Those of type 0 are the part's own. */
struct key key_part_type(const char *partition_id, int part, uint32_t type, const char *what);

struct key key_run(const char *run_id, const char *what);
struct key key_run_plan(const char *run_id);
struct key key_current_snapshot(const char *run_id); /* a switch */
struct key key_mini_batch(const char *run_id, int64_t round, int slot);
struct key key_gradient(const char *run_id, int64_t round, int slot);
/* A range of that gradient's values; the sum of one over slots (stages/plan/gradient_sums.h). */
struct key key_gradient_range(const char *run_id, int64_t round, int slot, int range);
struct key key_gradient_sum(const char *run_id, int64_t round, int number);
struct key key_residual(const char *run_id, int64_t round, int slot);
/* What pass `pass` of a slot's step makes (stages/plan/layer_pipeline.h). */
struct key key_pass_output(const char *run_id, int64_t round, int pass, int slot);
struct key key_pass_gradient(const char *run_id, int64_t round, int pass, int slot);
struct key key_round_base(const char *run_id, int64_t round);
/* Rows of embeddings of a shard that the rounds before version `version` changed. */
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

#endif
