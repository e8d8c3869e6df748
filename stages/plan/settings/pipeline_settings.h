/*
 * pipeline_settings - all settings of a pipeline file, with one section for each stage, from one
 * table (setting_table.h).
 *
 * The file, --set section.key=value, --help, --print-config and the canonical text that names a run
 * all use that table, so they cannot disagree. Precedence, lowest first: default in the table,
 * pipeline file, --set. An unknown key is an error that names the nearest known one. Options that
 * say only where or how fast to run (threads, memory, workers, Redis) are not settings: they do not
 * change the bits.
 */
#ifndef STAGES_PLAN_SETTINGS_PIPELINE_SETTINGS_H
#define STAGES_PLAN_SETTINGS_PIPELINE_SETTINGS_H

#include "common/base/error.h"
#include "common/nn/links/link_loss.h"
#include "common/nn/model.h"
#include "common/nn/tasks/task.h"
#include "stages/plan/settings/partitioner_list.h"
#include "stages/plan/settings/setting_value.h"
#include "stages/sampling/sampler_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPLIT_SHARE_COUNT = 3, SETTINGS_TEXT_SIZE = 16384 };

/* Choices of the table. Further ones are declared with the code that they choose (enum task_kind,
 * metric, precision, optimizer_rule, rate_rule). */
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
    FEATURES_FILE /* not a word, but the path of a file */
};
/* The features that nodes of a type without features get. */
enum missing_features {
    MISSING_NONE,
    MISSING_DEGREE,
    MISSING_RANDOM,
    MISSING_DEGREE_RANDOM,
};
enum feature_type { FEATURE_F32, FEATURE_F16, FEATURE_BF16 };
/* The order in which the nodes of a block of edges are streamed. */
enum stream_order { STREAM_NATURAL, STREAM_RANDOM, STREAM_DEGREE };
enum weight_scale_kind { WEIGHTS_AS_GIVEN, WEIGHTS_LOG, WEIGHTS_RANK };
enum edge_choice { EDGE_CHOICE_AUTO, EDGE_CHOICE_TRUE, EDGE_CHOICE_FALSE };
/* How the parts are made for a new version of a dataset (store/records/dataset/dataset_delta.h). */
enum partition_update { UPDATE_PLACE, UPDATE_ANEW };
enum edge_feature_choice { EDGE_FEATURES_AUTO, EDGE_FEATURES_NAMED, EDGE_FEATURES_NONE };
enum class_weights_choice { CLASS_WEIGHTS_NONE, CLASS_WEIGHTS_BALANCED };
enum weights_choice { WEIGHTS_BEST, WEIGHTS_LAST };
/* How the step of a mini-batch is cut into units (layer_pipeline.h). */
enum step_pipeline { PIPELINE_WHOLE, PIPELINE_LAYERS };
enum pair_choice { PAIRS_EDGES, PAIRS_WALKS };
/* The events that a held-out event is scored from: all strictly earlier ones, or only those of
 * training. */
enum history_choice { HISTORY_ALL, HISTORY_TRAINING };
enum ranking_choice { RANKING_NONE, RANKING_SAMPLED, RANKING_ALL, RANKING_GIVEN };
enum edge_split_kind {
    EDGE_SPLIT_RANDOM,
    EDGE_SPLIT_TIME,
    EDGE_SPLIT_LEAVE_ONE_OUT,
    EDGE_SPLIT_GIVEN
};

enum edge_label_form { EDGE_LABEL_AS_GIVEN, EDGE_LABEL_SIGN };

/* Tells if an edge of a directed graph and its reverse are held out together; auto: if most edges
 * have a reverse. */
enum hold_out_reverse { HOLD_OUT_REVERSE_AUTO, HOLD_OUT_REVERSE_ALWAYS, HOLD_OUT_REVERSE_NEVER };

struct edge_split { /* parsed from ingest.edge_split */
    enum edge_split_kind kind;
    /* For random and time: train, valid, test; together 100. */
    int percent[SPLIT_SHARE_COUNT];
};

