#include "stages/plan/model/model_card.h"

#include "common/base/memory.h"
#include "common/formats/text/feature_scaling.h"
#include "stages/plan/model/run_loss.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/feature_statistics.h"
#include "store/records/dataset/node_columns.h"

#include <stdio.h>
#include <string.h>

enum {
    SCALING_TEXT_MAX = 400000, /* the header of a model file has a size limit */
    CARD_SETTINGS =
        SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING | SETTING_OF_TARGET
};

void model_card_release(struct model_card *card)
{
    memory_free(card->scaling);
    memory_free(card->class_weight);
    memory_free(card->encoding);
    card->encoding = NULL;
    card->scaling = NULL;
    card->class_weight = NULL;
}

/* --- from a run --- */

static enum error_code copy_statistics(const struct feature_statistics *from,
                                       struct feature_scaling *out, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    out->has_least = from->has_least;
    out->least = from->least;
    out->dim = (uint32_t)from->dim;
    if (from->dim) {
        rc = memory_new(&out->mean, (size_t)from->dim, "means of columns", err);
        if (rc == ERROR_NONE)
            rc = memory_new(&out->deviation, (size_t)from->dim, "deviations of columns", err);
    }
    for (uint64_t c = 0; rc == ERROR_NONE && c < from->dim; c++) {
        out->mean[c] = from->mean[c];
        out->deviation[c] = from->deviation[c];
    }
    return rc;
}

/* Adds the scaling of one more node type with features. */
static enum error_code read_type(struct model_card *card, struct store *store, uint32_t type,
                                 struct feature_scaling *out, struct error *err)
{
    struct feature_statistics statistics = {0};
    enum error_code rc = feature_statistics_get(store, card->dataset.id, type, &statistics, err);
    if (rc == ERROR_NOT_FOUND)
        return error_set(err, rc,
                         "dataset %s does not say how its features were scaled, because an earlier "
                         "release made it: " ADVICE "run the pipeline of the model in a new folder",
                         card->dataset.id);
    if (rc == ERROR_NONE)
        rc = copy_statistics(&statistics, out, err);
    if (dataset_type(&card->dataset, type).name[0])
        out->type = card->dataset.node_type[type].name;
    store_release_record(&statistics.view);
    return rc;
}

static enum error_code read_scaling(struct model_card *card, struct store *store, struct error *err)
{
    const struct dataset_schema *dataset = &card->dataset;
    struct feature_scaling scaling[NODE_TYPE_COUNT_MAX] = {{.dim = 0}};
    size_t count = 0, size = 0;
    enum error_code rc = ERROR_NONE;
    if (!card->settings.ingest.standardise && !card->settings.ingest.normalise_rows)
        return ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(dataset); t++)
        if (dataset_type(dataset, t).feature_dim)
            rc = read_type(card, store, t, &scaling[count++], err);
    if (rc == ERROR_NONE && count)
        rc = feature_scaling_text(scaling, count, &card->scaling, &size, err);
    for (size_t i = 0; i < count; i++)
        feature_scaling_release(&scaling[i]);
    return rc;
}

static enum error_code read_encoding(struct model_card *card, struct store *store,
                                     struct error *err)
{
    struct column_encoding encoding = {0};
    struct json_writer text = {0};
    enum error_code rc = node_columns_get(store, card->dataset.id, &encoding, err);
    if (rc == ERROR_NONE)
        column_encoding_print(&encoding, &text);
    if (rc == ERROR_NONE)
        rc = json_writer_finish(&text, err);
    column_encoding_release(&encoding);
    card->encoding = text.text; /* ownership moves to the card; NULL if there is none */
    return rc;
}

