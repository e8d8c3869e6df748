#include "stages/checkpoint/validation.h"

#include "common/base/memory.h"
#include "common/nn/tasks/metrics.h"
#include "store/records/parameters.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The counts of all slots so far. */
struct tally {
    uint64_t seed_count, correct_count;
    double loss_sum;
    uint32_t class_count;
    bool is_multi;
    uint64_t *confusion; /* [3, class_count] */
    uint64_t score_count, score_capacity;
    float *score;   /* [score_count] */
    uint8_t *truth; /* [score_count] */
};

const char *validation_metric_name(enum metric_choice metric)
{
    static const char *const name[] = {[METRIC_ACCURACY] = "accuracy",
                                       [METRIC_LOSS] = "loss",
                                       [METRIC_MACRO_F1] = "macro_f1",
                                       [METRIC_MICRO_F1] = "micro_f1",
                                       [METRIC_ROC_AUC] = "roc_auc"};
    return name[metric];
}

static void tally_release(struct tally *tally)
{
    memory_free(tally->confusion);
    memory_free(tally->score);
    memory_free(tally->truth);
    *tally = (struct tally){0};
}

static enum error_code grow_scores(struct tally *tally, uint64_t count, struct error *err)
{
    if (count <= tally->score_capacity)
        return ERROR_NONE;
    const uint64_t capacity = count > 2 * tally->score_capacity ? count : 2 * tally->score_capacity;
    float *score = memory_resize(tally->score, capacity, sizeof *score);
    if (score)
        tally->score = score;
    uint8_t *truth = memory_resize(tally->truth, capacity, sizeof *truth);
    if (truth)
        tally->truth = truth;
    if (!score || !truth)
        return error_set(err, ERROR_NO_MEMORY,
                         "no memory for the scores of %" PRIu64 " validation nodes", count);
    tally->score_capacity = capacity;
    return ERROR_NONE;
}

static enum error_code tally_add(struct tally *tally, const struct evaluation *e, struct error *err)
{
    if (e->class_count != tally->class_count)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: counts of %" PRIu32 " classes, expected %" PRIu32, e->view.key,
                         e->class_count, tally->class_count);
    const enum error_code rc = grow_scores(tally, tally->score_count + e->score_count, err);
    if (rc != ERROR_NONE)
        return rc;
    tally->seed_count += e->seed_count;
    tally->correct_count += e->correct_count;
    tally->loss_sum += e->loss_sum;
    for (size_t i = 0; i < 3 * (size_t)e->class_count; i++)
        tally->confusion[i] += e->confusion[i];
    if (e->score_count) {
        memcpy(tally->score + tally->score_count, e->score, e->score_count * sizeof *e->score);
        memcpy(tally->truth + tally->score_count, e->truth, e->score_count);
    }
    tally->score_count += e->score_count;
    return ERROR_NONE;
}

static enum error_code read_slots(const struct stage_context *context, int64_t version,
                                  struct tally *tally, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < context->schedule->evaluation_slot_count && rc == ERROR_NONE;
         slot++) {
        struct evaluation e = {0};
        rc = evaluation_get(context->store, context->run_id, version, slot, &e, err);
        if (rc == ERROR_NONE)
            rc = tally_add(tally, &e, err);
        store_release_record(&e.view);
    }
    return rc;
}

static enum error_code measure(const struct tally *tally, enum metric_choice metric,
                               struct validation *out, struct error *err)
{
    const double seeds = (double)tally->seed_count;
    out->loss = tally->loss_sum / seeds;
    out->accuracy = (double)tally->correct_count / seeds;
    switch (metric) {
    case METRIC_ACCURACY:
        out->metric = out->accuracy;
        break;
    case METRIC_LOSS:
        out->metric = out->loss;
        break;
    case METRIC_MACRO_F1:
        out->metric = metrics_macro_f1(tally->confusion, tally->class_count, tally->is_multi);
        break;
    case METRIC_MICRO_F1:
        out->metric = metrics_micro_f1(tally->confusion, tally->class_count);
        break;
    case METRIC_ROC_AUC:
        return metrics_roc_auc(tally->score, tally->truth, tally->score_count, &out->metric, err);
    }
    return ERROR_NONE;
}

enum error_code validation_read(const struct stage_context *context, int64_t version,
                                struct validation *out, struct error *err)
{
    const double none = (double)NAN;
    struct tally tally = {.class_count = context->book->class_count,
                          .is_multi = context->book->task == TASK_MULTI_LABEL};
    *out = (struct validation){.loss = none, .accuracy = none, .metric = none};
    if (context->schedule->evaluation_slot_count == 0)
        return ERROR_NONE;
    enum error_code rc =
        memory_new(&tally.confusion, 3 * (size_t)tally.class_count, "the validation counts", err);
    if (rc == ERROR_NONE)
        rc = read_slots(context, version, &tally, err);
    if (rc == ERROR_NONE && tally.seed_count > 0)
        rc = measure(&tally, (enum metric_choice)context->settings->checkpoint.metric, out, err);
    tally_release(&tally);
    return rc;
}
