/*
 * pipeline_settings - all settings of a pipeline file, one section a stage, from one table
 * (setting_table.h).
 *
 * From the table come the file, --set section.key=value, --help, --print-config and the canonical
 * text that names a run, so that they cannot disagree. Precedence, lowest first: default in the
 * table, pipeline file, --set. Unknown keys are errors that name the nearest known one. What only
 * says where or how fast to run (threads, memory, workers, Redis) is not here: it does not change
 * the bits.
 */
#ifndef STAGES_PLAN_PIPELINE_SETTINGS_H
#define STAGES_PLAN_PIPELINE_SETTINGS_H

#include "common/base/error.h"
#include "common/nn/links/link_loss.h"
#include "common/nn/model.h"
#include "common/nn/tasks/task.h"
#include "stages/plan/partitioner_list.h"
#include "stages/plan/setting_value.h"
#include "stages/sampling/sampler_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPLIT_SHARE_COUNT = 3, SETTINGS_TEXT_SIZE = 16384 };

/* Choices of the table; further ones stand beside what they choose (enum task_kind, metric,
 * precision, optimizer_rule, rate_rule). */
enum id_type { ID_TYPE_AUTO, ID_TYPE_INTEGER, ID_TYPE_STRING };
enum edge_direction {
    DIRECTION_AUTO,
    DIRECTION_AS_GIVEN,
    DIRECTION_UNDIRECTED,
    DIRECTION_REVERSED
};
enum edge_policy { EDGES_KEEP, EDGES_REMOVE, EDGES_REFUSE };
enum feature_choice {
    FEATURES_AUTO,
    FEATURES_GIVEN,
    FEATURES_DEGREE,
    FEATURES_RANDOM,
    FEATURES_DEGREE_RANDOM,
    FEATURES_NONE,
    FEATURES_FILE /* no word, but the path of a file */
};
/* What nodes of a type without features get. */
enum missing_features {
    MISSING_NONE,
    MISSING_DEGREE,
    MISSING_RANDOM,
    MISSING_DEGREE_RANDOM,
};
enum feature_type { FEATURE_F32, FEATURE_F16, FEATURE_BF16 };
/* In which order the nodes of a block of edges are streamed. */
enum stream_order { STREAM_NATURAL, STREAM_RANDOM, STREAM_DEGREE };
enum weight_scale_kind { WEIGHTS_AS_GIVEN, WEIGHTS_LOG, WEIGHTS_RANK };
enum edge_choice { EDGE_CHOICE_AUTO, EDGE_CHOICE_TRUE, EDGE_CHOICE_FALSE };
/* What becomes of the parts in a version of a dataset (store/records/dataset_delta.h). */
enum partition_update { UPDATE_PLACE, UPDATE_ANEW };
enum edge_feature_choice { EDGE_FEATURES_AUTO, EDGE_FEATURES_NAMED, EDGE_FEATURES_NONE };
enum class_weights_choice { CLASS_WEIGHTS_NONE, CLASS_WEIGHTS_BALANCED };
enum weights_choice { WEIGHTS_BEST, WEIGHTS_LAST };
/* How the step of a mini-batch is cut into units (layer_pipeline.h). */
enum step_pipeline { PIPELINE_WHOLE, PIPELINE_LAYERS };
enum pair_choice { PAIRS_EDGES, PAIRS_WALKS };
/* The events that a held-out event is scored from: all that are strictly earlier, or those of
 * training alone. */
enum history_choice { HISTORY_ALL, HISTORY_TRAINING };
enum ranking_choice { RANKING_NONE, RANKING_SAMPLED, RANKING_ALL, RANKING_GIVEN };
enum edge_split_kind {
    EDGE_SPLIT_RANDOM,
    EDGE_SPLIT_TIME,
    EDGE_SPLIT_LEAVE_ONE_OUT,
    EDGE_SPLIT_GIVEN
};

enum edge_label_form { EDGE_LABEL_AS_GIVEN, EDGE_LABEL_SIGN };

/* Whether an edge of a directed graph and the edge back are held out together; auto: where most
 * edges have one back. */
