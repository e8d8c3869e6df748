#include "stages/ingest/build/nodes/feature_maker.h"

#include "common/base/memory.h"
#include "common/base/progress.h"
#include "common/base/stop_signal.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/numbers/portable_math.h"
#include "common/numbers/random.h"
#include "stages/ingest/build/nodes/feature_measure.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/feature_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DEGREE_DIM = 2, FEATURE_DIM_MAX = 1 << 24 };

static bool is_given(const struct feature_maker *maker)
{
    return maker->by.has_least || maker->by.dim;
}

static bool wants_scaling(const struct feature_maker *maker,
                          const struct pipeline_settings *settings)
{
    return *settings->ingest.feature_statistics && (maker->normalise || maker->standardise);
}

/* Reads ingest.feature_statistics, once the node types are known. */
static enum error_code read_scaling(struct feature_maker *maker,
                                    const struct pipeline_settings *settings, struct error *err)
{
    return wants_scaling(maker, settings) && !is_given(maker)
               ? feature_scaling_read(settings->ingest.feature_statistics, maker->type, &maker->by,
                                      err)
               : ERROR_NONE;
}

enum error_code feature_maker_open(struct feature_maker *maker, const char *path,
                                   const struct pipeline_settings *settings, uint32_t first_node,
                                   uint32_t node_count, struct error *err)
{
    *maker = (struct feature_maker){
        .first_node = first_node,
        .node_count = node_count,
        .normalise = settings->ingest.normalise_rows,
        .standardise = settings->ingest.standardise,
        .seed = (uint64_t)settings->seed,
    };
    const enum error_code rc =
        settings->ingest.relations ? ERROR_NONE : read_scaling(maker, settings, err);
    return rc == ERROR_NONE ? scratch_file_open(&maker->given, path, err) : rc;
}

void feature_maker_close(struct feature_maker *maker)
{
    feature_scaling_release(&maker->by);
    scratch_file_close(&maker->given);
    *maker = (struct feature_maker){0};
}

/* ---- given rows ----------------------------------------------------------------------------- */

/* Checks a row. `line` is its line in a text file, or its row number. */
static enum error_code expect_finite(const float *row, uint32_t dim, const char *where,
                                     int64_t line, struct error *err)
{
    for (uint32_t i = 0; i < dim; i++)
        if (!isfinite(row[i]))
            return error_set(
                err, ERROR_INPUT,
                "%s: row %" PRId64
                ", column %u: the feature is %g: expected a finite number" ADVISE_NUMBER,
                where, line, i, (double)row[i]);
    return ERROR_NONE;
}

static enum error_code add_row(struct feature_maker *maker, const char *where, const float *row,
                               struct error *err)
{
    const enum error_code rc =
        expect_finite(row, maker->given_dim, where, (int64_t)maker->given_rows++, err);
    return rc == ERROR_NONE
               ? scratch_file_append(&maker->given, row, maker->given_dim * sizeof *row, err)
               : rc;
}

/* Checks the width of a row; the first row sets the width of all. */
static enum error_code expect_dim(struct feature_maker *maker, const char *where, uint32_t dim,
                                  struct error *err)
{
    if (maker->given_dim == 0) {
        if (dim < 1 || dim > FEATURE_DIM_MAX)
            return error_set(err, ERROR_INPUT, "%s: expected 1 to %d feature columns, found %u",
                             where, FEATURE_DIM_MAX, dim);
        maker->given_dim = dim;
    }
    if (dim != maker->given_dim)
        return error_set(err, ERROR_INPUT,
                         "%s: row %" PRIu64
                         ": expected %u feature columns, found %u" ADVISE_COLUMNS,
                         where, maker->given_rows, maker->given_dim, dim);
    return ERROR_NONE;
}