enum error_code model_card_of_run(struct model_card *out, struct store *store,
                                  const struct pipeline_settings *settings,
                                  const struct partition_book *book, struct error *err)
{
    struct run_loss loss = {0};
    out->settings = *settings;
    out->book = *book;
    out->book.view = (struct record_view){0}; /* the caller owns it */
    enum error_code rc = dataset_schema_get(store, book->dataset_id, &out->dataset, err);
    if (rc == ERROR_NONE)
        rc = read_scaling(out, store, err);
    if (rc == ERROR_NONE)
        rc = read_encoding(out, store, err);
    if (rc == ERROR_NONE)
        rc = run_loss_init(&loss, store, settings, book, err);
    out->class_weight = loss.class_weight; /* ownership moves to the card */
    return rc;
}

/* --- as text --- */

static void print_types(const struct dataset_schema *dataset, struct json_writer *out)
{
    json_open_array(out, "node_types");
    for (uint32_t t = 0; t < dataset->node_type_count; t++) {
        json_open_object(out, NULL);
        json_put_string(out, "name", dataset->node_type[t].name);
        json_put_int64(out, "feature_dim", dataset->node_type[t].feature_dim);
        json_close_object(out);
    }
    json_close_array(out);
    json_open_array(out, "relations");
    for (uint32_t r = 0; r < dataset->edge_type_count; r++) {
        json_open_object(out, NULL);
        json_put_string(out, "name", dataset->edge_type[r].name);
        json_put_int64(out, "source", dataset->edge_type[r].source_type);
        json_put_int64(out, "target", dataset->edge_type[r].target_type);
        json_close_object(out);
    }
    json_close_array(out);
    json_put_int64(out, "target_type", dataset->target_type);
}

static void print_schema(const struct model_card *card, struct json_writer *out)
{
    const struct dataset_schema *dataset = &card->dataset;
    json_put_string(out, "task", task_name(card->book.task));
    json_put_int64(out, "class_count", card->book.class_count);
    json_put_int64(out, "feature_dim", card->book.feature_dim);
    json_put_string(out, "feature_origin", dataset->feature_origin);
    json_open_object(out, "edge_columns");
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (card->book.edge_width.of[c])
            json_put_int64(out, edge_column[c].name, card->book.edge_width.of[c]);
    json_close_object(out);
    if (dataset_type(dataset, 0).name[0])
        print_types(dataset, out);
}

enum error_code model_card_print(const struct model_card *card, struct json_writer *out,
                                 struct error *err)
{
    char lines[SETTINGS_TEXT_SIZE];
    const enum error_code rc =
        pipeline_settings_identity(&card->settings, CARD_SETTINGS, lines, err);
    if (rc != ERROR_NONE)
        return rc;
    json_open_object(out, NULL);
    json_put_string(out, "name", card->settings.name);
    json_put_string(out, "settings", lines);
    print_schema(card, out);
    if (card->encoding && strlen(card->encoding) > SCALING_TEXT_MAX)
        json_put_null(out, "column_encoding");
    else if (card->encoding)
        json_put_string(out, "column_encoding", card->encoding);
    if (card->scaling && strlen(card->scaling) > SCALING_TEXT_MAX)
        json_put_null(out, "feature_scaling");
    else if (card->scaling)
        json_put_string(out, "feature_scaling", card->scaling);
    if (card->class_weight) {
        json_open_array(out, "class_weights");
        for (uint32_t c = 0; c < card->book.class_count; c++)
            json_put_double(out, NULL, card->class_weight[c]);
        json_close_array(out);
    }
    json_close_object(out);
    return json_writer_finish(out, err);
}

enum error_code model_card_text(struct store *store, const struct pipeline_settings *settings,
                                const struct partition_book *book, struct json_writer *out,
                                struct error *err)
{
    struct model_card *card = NULL;
    struct error unsaid = {0};
    enum error_code rc = memory_new(&card, 1, "a model's card", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = model_card_of_run(card, store, settings, book, &unsaid);
    if (rc == ERROR_NONE)
        rc = model_card_print(card, out, err);
    else if (rc == ERROR_NOT_FOUND) /* the model works without a card */
        rc = ERROR_NONE;
    else
        *err = unsaid;
    model_card_release(card);
    memory_free(card);
    return rc;
}