enum hold_out_reverse { HOLD_OUT_REVERSE_AUTO, HOLD_OUT_REVERSE_ALWAYS, HOLD_OUT_REVERSE_NEVER };

struct edge_split { /* of ingest.edge_split */
    enum edge_split_kind kind;
    int percent[SPLIT_SHARE_COUNT]; /* of random and time: train, valid, test; 100 in all */
};

/* Which labelled nodes are for what. */
enum split_kind {
    SPLIT_IS_GIVEN,
    SPLIT_IS_RANDOM,
    SPLIT_IS_STRATIFIED, /* the shares of each class */
    SPLIT_IS_HASH,       /* by the node's id alone */
    SPLIT_IS_TIME,       /* by ingest.time_column, the earliest for training */
    SPLIT_IS_COLUMN,     /* the words of a column beside the labels */
    SPLIT_IS_MASKS       /* three columns of true and false there */
};

struct split_shares { /* of ingest.split */
    enum split_kind kind;
    bool is_random;                 /* not given: splits of the input are left alone */
    const char *columns;            /* of COLUMN and MASKS: the names, `;` between them; borrowed */
    int percent[SPLIT_SHARE_COUNT]; /* train, valid, test; 100 in all */
};

struct pipeline_settings {
    char name[SETTING_NAME_SIZE];
    int64_t seed;
    int64_t epochs;
    bool portable;
    struct {
        int64_t format; /* the place of a row (dataset_format.h) */
        char path[SETTING_PATH_SIZE];
        char labels[SETTING_PATH_SIZE]; /* files beside an edge list, keyed by its ids; "": none */
        struct choice_or_path features; /* enum feature_choice */
        char feature_ids[SETTING_PATH_SIZE];
        char split_file[SPLIT_SHARE_COUNT][SETTING_PATH_SIZE]; /* train, valid, test */
        char split[SETTING_TEXT_LONG];
        char split_name[SETTING_NAME_SIZE];
        /* columns of tables with a header */
        char id_column[SETTING_NAME_SIZE];
        char label_columns[SETTING_TEXT_LONG];
        char time_column[SETTING_NAME_SIZE];
        char time_format[SETTING_TEXT_LONG];
        char feature_columns[SETTING_COLUMNS_SIZE];
        char edge_columns[SETTING_TEXT_LONG];
        int64_t missing_values;                /* enum missing_value */
        char missing_words[SETTING_TEXT_LONG]; /* a word, or a list [NA, unknown] */
        char column_encoding[SETTING_PATH_SIZE];
        int64_t weight_scale; /* enum weight_scale_kind */
        int64_t id_type;
        int64_t edge_features; /* enum edge_feature_choice */
        bool relations, add_reverse;
        int64_t missing_features;             /* enum missing_features */
        char target_type[RELATION_NAME_SIZE]; /* of labels; "": that of the nodes that have one */
        int64_t direction;
        int64_t self_loops;
        int64_t duplicates;
        int64_t random_dim;
        bool normalise_rows;
        bool standardise;
        char feature_statistics[SETTING_PATH_SIZE]; /* "": of this graph */
        char sparse_columns[SETTING_TEXT_LONG];     /* of sparse features; "": as their files say */
        enum task_kind task;
        int64_t class_count;                /* 0: as many as labels say */
        char node_times[SETTING_PATH_SIZE]; /* "": nodes are always there */
        char edge_label[SETTING_NAME_SIZE]; /* the field of tasks of labelled edges */
        int64_t edge_label_form;            /* enum edge_label_form */
        char edge_split[SETTING_NAME_SIZE]; /* of tasks of pairs */
        int64_t hold_out_reverse;           /* enum hold_out_reverse */
        char edge_file[SPLIT_SHARE_COUNT][SETTING_PATH_SIZE]; /* of it, given; [0] is not used */
        char negative_file[SPLIT_SHARE_COUNT][SETTING_PATH_SIZE]; /* of the links of each split */
        /* generated */
        int64_t nodes;
        double average_degree;
        double degree_exponent;
        int64_t classes;
        double homophily;
        int64_t feature_dim;
        double feature_noise;
        double label_noise;
        double train_share, valid_share;
        /* Figures of version_drift.h that ask for training; 0: never. */
        double retrain_touched, retrain_degree_drift, retrain_feature_drift, retrain_valid_drop;
    } ingest;
    struct {
        int64_t method; /* enum partition_method */
        int64_t parts;
        char assignment[SETTING_PATH_SIZE];
        char loads[SETTING_PATH_SIZE]; /* stages/plan/node_loads.h; "": none */
        bool balance_train;
        bool balance_edges;
        int64_t passes, order; /* of streams; enum stream_order */
        int64_t feature_type;  /* enum feature_type */
        int64_t update;        /* enum partition_update */
        double drift;          /* of the cut, for versions of a dataset */
        double compact; /* likewise: share that has changed above which parts are written whole */
    } partition;
    struct {
        int64_t sampler;         /* enum sampler_kind */
        struct int_list fanouts; /* from the seed nodes outwards; -1: all neighbours */
        char relation_fanouts[SETTING_PATH_SIZE]; /* stages/plan/relation_fanouts.h */
        int64_t batch_size;
        int64_t batches_per_round;
        int64_t run_ahead; /* rounds */
        int64_t reuse_epochs;
        struct int_list evaluation_fanouts; /* empty: all neighbours at each hop */
        int64_t evaluation_batch_size;
        struct sampler_options option; /* of the samplers that have them */
        int64_t exclude_edges;         /* enum excluded_edges_kind, of tasks of labelled edges */
        int64_t negatives;             /* of each edge; likewise below, of link prediction */
        int64_t negative;              /* enum negative_kind */
        int64_t corrupt;               /* enum corrupted_end */
        int64_t pairs;                 /* enum pair_choice */
        int64_t pair_walk_length;
        double walk_p, walk_q;
        bool filter_negatives;
        int64_t evaluation_negatives;
    } sample;
    struct {
        /* A list of layers, instead of `layer`. In an item, activation ACTIVATION_AUTO is ReLU, and
         * none behind the last layer and behind kinds without tensors. */
        struct {
            int64_t count;
            struct layer_config item[LAYER_COUNT_MAX];
        } layers;
        struct layer_config layer; /* each of them; output_dim is train-step.hidden */
        enum jumping_knowledge jumping_knowledge;
        enum type_projection projection;
        enum relation_aggr relation_aggr;
        int64_t embedding; /* columns of the learnable row of each node; 0: none */
        char type_embedding[SETTING_PATH_SIZE]; /* of some types: embedding_shards.h */
        bool features;                          /* the model reads those of the nodes */
        enum precision precision;
        int64_t gradient; /* enum gradient_encoding */
        enum step_pipeline pipeline;
        double gradient_kept;
        enum edge_choice edge_weights, edge_features;
        enum loss loss;
        double huber_delta;
        double label_smoothing;
        struct choice_or_numbers class_weights; /* enum class_weights_choice */
        enum decoder_kind decoder;              /* of tasks of pairs, as are the next two */
        enum link_loss_kind link_loss;
        double link_margin;
        enum readout_kind readout; /* of tasks of graphs */
        /* Whose weights training begins with (run_initial.h); "": drawn by the seed. */
        char initial[SETTING_PATH_SIZE];
    } train_step;
    struct {
        int64_t optimizer;
        double learning_rate;
        double momentum;
        double beta1, beta2, epsilon;
        double weight_decay;
        double clip_norm;             /* 0: off */
        int64_t ranges;               /* of parameters, each added up by a unit of its own */
        int64_t fan_in;               /* gradients that are added at once; 0: all of a round */
        struct int_or_most staleness; /* rounds; 0: a round starts from what the one before made */
        int64_t compensation;         /* enum delay_compensation, where staleness is not 0 */
        double delay_rate;   /* of the learning rate: it is divided by 1 + delay_rate * delay */
        double delay_lambda; /* of the gradient (delay_compensation.h) */
        int64_t schedule;
        int64_t step_epochs;
        double step_factor;
        double final_rate;           /* of cosine, as a share of learning_rate */
        int64_t embedding_optimizer; /* enum sparse_rule */
        double embedding_rate;
        int64_t embedding_policy; /* enum embedding_policy */
        int64_t embedding_shards; /* by range or hash */
        /* of some types: embedding_tensors.h; so is the next */
        char type_embedding_policy[SETTING_PATH_SIZE];
        char type_embedding_rate[SETTING_PATH_SIZE];
    } aggregate;
    struct {
        int64_t every_epochs;
        int64_t keep; /* snapshots; 0: all, and no round record is pruned */
        int64_t metric;
        int64_t patience; /* snapshots without a better metric; 0: never stop early */
    } checkpoint;
    struct {
        int64_t weights;
        bool embeddings, predictions;
        /* of a run of inference alone (run_import.h); "": of the run itself */
        char model[SETTING_PATH_SIZE];
        /* Of such a run: some nodes alone (store/records/wanted_nodes.h); "": all. */
        char nodes[SETTING_NAME_SIZE];
        int64_t history;    /* enum history_choice; pipeline_history() says what it comes to */
        int64_t ranking;    /* enum ranking_choice */
        int64_t ranked_end; /* enum corrupted_end */
        int64_t candidates;
        bool filtered;
    } infer;
};