/* How labelled nodes are divided into training, validation and test. */
enum split_kind {
    SPLIT_IS_GIVEN,
    SPLIT_IS_RANDOM,
    SPLIT_IS_STRATIFIED, /* the same shares of each class */
    SPLIT_IS_HASH,       /* by a hash of the node's id alone */
    SPLIT_IS_TIME,       /* by ingest.time_column, the earliest for training */
    SPLIT_IS_COLUMN,     /* by the words of a column in the labels file */
    SPLIT_IS_MASKS       /* by three columns of true and false in the labels file */
};

struct split_shares { /* parsed from ingest.split */
    enum split_kind kind;
    bool is_random; /* ingest.split is not given: splits of the input are kept */
    /* For COLUMN and MASKS: the names with `;` between them; borrowed. */
    const char *columns;
    int percent[SPLIT_SHARE_COUNT]; /* train, valid, test; together 100 */
};

struct pipeline_settings {
    char name[SETTING_NAME_SIZE];
    int64_t seed;
    int64_t epochs;
    bool portable;
    struct {
        int64_t format; /* the index of a row (dataset_format.h) */
        char path[SETTING_PATH_SIZE];
        /* Files beside an edge list, keyed by its ids; "": none. */
        char labels[SETTING_PATH_SIZE];
        struct choice_or_path features; /* enum feature_choice */
        char feature_ids[SETTING_PATH_SIZE];
        char split_file[SPLIT_SHARE_COUNT][SETTING_PATH_SIZE]; /* train, valid, test */
        char split[SETTING_TEXT_LONG];
        char split_name[SETTING_NAME_SIZE];
        /* Columns of tables with a header. */
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
        int64_t missing_features; /* enum missing_features */
        /* The node type of the labels; "": the type whose nodes have labels. */
        char target_type[RELATION_NAME_SIZE];
        int64_t direction;
        int64_t self_loops;
        int64_t duplicates;
        int64_t random_dim;
        bool normalise_rows;
        bool standardise;
        char feature_statistics[SETTING_PATH_SIZE]; /* "": computed from this graph */
        /* The number of columns of sparse features; "": as their files say. */
        char sparse_columns[SETTING_TEXT_LONG];
        enum task_kind task;
        int64_t class_count;                /* 0: as many as the labels have */
        char node_times[SETTING_PATH_SIZE]; /* "": nodes are always there */
        char edge_label[SETTING_NAME_SIZE]; /* the name of the field, for tasks of labelled edges */
        int64_t edge_label_form;            /* enum edge_label_form */
        char edge_split[SETTING_NAME_SIZE]; /* for tasks of pairs */
        int64_t hold_out_reverse;           /* enum hold_out_reverse */
        /* Held-out edges that are given; [0] is not used. */
        char edge_file[SPLIT_SHARE_COUNT][SETTING_PATH_SIZE];
        char negative_file[SPLIT_SHARE_COUNT][SETTING_PATH_SIZE]; /* the negatives of each split */
        /* Settings of the generator. */
        int64_t nodes;
        double average_degree;
        double degree_exponent;
        int64_t classes;
        double homophily;
        int64_t feature_dim;
        double feature_noise;
        double label_noise;
        double train_share, valid_share;
        /* Thresholds for the figures of version_drift.h; above one of them training is asked for.
         * 0: never. */
        double retrain_touched, retrain_degree_drift, retrain_feature_drift, retrain_valid_drop;
    } ingest;
    struct {
        int64_t method; /* enum partition_method */
        int64_t parts;
        char assignment[SETTING_PATH_SIZE];
        char loads[SETTING_PATH_SIZE]; /* stages/plan/model/node_loads.h; "": none */
        bool balance_train;
        bool balance_edges;
        int64_t passes, order; /* for streaming methods; enum stream_order */
        int64_t feature_type;  /* enum feature_type */
        int64_t update;        /* enum partition_update */
        /* Loss of cut quality at which a new version of a dataset is partitioned anew. */
        double drift;
        /* Share of changed rows above which the parts of a new version are written whole. */
        double compact;
    } partition;
    struct {
        int64_t sampler;         /* enum sampler_kind */
        struct int_list fanouts; /* from the seed nodes outwards; -1: all neighbours */
        char relation_fanouts[SETTING_PATH_SIZE]; /* stages/plan/settings/relation_fanouts.h */
        int64_t batch_size;
        int64_t batches_per_round;
        int64_t run_ahead; /* rounds */
        int64_t reuse_epochs;
        struct int_list evaluation_fanouts; /* empty: all neighbours at each hop */
        int64_t evaluation_batch_size;
        struct sampler_options option; /* options of single samplers */
        /* enum excluded_edges_kind; for tasks of labelled edges. */
        int64_t exclude_edges;
        /* Number for each edge. This and the following settings are for link prediction. */
        int64_t negatives;
        int64_t negative; /* enum negative_kind */
        int64_t corrupt;  /* enum corrupted_end */
        int64_t pairs;    /* enum pair_choice */
        int64_t pair_walk_length;
        double walk_p, walk_q;
        bool filter_negatives;
        int64_t evaluation_negatives;
    } sample;
    struct {
        /* A list of layers, instead of `layer`. In an item, ACTIVATION_AUTO means ReLU, but none
         * after the last layer and after kinds without tensors. */
        struct {
            int64_t count;
            struct layer_config item[LAYER_COUNT_MAX];
        } layers;
        /* The same for each layer; output_dim is train-step.hidden. */
        struct layer_config layer;
        enum jumping_knowledge jumping_knowledge;
        enum type_projection projection;
        enum relation_aggr relation_aggr;
        /* Columns of the learnable row of each node; 0: none. */
        int64_t embedding;
        char type_embedding[SETTING_PATH_SIZE]; /* for some types: embedding_shards.h */
        bool features;                          /* the model reads the features of the nodes */
        enum precision precision;
        int64_t gradient; /* enum gradient_encoding */
        enum step_pipeline pipeline;
        double gradient_kept;
        enum edge_choice edge_weights, edge_features;
        enum loss loss;
        double huber_delta;
        double label_smoothing;
        struct choice_or_numbers class_weights; /* enum class_weights_choice */
        enum decoder_kind decoder;              /* this and the next two are for tasks of pairs */
        enum link_loss_kind link_loss;
        double link_margin;
        enum readout_kind readout; /* for tasks of graphs */
        /* The model whose weights training begins with (run_initial.h); "": weights are drawn by
         * the seed. */
        char initial[SETTING_PATH_SIZE];
    } train_step;
    struct {
        int64_t optimizer;
        double learning_rate;
        double momentum;
        double beta1, beta2, epsilon;
        double weight_decay;
        double clip_norm; /* 0: off */
        /* Ranges of parameters; a unit adds up each of them. */
        int64_t ranges;
        /* How many gradients are added at once; 0: all of a round. */
        int64_t fan_in;
        /* In rounds; 0: a round starts from the weights of the round before. */
        struct int_or_most staleness;
        /* enum delay_compensation, with staleness. */
        int64_t compensation;
        /* The learning rate is divided by 1 + delay_rate * delay. */
        double delay_rate;
        double delay_lambda; /* for the gradient (delay_compensation.h) */
        int64_t schedule;
        int64_t step_epochs;
        double step_factor;
        double final_rate;           /* for cosine: share of learning_rate */
        int64_t embedding_optimizer; /* enum sparse_rule */
        double embedding_rate;
        int64_t embedding_policy; /* enum embedding_policy */
        int64_t embedding_shards; /* for the policies range and hash */
        /* The next two are for some types: embedding_tensors.h. */
        char type_embedding_policy[SETTING_PATH_SIZE];
        char type_embedding_rate[SETTING_PATH_SIZE];
    } aggregate;
    struct {
        int64_t every_epochs;
        /* Number of snapshots; 0: all, and no round record is pruned. */
        int64_t keep;
        int64_t metric;
        /* Snapshots without a better metric before training stops; 0: it never stops early. */
        int64_t patience;
    } checkpoint;
    struct {
        int64_t weights;
        bool embeddings, predictions;
        /* The model of a run of inference alone (run_import.h); "": the weights of the run
         * itself. */
        char model[SETTING_PATH_SIZE];
        /* The nodes that such a run computes (store/records/dataset/wanted_nodes.h); "": all. */
        char nodes[SETTING_NAME_SIZE];
        /* enum history_choice; pipeline_history() resolves it. */
        int64_t history;
        int64_t ranking;    /* enum ranking_choice */
        int64_t ranked_end; /* enum corrupted_end */
        int64_t candidates;
        bool filtered;
    } infer;
};

