#include "stages/plan/run_rewind.h"

#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/records/snapshot.h"

#include <string.h>

struct rewind {
    struct store *store;
    const struct run_binding *run;
    const struct kept_rounds *kept;
};

/* --- what a key is of --- */

enum loss_kind {
    LOSS_OF_OTHER, /* nothing that training made */
    LOSS_OF_MINI_BATCH,
    LOSS_OF_GRADIENT,
    LOSS_OF_VERSION, /* weights or optimizer state */
    LOSS_OF_EVALUATION,
    LOSS_OF_EVALUATION_BATCH,
    LOSS_OF_SNAPSHOT,
    LOSS_OF_LAYER
};

struct loss {
    enum loss_kind kind;
    int64_t number; /* round or version */
    int64_t slot;   /* of an evaluation batch; the layer of infer */
};

/* The number that follows `name` in `key`. */
static bool number_after(const char *key, const char *name, int64_t *out)
{
    const char *at = strstr(key, name);
    return at && text_int64(at + strlen(name), strcspn(at + strlen(name), "/"), out);
}

static struct loss loss_of(const char *key)
{
    static const struct {
        const char *name;
        enum loss_kind kind;
    } kinds[] = {{"/weights/", LOSS_OF_VERSION},
                 {"/optimizer/", LOSS_OF_VERSION},
                 {"/snapshot/", LOSS_OF_SNAPSHOT},
                 {"/result/", LOSS_OF_EVALUATION}};
    struct loss loss = {LOSS_OF_OTHER, 0, 0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (number_after(key, kinds[i].name, &loss.number)) {
            loss.kind = kinds[i].kind;
            return loss;
        }
    if (number_after(key, "/infer/", &loss.number)) {
        const char *rest = strchr(strstr(key, "/infer/") + strlen("/infer/"), '/');
        loss.kind = rest && number_after(rest, "/", &loss.slot) ? LOSS_OF_LAYER : LOSS_OF_OTHER;
    } else if (number_after(key, "/round/", &loss.number))
        loss.kind = strstr(key, "/gradient") ? LOSS_OF_GRADIENT : LOSS_OF_MINI_BATCH;
    else if (number_after(key, "/evaluation/", &loss.slot))
        loss.kind = LOSS_OF_EVALUATION_BATCH;
    return loss;
}

/* --- how far back --- */

/* Whether the snapshot of this version brings its weights back; it does so at once. */
static enum error_code restore(const struct rewind *r, int64_t version, bool *restored,
                               struct error *err)
{
    bool changed = false;
    *restored = false;
    if (!schedule_has_snapshot(&r->run->schedule, version))
        return ERROR_NONE;
    const enum error_code rc = snapshot_restore(r->store, r->run->plan.id, version, &changed, err);
    *restored = rc == ERROR_NONE;
    return rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT ? ERROR_NONE : rc;
}

/* The newest version that the run may stand at for the loss to be made good. What is older than the run keeps, or
 * newer than where it stands, is made again without that, or never. */
static enum error_code limit_of(const struct rewind *r, const struct loss *loss, int64_t *limit,
                                struct error *err)
{
    const struct kept_rounds *kept = r->kept;
    const int64_t number = loss->number;
    bool restored = false;
    *limit = kept->version;
    switch (loss->kind) {
    case LOSS_OF_OTHER:
    case LOSS_OF_LAYER:
        return ERROR_NONE;
    case LOSS_OF_MINI_BATCH:
        if (number < kept->oldest) { /* of a pass that serves later rounds, too */
            if (number < schedule_oldest_needed(&r->run->schedule, kept->version))
                *limit = kept->oldest;
            return ERROR_NONE;
        }
        *limit = number;
        return ERROR_NONE;
    case LOSS_OF_GRADIENT:
        if (number >= kept->oldest)
            *limit = number;
        return ERROR_NONE;
    case LOSS_OF_EVALUATION:
    case LOSS_OF_SNAPSHOT:
        if (number >= kept->oldest)
            *limit = number - 1;
        return ERROR_NONE;
    case LOSS_OF_EVALUATION_BATCH:
        if (kept->stopped)
            *limit = kept->version - 1;
        return ERROR_NONE;
    case LOSS_OF_VERSION:
        break;
    }
    if (number < kept->oldest || number > kept->version)
        return ERROR_NONE;
    const enum error_code rc = restore(r, number, &restored, err);
    if (!restored)
        *limit = number > 0 ? number - 1 : 0;
    return rc;
}

/* --- what has to wait for it --- */

/* What comes of round `round`, up to the next snapshot. */
static enum error_code remove_after(const struct rewind *r, int64_t round, struct error *err)
{
    const struct schedule *s = &r->run->schedule;
    const char *id = r->run->plan.id;
    const int64_t end = schedule_snapshot_at_or_after(s, round + 1);
    enum error_code rc = ERROR_NONE;
    for (; round < end && rc == ERROR_NONE; round++) {
        for (int32_t k = 0; k < schedule_slot_count(s, round) && rc == ERROR_NONE; k++)
            rc = store_remove(r->store, key_gradient(id, round, k).text, err);
        if (rc == ERROR_NONE)
            rc = store_remove(r->store, key_weights(id, round + 1).text, err);
        if (rc == ERROR_NONE)
            rc = store_remove(r->store, key_optimizer_state(id, round + 1).text, err);
    }
    for (int32_t k = 0; k < s->evaluation_slot_count && rc == ERROR_NONE; k++)
        rc = store_remove(r->store, key_evaluation(id, end, k).text, err);
    return rc;
}

static enum error_code remove_sealed(const struct rewind *r, struct key seal, struct key artifact,
                                     struct error *err)
{
    const enum error_code rc = store_remove(r->store, seal.text, err);
    return rc == ERROR_NONE ? store_remove(r->store, artifact.text, err) : rc;
}

/* The layers above, and the outputs that the run wants: it is not finished while they are made. */
static enum error_code remove_above(const struct rewind *r, const struct loss *loss,
                                    struct error *err)
{
    const struct schedule *s = &r->run->schedule;
    const char *id = r->run->plan.id;
    const int64_t version = loss->number;
    enum error_code rc = ERROR_NONE;
    for (int layer = (int)loss->slot + 1; layer <= s->layer_count; layer++)
        for (int part = 0; part < r->run->book.part_count && rc == ERROR_NONE; part++)
            rc = remove_sealed(r, key_infer(id, version, layer, part, "shard_seal"),
                               key_infer(id, version, layer, part, "shard"), err);
    return rc == ERROR_NONE ? remove_sealed(r, key_outputs_seal(id, version, s->outputs_tag),
                                            key_outputs(id, version, s->outputs_tag), err)
                            : rc;
}

static enum error_code remove_what_waits(const struct rewind *r, const struct loss *loss,
                                         struct error *err)
{
    const char *id = r->run->plan.id;
    const int64_t version = r->kept->version;
    switch (loss->kind) {
    case LOSS_OF_MINI_BATCH:
    case LOSS_OF_GRADIENT:
        return loss->number < version ? remove_after(r, loss->number, err) : ERROR_NONE;
    case LOSS_OF_VERSION:
        /* those of version 0 are made before round 0 */
        return loss->number <= version
                   ? remove_after(r, loss->number > 0 ? loss->number - 1 : 0, err)
                   : ERROR_NONE;
    case LOSS_OF_EVALUATION_BATCH:
        return store_remove(r->store, key_evaluation(id, version, (int)loss->slot).text, err);
    case LOSS_OF_LAYER:
        return remove_above(r, loss, err);
    case LOSS_OF_EVALUATION:
    case LOSS_OF_SNAPSHOT:
    case LOSS_OF_OTHER:
        return ERROR_NONE;
    }
    return ERROR_NONE;
}

static enum error_code set_back(const struct rewind *r, int64_t limit, struct error *err)
{
    struct snapshot snapshot = {0};
    const char *id = r->run->plan.id;
    enum error_code rc = snapshot_newest_whole(r->store, id, limit + 1, &snapshot, err);
    struct snapshot_position position = {.version = rc == ERROR_NONE ? snapshot.version : 0};
    position.kept_from = r->kept->oldest < position.version ? r->kept->oldest : position.version;
    store_release_record(&snapshot.view);
    if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
        return rc;
    return snapshot_position_set(r->store, id, position, err);
}

enum error_code run_rewind(struct store *store, const struct run_binding *run,
                           const struct kept_rounds *kept, const char *const *lost, size_t count,
                           struct error *err)
{
    const struct rewind r = {store, run, kept};
    int64_t back_to = kept->version;
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; i < count && rc == ERROR_NONE; i++) {
        int64_t limit = kept->version;
        const struct loss loss = loss_of(lost[i]);
        rc = limit_of(&r, &loss, &limit, err);
        if (rc == ERROR_NONE && (limit < kept->version || loss.kind == LOSS_OF_LAYER))
            rc = remove_what_waits(&r, &loss, err);
        back_to = limit < back_to ? limit : back_to;
    }
    return rc == ERROR_NONE && back_to < kept->version ? set_back(&r, back_to, err) : rc;
}