/* What is done about gradients of weights that are some rounds old. */
enum delay_compensation { COMPENSATE_RATE, COMPENSATE_GRADIENT, COMPENSATE_NOTHING };

/* What a setting is part of, in the order of the pipeline: what depends on it. */
enum setting_part {
    SETTING_OF_DATASET = 1,
    SETTING_OF_PARTITION = 2,
    SETTING_OF_TRAINING = 4,
    SETTING_OF_TARGET = 8,     /* where training ends; no round before that depends on it */
    SETTING_OF_OUTPUTS = 16,   /* of trained weights */
    SETTING_OF_OPERATION = 32, /* what is kept, how far ahead: changes no bit of anything */
    SETTING_OF_FORMAT = 64,    /* beside one of these: only some input formats read it */
};

/* Every setting at its default. */
void pipeline_settings_defaults(struct pipeline_settings *settings);
/* One setting by name. `where` stands before the message ("cora.yaml:12", "--set").
 * Fails: ERROR_INVALID, for an unknown name with the nearest known one. */
MUST_CHECK enum error_code pipeline_settings_assign(struct pipeline_settings *settings,
                                                    const char *name, const char *value,
                                                    const char *where, struct error *err);
/* Defaults, then the file. A relative path in it is relative to the file's folder; ${NAME} and
 * ${NAME:-default} in paths are replaced. */
