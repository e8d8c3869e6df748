/*
 * model_card - everything that is needed to apply a trained model to another graph: the schema of
 * the graph that it was trained on, the scaling of its features, the settings, and the weights of
 * classes.
 *
 * It is made from a run and is stored in the model's file as the text "card" of its metadata, so
 * that the file is enough:
 *
 *   {"name", "settings": lines of what differs from the defaults, without paths,
 *    "task", "class_count", "feature_dim", "feature_origin", "edge_columns": {column: width},
 *    for graphs with relations:
 *    "node_types": [{"name", "feature_dim"}], "relations": [{"name", "source", "target"}],
 *    "target_type",
 *    for scaled features, a text (common/formats/text/feature_scaling.h):
 *    "feature_scaling", null if it is too long for the file,
 *    for words and encoded columns, a text (common/formats/text/column_encoding.h):
 *    "column_encoding", null if it is too long,
 *    if classes have weights:
 *    "class_weights": [numbers]}
 */
#ifndef STAGES_PLAN_MODEL_MODEL_CARD_H
#define STAGES_PLAN_MODEL_MODEL_CARD_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/partition_book.h"

struct model_card { /* {0} is empty; too large for a stack */
    struct pipeline_settings settings;
    /* Without counts of nodes and edges if it was read from a text. */
    struct dataset_schema dataset;
    /* Borrows the arrays of a run's book, or else the three below. */
    struct partition_book book;
    char type_name[NODE_TYPE_COUNT_MAX][TYPE_NAME_SIZE];
    uint32_t type_dim[NODE_TYPE_COUNT_MAX];
    struct relation relation[EDGE_TYPE_COUNT_MAX];
    char *scaling;        /* text, owned; NULL: features were not scaled */
    char *encoding;       /* text, owned; NULL: no words and no columns that were encoded */
    double *class_weight; /* [book.class_count], owned, or NULL */
};

/* Makes the card of a run. Fails: ERROR_NOT_FOUND for a dataset of an earlier release, which does
 * not say how its features were scaled; as the store does. */
MUST_CHECK enum error_code model_card_of_run(struct model_card *out, struct store *store,
                                             const struct pipeline_settings *settings,
                                             const struct partition_book *book, struct error *err);
/* Appends the card's text. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code model_card_print(const struct model_card *card, struct json_writer *out,
                                            struct error *err);
/* Does both for the model file of a run. A dataset that does not have all of it gives "". Owns:
 * *out; json_writer_release(). */
MUST_CHECK enum error_code model_card_text(struct store *store,
                                           const struct pipeline_settings *settings,
                                           const struct partition_book *book,
                                           struct json_writer *out, struct error *err);
/* Reads a card from its text. `name` is its name in messages. Fails: ERROR_INPUT with what was
 * expected. */
MUST_CHECK enum error_code model_card_parse(struct model_card *out, const char *text,
                                            const char *name, struct error *err);
void model_card_release(struct model_card *card);

#endif