/* How gradients are corrected whose weights are some rounds old. */
enum delay_compensation { COMPENSATE_RATE, COMPENSATE_GRADIENT, COMPENSATE_NOTHING };

/* The things that depend on a setting, in the order of the pipeline. A setting counts in the id of
 * all later things, too. */
enum setting_part {
    SETTING_OF_DATASET = 1,
    SETTING_OF_PARTITION = 2,
    SETTING_OF_TRAINING = 4,
    /* The end of training; no round before it depends on the setting. */
    SETTING_OF_TARGET = 8,
    SETTING_OF_OUTPUTS = 16, /* outputs of trained weights */
    /* Retention, and how far ahead units are made: no bit depends on it. */
    SETTING_OF_OPERATION = 32,
    /* Added to one of the others: only some input formats read the setting. */
    SETTING_OF_FORMAT = 64,
};

/* Sets every setting to its default. */
void pipeline_settings_defaults(struct pipeline_settings *settings);
/* Sets one setting by name. `where` begins the message ("cora.yaml:12", "--set"). Fails:
 * ERROR_INVALID; for an unknown name the message has the nearest known one. */
MUST_CHECK enum error_code pipeline_settings_assign(struct pipeline_settings *settings,
                                                    const char *name, const char *value,
                                                    const char *where, struct error *err);