MUST_CHECK enum error_code pipeline_settings_load(struct pipeline_settings *settings,
                                                  const char *path, struct error *err);
/* "section.key=value" of --set. */
MUST_CHECK enum error_code pipeline_settings_override(struct pipeline_settings *settings,
                                                      const char *assignment, struct error *err);
/* Rules that concern several settings at once, e.g. that evaluation_fanouts is as long as
 * fanouts. */
MUST_CHECK enum error_code pipeline_settings_check(const struct pipeline_settings *settings,
                                                   struct error *err);
/* Those of them that look at ingest.format, again, when what was auto is known. */
MUST_CHECK enum error_code pipeline_settings_check_format(const struct pipeline_settings *settings,
                                                          struct error *err);

/* "name = value" lines of all settings, into `out` [SETTINGS_TEXT_SIZE]. Equal settings give equal
 * text. */
MUST_CHECK enum error_code pipeline_settings_text(const struct pipeline_settings *settings,
                                                  char *out, struct error *err);
/* What ingest.split says: "given", or "random 60/20/20". Fails: ERROR_INVALID for anything else. */
MUST_CHECK enum error_code pipeline_split_shares(const struct pipeline_settings *settings,
                                                 struct split_shares *shares, struct error *err);
/* What ingest.edge_split says: "random 85/5/10", "time 80/10/10", "leave_one_out" or "given".
 * Fails: ERROR_INVALID. */
