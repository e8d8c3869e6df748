/*
 * model_card - what has to be known of a trained model to apply it to another graph: the schema of the graph that it was trained on,
 * by what its features were scaled, the settings, and what classes weigh.
 *
 * It is made of a run, and goes with the model's file as the text "card" of its metadata, so that the file is enough:
 *
 *   {"name", "settings": lines of what differs from the defaults, without paths,
 *    "task", "class_count", "feature_dim", "feature_origin", "edge_columns": {column: width},
 *    "node_types": [{"name", "feature_dim"}], "relations": [{"name", "source", "target"}], "target_type",    of graphs with relations
 *    "feature_scaling": text (common/formats/feature_scaling.h), or null where it is too long for the file,   of scaled features
 *    "column_encoding": text (common/formats/column_encoding.h), or null where it is too long,               of words and encoded columns
 *    "class_weights": [numbers]}                                                                             where classes have them
 */
#ifndef STAGES_PLAN_MODEL_CARD_H
#define STAGES_PLAN_MODEL_CARD_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"
#include "store/records/partition_book.h"

struct model_card { /* {0} is empty; large for a stack */
    struct pipeline_settings settings;
    struct dataset_schema
        dataset;                /* without counts of nodes and edges when it was read from a text */
    struct partition_book book; /* borrows: of a run its book's arrays, else the three below */
    char type_name[NODE_TYPE_COUNT_MAX][TYPE_NAME_SIZE];
    uint32_t type_dim[NODE_TYPE_COUNT_MAX];
    struct relation relation[EDGE_TYPE_COUNT_MAX];
    char *scaling;        /* text, owned; NULL: features were not scaled */
    char *encoding;       /* text, owned; NULL: no words and no columns that were encoded */
    double *class_weight; /* [book.class_count], owned, or NULL */
};

/* Of a run. Fails: ERROR_NOT_FOUND for a dataset of an earlier release, which does not say by what its features were
 * scaled; as the store does. */
MUST_CHECK enum error_code model_card_of_run(struct model_card *out, struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct partition_book *book, struct error *err);
/* Appends the text. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code model_card_print(const struct model_card *card, struct json_writer *out,
                                            struct error *err);
/* Both at once, for a file of the run's model. A dataset that cannot say it all gives "". Owns: *out; json_writer_release(). */
MUST_CHECK enum error_code model_card_text(struct store *store,
                                           const struct pipeline_settings *settings,
                                           const struct partition_book *book,
                                           struct json_writer *out, struct error *err);
/* `name` stands in messages. Fails: ERROR_INPUT with what was expected. */
MUST_CHECK enum error_code model_card_parse(struct model_card *out, const char *text,
                                            const char *name, struct error *err);
void model_card_release(struct model_card *card);

#endif