/* Sets the defaults, then reads the file. A relative path in the file is relative to the file's
 * folder; ${NAME} and ${NAME:-default} in paths are replaced. */
MUST_CHECK enum error_code pipeline_settings_load(struct pipeline_settings *settings,
                                                  const char *path, struct error *err);
/* Applies "section.key=value", as --set takes it. */
MUST_CHECK enum error_code pipeline_settings_override(struct pipeline_settings *settings,
                                                      const char *assignment, struct error *err);
/* Checks the rules that concern several settings at once, e.g. that evaluation_fanouts is as long
 * as fanouts. */
MUST_CHECK enum error_code pipeline_settings_check(const struct pipeline_settings *settings,
                                                   struct error *err);
/* Checks again those rules that depend on ingest.format, after format `auto` was resolved. */
MUST_CHECK enum error_code pipeline_settings_check_format(const struct pipeline_settings *settings,
                                                          struct error *err);

/* Writes the "name = value" lines of all settings to `out` [SETTINGS_TEXT_SIZE]. Equal settings
 * give equal text. */
MUST_CHECK enum error_code pipeline_settings_text(const struct pipeline_settings *settings,
                                                  char *out, struct error *err);
/* Parses ingest.split: "given", or e.g. "random 60/20/20". Fails: ERROR_INVALID for any other
 * text. */
MUST_CHECK enum error_code pipeline_split_shares(const struct pipeline_settings *settings,
                                                 struct split_shares *shares, struct error *err);
/* Parses ingest.edge_split: "random 85/5/10", "time 80/10/10", "leave_one_out" or "given". Fails:
 * ERROR_INVALID. */
MUST_CHECK enum error_code pipeline_edge_split(const struct pipeline_settings *settings,
                                               struct edge_split *split, struct error *err);