MUST_CHECK enum error_code pipeline_edge_split(const struct pipeline_settings *settings,
                                               struct edge_split *split, struct error *err);
/* Whether it is given, of a task of pairs. */
bool pipeline_gives_edges(const struct pipeline_settings *settings);
struct sampler;
/* The row of sample.sampler. */
const struct sampler *pipeline_sampler(const struct pipeline_settings *settings);
/* Whether the examples are events: edges that are split by time and sampled at their own times. */
bool pipeline_learns_events(const struct pipeline_settings *settings);
/* Returns infer.history for a task of events, HISTORY_TRAINING for any other. */
enum history_choice pipeline_history(const struct pipeline_settings *settings);
/* Whether held-out edges that are given may lie in the input itself, as in sets of OGB. The input
 * says whether they do. */
bool pipeline_may_have_edge_splits(const struct pipeline_settings *settings);
/* Whether labels, features and splits lie in files beside the input that settings name
 * (ingest.labels, ...), and not in it. */
bool pipeline_has_node_files(const struct pipeline_settings *settings);
/* Whether the input is read for the labels and splits of nodes or graphs. */
bool pipeline_reads_targets(const struct pipeline_settings *settings);
/* Whether a method (enum partition_method) can go by measured loads, partition.loads. */
bool pipeline_takes_loads(int64_t method);
/* What the field of their labels is called; NULL of other tasks. */
const char *pipeline_edge_label(const struct pipeline_settings *settings);
/* Pairs that are no edges beside each edge, in training and in evaluation: 0 of edges with
 * labels. */
int64_t pipeline_negatives(const struct pipeline_settings *settings);
int64_t pipeline_evaluation_negatives(const struct pipeline_settings *settings);
/* Gives settings that were read from `text` of a run or a model the values that were in force when
 * it was written. Without infer.history in it held-out events were no messages, which is
 * `training`. Without train-step.inner layers of gin had ReLU alone between their matrices, which
 * is `relu`. */
void pipeline_settings_date(struct pipeline_settings *settings, const char *text);
/* Whether the layers of train-step.model, gin, have more than ReLU between their matrices. */
bool pipeline_fills_gin(const struct pipeline_settings *settings);
/* Writes train-step.inner, also of train-step.layers, as ids have it: `auto` where ReLU alone
 * stands between the matrices of gin, as it did before the setting was there, and `same` where more
 * does. */
void pipeline_inner_for_ids(struct pipeline_settings *settings);
/* The reverse of pipeline_settings_text(). `where` stands in messages. */
MUST_CHECK enum error_code pipeline_settings_parse(struct pipeline_settings *settings,
                                                   const char *text, const char *where,
                                                   struct error *err);
/* The same over what `settings` has: other settings stay. */
MUST_CHECK enum error_code pipeline_settings_apply(struct pipeline_settings *settings,
                                                   const char *text, const char *where,
                                                   struct error *err);
/* Puts those that are part of `parts` (enum setting_part) back to their defaults. */
void pipeline_settings_reset(struct pipeline_settings *settings, unsigned parts);

/* What ids are made of: the lines of the settings that are part of any of `parts`, have an effect
 * and differ from their default, ordered by name; paths left out. `out` [SETTINGS_TEXT_SIZE]; ""
 * when there are none. */
MUST_CHECK enum error_code pipeline_settings_identity(const struct pipeline_settings *settings,
                                                      unsigned parts, char *out, struct error *err);

/* The lines that were left out: where the content lies that counts instead. */
MUST_CHECK enum error_code pipeline_settings_sources(const struct pipeline_settings *settings,
                                                     unsigned parts, char *out, struct error *err);

enum { SETTING_CHANGES_SIZE = 400 };
/* For people: "train-step.hidden 64 -> 128, epochs 10 -> 20", of those settings in `parts` that
 * have an effect. False when there are none. */
bool pipeline_settings_changes(const struct pipeline_settings *from,
                               const struct pipeline_settings *to, unsigned parts,
                               char text[SETTING_CHANGES_SIZE]);

#endif