enum error_code feature_maker_add(struct feature_maker *maker, const char *where, const float *rows,
                                  uint64_t row_count, uint32_t dim, struct error *err)
{
    enum error_code rc = expect_dim(maker, where, dim, err);
    if (rc == ERROR_NONE && row_count > maker->node_count - maker->given_rows)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %u feature rows, one for each node, found %" PRIu64
                         " or more",
                         where, maker->node_count, maker->given_rows + row_count);
    for (uint64_t i = 0; rc == ERROR_NONE && i < row_count; i++)
        rc = add_row(maker, where, rows + i * dim, err);
    return rc;
}

enum error_code feature_maker_put(struct feature_maker *maker, const char *where, int64_t line,
                                  uint64_t node, const float *row, uint32_t dim, struct error *err)
{
    must(node >= maker->first_node && node - maker->first_node < maker->node_count);
    must(maker->given_rows < maker->node_count);
    enum error_code rc = expect_dim(maker, where, dim, err);
    if (rc == ERROR_NONE)
        rc = expect_finite(row, dim, where, line, err);
    if (rc == ERROR_NONE)
        maker->given_rows++;
    const uint64_t size = (uint64_t)dim * sizeof *row;
    return rc == ERROR_NONE ? scratch_file_write_at(
                                  &maker->given, (node - maker->first_node) * size, row, size, err)
                            : rc;
}

/* ---- what the features are ------------------------------------------------------------------ */

/* Returns the choice for nodes whose features are neither given nor asked for. */
static enum feature_choice choice_without(const struct feature_maker *maker,
                                          const struct pipeline_settings *settings)
{
    static const enum feature_choice of_type[] = {[MISSING_NONE] = FEATURES_NONE,
                                                  [MISSING_DEGREE] = FEATURES_DEGREE,
                                                  [MISSING_RANDOM] = FEATURES_RANDOM,
                                                  [MISSING_DEGREE_RANDOM] = FEATURES_DEGREE_RANDOM};
    return maker->type ? of_type[settings->ingest.missing_features] : FEATURES_DEGREE_RANDOM;
}

/* Takes the statistics from ingest.feature_statistics instead of computing them from the rows. */
static enum error_code take_scaling(struct feature_maker *maker,
                                    const struct pipeline_settings *settings, struct error *err)
{
    const char *path = settings->ingest.feature_statistics;
    const char *of = maker->type ? " of type " : "", *type = maker->type ? maker->type : "";
    if (!wants_scaling(maker, settings))
        return ERROR_NONE;
    const enum error_code rc = read_scaling(maker, settings, err);
    if (rc != ERROR_NONE)
        return rc;
    if (maker->normalise && !maker->by.has_least)
        return error_set(err, ERROR_INPUT,
                         "%s: expected a line 'least,' and a number%s%s, as ingest.normalise_rows "
                         "is true, found none",
                         path, of, type);
    if (maker->standardise && maker->by.dim != maker->dim)
        return error_set(err, ERROR_INPUT,
                         "%s: expected the mean and deviation of %" PRIu32
                         " feature columns%s%s (%s), found %" PRIu32,
                         path, maker->dim, of, type, maker->origin, maker->by.dim);
    return ERROR_NONE;
}

