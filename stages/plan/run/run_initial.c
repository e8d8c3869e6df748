#include "stages/plan/run/run_initial.h"

#include "stages/plan/model/run_model.h"
#include "stages/plan/model/run_origin.h"
#include "stages/plan/run/run_binding.h"
#include "store/records/round/parameters.h"

#include <string.h>

enum error_code run_initial_put(struct store *store, const struct pipeline_settings *settings,
                                const struct snapshot *model, const float *value, struct error *err)
{
    char run_id[ID_SIZE];
    const struct weights weights = {.value_count = model->value_count,
                                    .value = value,
                                    .table = model->table,
                                    .table_size = model->table_size};
    const enum error_code rc = run_id_of(store, settings, run_id, err);
    return rc == ERROR_NONE ? initial_weights_put(store, run_id, &weights, err) : rc;
}

static enum error_code check_sum(const struct run_origin *origin, const struct weights *weights,
                                 struct error *err)
{
    char found[CHECKSUM_TEXT_SIZE];
    const struct checksum sum =
        checksum_of(weights->value, weights->value_count * sizeof *weights->value);
    checksum_text(&sum, found);
    if (strcmp(found, origin->sum) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_CORRUPT, "%s: expected weights with the hash %s, found %s",
                     weights->view.key, origin->sum, found);
}

enum error_code run_initial_get(struct store *store, const struct pipeline_settings *settings,
                                const char *run_id, const struct model *model, float *value,
                                struct error *err)
{
    struct run_origin origin;
    struct weights weights = {0};
    enum error_code rc = run_initial_of(settings, &origin, err);
    if (rc == ERROR_NONE)
        rc = initial_weights_get(store, run_id, &weights, err);
    if (rc == ERROR_NONE)
        rc = check_sum(&origin, &weights, err);
    if (rc == ERROR_NONE)
        rc = run_model_check_weights(model, &weights, err);
    if (rc == ERROR_NONE)
        memcpy(value, weights.value, model->value_count * sizeof *value);
    store_release_record(&weights.view);
    return rc;
}
