#include "stages/ingest/formats/folders/type_feature_files.h"

#include "common/formats/arrays/npy_reader.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/columns/feature_rows.h"
#include "stages/ingest/formats/shared/input_files.h"

#include <inttypes.h>

struct features { /* the state of one run */
    const struct folder_meta *meta;
    const struct typed_rows *file; /* [count] */
    uint32_t count;
    bool has_relations;
    uint32_t dim; /* width of the current type; without relations, of all types */
    struct dataset_builder *builder;
};

static enum error_code dim_of(const struct typed_rows *file, uint32_t *dim, struct error *err)
{
    struct feature_file array = {0};
    if (!input_files_ends_in(file->path, ".npy"))
        return feature_rows_dim(file->path, dim, err);
    const enum error_code rc = feature_file_open(&array, file->path, NULL, file->count, 0, err);
    *dim = array.dim;
    feature_file_close(&array);
    return rc;
}

/* Finds the common width of the features of `type` in all files, or of all types. */
static enum error_code find_dim(struct features *features, uint32_t type, struct error *err)
{
    uint32_t dim = 0;
    features->dim = 0;
    for (uint32_t i = 0; i < features->count; i++) {
        const struct typed_rows *file = &features->file[i];
        if (features->has_relations && file->type != type)
            continue;
        const enum error_code rc = dim_of(file, &dim, err);
        if (rc != ERROR_NONE)
            return rc;
        if (features->dim && dim != features->dim) {
            const enum error_code differs = error_set(
                err, ERROR_INPUT,
                "%s: features of type %s: expected %" PRIu32
                " columns as earlier types have, found %" PRIu32,
                file->path, features->meta->node_type[file->type].name, features->dim, dim);
            return features->has_relations
                       ? differs
                       : error_add(err, differs,
                                   "; " ADVICE "write `relations: true` below `ingest:`, which "
                                   "lets each type have its own width");
        }
        features->dim = dim;
    }
    return ERROR_NONE;
}

static enum error_code push_file(const struct features *features, const struct typed_rows *file,
                                 struct error *err)
{
    struct feature_file array = {0};
    if (!input_files_ends_in(file->path, ".npy"))
        return feature_rows_push(file->path, file->count, features->builder, err);
    enum error_code rc =
        feature_file_open(&array, file->path, NULL, file->count, features->dim, err);
    if (rc == ERROR_NONE)
        rc = feature_file_push(&array, features->builder, err);
    feature_file_close(&array);
    return rc;
}

static enum error_code push_type(struct features *features, uint32_t t, const char *where,
                                 struct error *err)
{
    const struct node_type *type = &features->meta->node_type[t];
    uint64_t rows = 0;
    enum error_code rc = ERROR_NONE;
    dataset_builder_select_type(features->builder, t);
    for (uint32_t i = 0; rc == ERROR_NONE && i < features->count; i++) {
        if (features->file[i].type != t)
            continue;
        rc = push_file(features, &features->file[i], err);
        rows += features->file[i].count;
    }
    if (rc == ERROR_NONE && rows != 0 && rows != type->node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: features of type %s: expected %" PRIu32
                       " rows, one for each node, found %" PRIu64,
                       where, type->name, type->node_count, rows);
    return rc == ERROR_NONE && rows == 0 && !features->has_relations
               ? feature_file_push_zeros(features->builder, where, type->node_count, features->dim,
                                         err)
               : rc;
}

enum error_code type_feature_files_push(const struct folder_meta *meta, bool has_relations,
                                        const struct typed_rows *files, uint32_t count,
                                        const char *where, struct dataset_builder *builder,
                                        struct error *err)
{
    struct features features = {.meta = meta,
                                .file = files,
                                .count = count,
                                .has_relations = has_relations,
                                .builder = builder};
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && count && t < meta->node_type_count; t++) {
        rc = find_dim(&features, t, err);
        if (rc == ERROR_NONE && features.dim)
            rc = push_type(&features, t, where, err);
    }
    return rc;
}