enum error_code feature_maker_choose(struct feature_maker *maker,
                                     const struct pipeline_settings *settings, struct error *err)
{
    enum feature_choice choice = (enum feature_choice)settings->ingest.features.choice;
    const bool given = maker->given_dim > 0;
    if (choice == FEATURES_FILE)
        choice = FEATURES_GIVEN;
    if (choice == FEATURES_AUTO)
        choice = given ? FEATURES_GIVEN : choice_without(maker, settings);
    if (given && maker->given_rows != maker->node_count)
        return error_set(err, ERROR_INPUT,
                         "expected %u feature rows, one for each node%s%s, found %" PRIu64,
                         maker->node_count, maker->type ? " of type " : "",
                         maker->type ? maker->type : "", maker->given_rows);
    maker->origin = "none";
    if (choice == FEATURES_NONE)
        return ERROR_NONE;
    maker->use_given = choice == FEATURES_GIVEN;
    if (maker->use_given && !given)
        return maker->type
                   ? error_set(err, ERROR_INVALID,
                               "ingest.features is given, but nodes of type %s have none: " ADVICE
                               "add "
                               "%s-feat.npy, or write `features: auto` and, below, what they get: "
                               "`missing_features: degree`",
                               maker->type, maker->type)
                   : error_set(err, ERROR_INVALID,
                               "ingest.features is given, but the input has no features");
    maker->use_degree = choice == FEATURES_DEGREE || choice == FEATURES_DEGREE_RANDOM;
    if (choice == FEATURES_RANDOM || choice == FEATURES_DEGREE_RANDOM)
        maker->random_dim = (uint32_t)settings->ingest.random_dim;
    maker->dim = maker->use_given ? maker->given_dim
                                  : (maker->use_degree ? DEGREE_DIM : 0U) + maker->random_dim;
    maker->origin = maker->use_given        ? "given"
                    : !maker->use_degree    ? "random"
                    : maker->random_dim > 0 ? "degree+random"
                                            : "degree";
    return take_scaling(maker, settings, err);
}

/* ---- making rows ---------------------------------------------------------------------------- */

static void fill_random(const struct feature_maker *maker, uint32_t node, float *row)
{
    const struct random_stream stream = random_stream_of(maker->seed, RANDOM_FEATURE, 0, 0, 0);
    for (uint32_t i = 0; i < maker->random_dim; i += 4) {
        float four[4];
        const uint32_t left = maker->random_dim - i;
        random_normal(&stream, node, i / 4, four);
        memcpy(row + i, four, (left < 4 ? left : 4) * sizeof *row);
    }
}

static void make_row(const struct feature_maker *maker, uint32_t node, float *row)
{
    if (maker->use_degree) {
        row[0] = (float)portable_log(1.0 + (double)maker->in_degree[node]);
        row[1] = (float)portable_log(1.0 + (double)maker->out_degree[node]);
    }
    fill_random(maker, node, row + (maker->use_degree ? DEGREE_DIM : 0));
}

/* Makes rows [first, first + count) into `rows`; must be called for consecutive pieces. */
static enum error_code make_rows(struct feature_maker *maker, uint32_t first, uint32_t count,
                                 float *rows, struct error *err)
{
    if (maker->use_given)
        return scratch_file_read(&maker->given, rows, (size_t)count * maker->dim * sizeof *rows,
                                 err);
    for (uint32_t i = 0; i < count; i++)
        make_row(maker, maker->first_node + first + i, rows + (size_t)i * maker->dim);
    return ERROR_NONE;
}

/* ---- standardisation ------------------------------------------------------------------------ */

struct column { /* statistics of one feature */
    double mean;
    double deviation; /* 0: the feature is constant */
    double sum;       /* sum of the values; in the second pass, of the distances from the mean */
    double squares;   /* sum of the squared distances from the mean */
    float least, most;
};

struct pass {
    struct feature_maker *maker;
    struct column *column; /* [dim] */
    struct store *store;
    const char *dataset_id;
    uint64_t chunk;
    float least;     /* the smallest of all numbers */
    bool normalised; /* `least` is known: rows are normalised as they are made */
    bool measured;   /* means and deviations are known: rows are standardised as they are made */
};

typedef enum error_code (*chunk_body)(struct pass *pass, uint32_t first, uint32_t count,
                                      const float *rows, struct error *err);

static enum error_code note_least(struct pass *pass, uint32_t first, uint32_t count,
                                  const float *rows, struct error *err)
{
    (void)err;
    if (first == 0)
        pass->least = rows[0];
    for (size_t i = 0; i < (size_t)count * pass->maker->dim; i++)
        pass->least = rows[i] < pass->least ? rows[i] : pass->least;
    return ERROR_NONE;
}