/* Returns whether the task has pairs and ingest.edge_split is "given". */
bool pipeline_gives_edges(const struct pipeline_settings *settings);
struct sampler;
/* Returns the row of sample.sampler. */
const struct sampler *pipeline_sampler(const struct pipeline_settings *settings);
/* Returns whether the examples are events: edges that are split by time and sampled at their own
 * times. */
bool pipeline_learns_events(const struct pipeline_settings *settings);
/* Returns infer.history for a task of events, HISTORY_TRAINING for any other. */
enum history_choice pipeline_history(const struct pipeline_settings *settings);
/* Returns whether the input itself may contain the given held-out edges, as sets of OGB do. Only
 * the input says whether it does. */
bool pipeline_may_have_edge_splits(const struct pipeline_settings *settings);
/* Returns whether labels, features and splits are in files beside the input that settings name
 * (ingest.labels, ...), and not in the input. */
bool pipeline_has_node_files(const struct pipeline_settings *settings);
/* Returns whether the input is read for the labels and splits of nodes or graphs. */
bool pipeline_reads_targets(const struct pipeline_settings *settings);
/* Returns whether a method (enum partition_method) can use measured loads, partition.loads. */
bool pipeline_takes_loads(int64_t method);
/* Returns the name of the field of the edge labels; NULL for tasks without labelled edges. */
const char *pipeline_edge_label(const struct pipeline_settings *settings);
/* Return the number of negatives for each edge, in training and in evaluation; 0 for labelled
 * edges. */
int64_t pipeline_negatives(const struct pipeline_settings *settings);
int64_t pipeline_evaluation_negatives(const struct pipeline_settings *settings);
/* Adjusts settings that were read from `text`, the settings of a run or a model, to the rules in
 * force when it was written. If infer.history is missing, held-out events were not messages: that
 * is `training`. If train-step.inner is missing, layers of gin had only ReLU between their
 * matrices: that is `relu`. */
void pipeline_settings_date(struct pipeline_settings *settings, const char *text);
/* Returns whether the layers of train-step.model, gin, have more than ReLU between their
 * matrices. */
bool pipeline_fills_gin(const struct pipeline_settings *settings);
/* Sets train-step.inner, and the one of train-step.layers, to the value that ids use: `auto` if
 * only ReLU is between the matrices of gin, as before the setting existed, and `same` if there is
 * more. */
void pipeline_inner_for_ids(struct pipeline_settings *settings);
/* Reads the text of pipeline_settings_text(). `where` is the source in messages. */
MUST_CHECK enum error_code pipeline_settings_parse(struct pipeline_settings *settings,
                                                   const char *text, const char *where,
                                                   struct error *err);
/* Reads such a text over the present values: settings that it does not name keep their value. */
MUST_CHECK enum error_code pipeline_settings_apply(struct pipeline_settings *settings,
                                                   const char *text, const char *where,
                                                   struct error *err);
/* Resets the settings that are part of `parts` (enum setting_part) to their defaults. */
void pipeline_settings_reset(struct pipeline_settings *settings, unsigned parts);

/* Writes the text that ids are hashed from: the lines of the settings that are part of any of
 * `parts`, have an effect and differ from their default, ordered by name, without paths. `out`
 * [SETTINGS_TEXT_SIZE]; "" if there are none. */
MUST_CHECK enum error_code pipeline_settings_identity(const struct pipeline_settings *settings,
                                                      unsigned parts, char *out, struct error *err);

/* Writes the lines of the paths that pipeline_settings_identity() leaves out. An id depends on the
 * content at those paths. */
MUST_CHECK enum error_code pipeline_settings_sources(const struct pipeline_settings *settings,
                                                     unsigned parts, char *out, struct error *err);

enum { SETTING_CHANGES_SIZE = 400 };
/* Writes the settings in `parts` that have an effect and differ, for people: "train-step.hidden 64
 * -> 128, epochs 10 -> 20". Returns false if there are none. */
bool pipeline_settings_changes(const struct pipeline_settings *from,
                               const struct pipeline_settings *to, unsigned parts,
                               char text[SETTING_CHANGES_SIZE]);

#endif