static void normalise(const struct pass *pass, uint32_t count, float *rows)
{
    const uint32_t dim = pass->maker->dim;
    for (uint32_t i = 0; i < count; i++)
        feature_measure_normalise(rows + (size_t)i * dim, dim, (double)pass->least);
}

static enum error_code add_to_sums(struct pass *pass, uint32_t first, uint32_t count,
                                   const float *rows, struct error *err)
{
    const uint32_t dim = pass->maker->dim;
    (void)err;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < dim; c++) {
            struct column *column = &pass->column[c];
            const float value = rows[(size_t)i * dim + c];
            const bool is_first = first + i == 0;
            column->sum += (double)value;
            column->least = is_first || value < column->least ? value : column->least;
            column->most = is_first || value > column->most ? value : column->most;
        }
    return ERROR_NONE;
}

static enum error_code add_to_squares(struct pass *pass, uint32_t first, uint32_t count,
                                      const float *rows, struct error *err)
{
    const uint32_t dim = pass->maker->dim;
    (void)first;
    (void)err;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < dim; c++) {
            struct column *column = &pass->column[c];
            const double distance = (double)rows[(size_t)i * dim + c] - column->mean;
            column->sum += distance;
            column->squares += distance * distance;
        }
    return ERROR_NONE;
}

static enum error_code store_rows(struct pass *pass, uint32_t first, uint32_t count,
                                  const float *rows, struct error *err)
{
    const uint32_t dim = pass->maker->dim;
    for (size_t i = 0; i < (size_t)count * dim; i++)
        pass->maker->zero_count += !(rows[i] < 0.0F) && !(rows[i] > 0.0F);
    const struct feature_chunk chunk = {.first_node = pass->maker->first_node + first,
                                        .node_count = count,
                                        .dim = dim,
                                        .row = rows};
    return feature_chunk_put(pass->store, pass->dataset_id, (int64_t)pass->chunk++, &chunk, err);
}

static void standardise(const struct pass *pass, uint32_t count, float *rows)
{
    const uint32_t dim = pass->maker->dim;
    for (size_t i = 0; i < (size_t)count * dim; i++) {
        const struct column *column = &pass->column[i % dim];
        rows[i] = feature_measure_standardise(rows[i], column->mean, column->deviation);
    }
}

static uint32_t chunk_rows(const struct feature_maker *maker)
{
    if (maker->dim == 0)
        return 0;
    const uint32_t rows = feature_chunk_rows(maker->dim);
    return rows < maker->node_count ? rows : maker->node_count;
}

static enum error_code for_each_chunk(struct pass *pass, chunk_body body, float *rows,
                                      struct error *err)
{
    struct feature_maker *maker = pass->maker;
    const uint32_t step = chunk_rows(maker);
    enum error_code rc = ERROR_NONE;
    if (maker->use_given)
        rc = scratch_file_rewind(&maker->given, err);
    for (uint64_t first = 0; rc == ERROR_NONE && first < maker->node_count; first += step) {
        const uint64_t left = maker->node_count - first;
        const uint32_t count = left < step ? (uint32_t)left : step;
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
        progress_note("feature rows", first, maker->node_count);
        rc = make_rows(maker, (uint32_t)first, count, rows, err);
        if (rc == ERROR_NONE && pass->normalised)
            normalise(pass, count, rows);
        if (rc == ERROR_NONE && pass->measured)
            standardise(pass, count, rows);
        if (rc == ERROR_NONE)
            rc = body(pass, (uint32_t)first, count, rows, err);
    }
    return rc;
}

/* Computes means and deviations in two passes. The sum of distances, which is 0 except for
 * rounding, corrects the sum of squares for the rounding of the mean (Chan, Golub and LeVeque
 * 1983). */
static enum error_code measure_columns(struct pass *pass, float *rows, struct error *err)
{
    const double count = (double)pass->maker->node_count;
    enum error_code rc = for_each_chunk(pass, add_to_sums, rows, err);
    for (uint32_t c = 0; c < pass->maker->dim; c++) {
        pass->column[c].mean = pass->column[c].sum / count;
        pass->column[c].sum = 0.0;
    }
    if (rc == ERROR_NONE)
        rc = for_each_chunk(pass, add_to_squares, rows, err);
    for (uint32_t c = 0; c < pass->maker->dim; c++) {
        struct column *column = &pass->column[c];
        const double squares = column->squares - column->sum * column->sum / count;
        const bool constant = column->least >= column->most;
        column->deviation = constant || squares <= 0.0 ? 0.0 : sqrt(squares / count);
    }
    pass->measured = true;
    return rc;
}

/* ---- statistics: given ones, stored ones
 * ------------------------------------------------------ */

static void take_given(struct pass *pass)
{
    for (uint32_t c = 0; c < pass->maker->dim; c++) {
        pass->column[c].mean = pass->maker->by.mean[c];
        pass->column[c].deviation = pass->maker->by.deviation[c];
    }
    pass->measured = true;
}

static enum error_code keep_statistics(const struct pass *pass, struct error *err)
{
    const struct feature_maker *maker = pass->maker;
    struct feature_scaling kept = {0};
    if (!maker->normalise && !pass->column)
        return ERROR_NONE;
    enum error_code rc = ERROR_NONE;
    if (pass->column) {
        rc = memory_new(&kept.mean, maker->dim, "means of columns", err);
        if (rc == ERROR_NONE)
            rc = memory_new(&kept.deviation, maker->dim, "deviations of columns", err);
    }
    for (uint32_t c = 0; rc == ERROR_NONE && pass->column && c < maker->dim; c++) {
        kept.mean[c] = pass->column[c].mean;
        kept.deviation[c] = pass->column[c].deviation;
    }
    const struct feature_statistics statistics = {.has_least = maker->normalise,
                                                  .least = (double)pass->least,
                                                  .dim = pass->column ? maker->dim : 0,
                                                  .mean = kept.mean,
                                                  .deviation = kept.deviation};
    if (rc == ERROR_NONE)
        rc = feature_statistics_put(pass->store, pass->dataset_id, maker->type_number, &statistics,
                                    err);
    feature_scaling_release(&kept);
    return rc;
}

uint64_t feature_maker_bytes(const struct feature_maker *maker)
{
    return (uint64_t)chunk_rows(maker) * maker->dim * sizeof(float) +
           (maker->standardise ? maker->dim * (sizeof(struct column) + 2 * sizeof(double)) : 0);
}

enum error_code feature_maker_write(struct feature_maker *maker, struct store *store,
                                    const char *dataset_id, uint64_t *chunk_count,
                                    struct error *err)
{
    struct pass pass = {
        .maker = maker, .store = store, .dataset_id = dataset_id, .chunk = *chunk_count};
    float *rows = NULL;
    if (maker->dim == 0)
        return ERROR_NONE;
    enum error_code rc =
        memory_new(&rows, (size_t)chunk_rows(maker) * maker->dim, "a chunk of features", err);
    if (rc == ERROR_NONE && maker->normalise) {
        pass.least = (float)maker->by.least;
        if (!is_given(maker))
            rc = for_each_chunk(&pass, note_least, rows, err);
        pass.normalised = true;
    }
    if (rc == ERROR_NONE && maker->standardise) {
        rc = memory_new(&pass.column, maker->dim, "means of feature columns", err);
        if (rc == ERROR_NONE && is_given(maker))
            take_given(&pass);
        else if (rc == ERROR_NONE)
            rc = measure_columns(&pass, rows, err);
    }
    if (rc == ERROR_NONE)
        rc = for_each_chunk(&pass, store_rows, rows, err);
    if (rc == ERROR_NONE)
        rc = keep_statistics(&pass, err);
    memory_free(pass.column);
    memory_free(rows);
    *chunk_count = pass.chunk;
    return rc;
}
