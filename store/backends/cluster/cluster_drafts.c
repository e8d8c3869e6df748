/*
 * Values in a Redis Cluster that were begun and may never be completed. Declared in
 * cluster_place.h.
 *
 * A value of several pieces is noted as a draft, with the server's time, before its first piece is
 * put; the note is removed when the value is complete. The process of a draft that is a day old is
 * dead or stopped, and a sweep removes the pieces. If it does continue, the script that puts a
 * record's head notices the missing chunks, and they are put again.
 *
 *   KEY!record c HASH SIZE       a record in chunks
 *   KEY!artifact ATTEMPT         an artifact, whose manifest is KEY!draft/ATTEMPT meanwhile
 */
#include "common/base/memory.h"
#include "store/backends/cluster/cluster_batch.h"

#include <stdio.h>
#include <string.h>

#define DRAFT_OLD_S "86400"

static void name_draft(const char *key, const char *attempt, char draft[CLUSTER_NAME_SIZE],
                       char what[64])
{
    (void)snprintf(draft, CLUSTER_NAME_SIZE, "%s!artifact %s", key, attempt);
    (void)snprintf(what, 64, "draft/%s", attempt);
}

enum error_code cluster_draft_put(const struct cluster_place *place, const char *key,
                                  const char *attempt, const char *manifest, struct error *err)
{
    const int tag = cluster_tag(key);
    const struct cluster_name drafts = cluster_name(place, tag, "", "drafts");
    struct cluster_batch batch;
    char draft[CLUSTER_NAME_SIZE], what[64];
    enum error_code rc = cluster_batch_init(&batch, place, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    name_draft(key, attempt, draft, what);
    cluster_batch_add_script(&batch, tag, CLUSTER_SCRIPT_NOTE_DRAFT, 1);
    cluster_words_add(cluster_batch_last(&batch), drafts.text);
    cluster_words_add(cluster_batch_last(&batch), draft);
    cluster_batch_add(&batch, tag, "SET", key, what);
    cluster_words_add(cluster_batch_last(&batch), manifest);
    rc = cluster_batch_perform(&batch, err);
    cluster_batch_release(&batch);
    return rc;
}

enum error_code cluster_draft_end(const struct cluster_place *place, const char *key,
                                  const char *attempt, struct error *err)
{
    const int tag = cluster_tag(key);
    struct cluster_batch batch;
    char draft[CLUSTER_NAME_SIZE], what[64];
    enum error_code rc = cluster_batch_init(&batch, place, 2, err);
    if (rc != ERROR_NONE)
        return rc;
    name_draft(key, attempt, draft, what);
    cluster_batch_add(&batch, tag, "UNLINK", key, what);
    cluster_batch_add(&batch, tag, "ZREM", "", "drafts");
    cluster_words_add(cluster_batch_last(&batch), draft);
    rc = cluster_batch_perform(&batch, err);
    cluster_batch_release(&batch);
    return rc;
}

/* Removes the pieces of an attempt, unless its manifest was put after all. */
static enum error_code drop_artifact(struct cluster_place *place, const char *key,
                                     const char *attempt, struct error *err)
{
    const int tag = cluster_tag(key);
    char draft[CLUSTER_NAME_SIZE], what[64], *text[2] = {NULL, NULL}, of[ARTIFACT_ATTEMPT_SIZE];
    bool found[2] = {false, false};
    size_t size = 0;
    name_draft(key, attempt, draft, what);
    const struct cluster_name name[2] = {cluster_name(place, tag, key, what),
                                         cluster_name(place, tag, key, "artifact")};
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < 2; i++)
        rc = cluster_get_value(place, tag, &name[i], &text[i], &size, &found[i], err);
    const bool was_put =
        found[1] &&
        artifact_manifest_check(key, text[1] + (*text[1] == 'w'), of, NULL) == ERROR_NONE &&
        strcmp(of, attempt) == 0;
    if (rc == ERROR_NONE && found[0] && !was_put &&
        artifact_manifest_check(key, text[0], of, NULL) == ERROR_NONE)
        rc = cluster_artifact_drop(place, key, text[0], attempt, err);
    memory_free(text[0]);
    memory_free(text[1]);
    return rc == ERROR_NONE ? cluster_draft_end(place, key, attempt, err) : rc;
}

static enum error_code drop(struct cluster_place *place, const char *draft, struct error *err)
{
    char key[KEY_SIZE];
    const size_t size = strcspn(draft, "!");
    if (size >= sizeof key)
        return ERROR_NONE;
    (void)snprintf(key, sizeof key, "%.*s", (int)size, draft);
    if (strncmp(draft + size, "!record ", 8) == 0)
        return cluster_record_drop(place, key, draft + size + 8, draft, err);
    if (strncmp(draft + size, "!artifact ", 10) == 0)
        return drop_artifact(place, key, draft + size + 10, err);
    return ERROR_NONE;
}

enum error_code cluster_drafts_sweep(struct cluster_place *place, struct error *err)
{
    struct cluster_batch batch;
    struct cluster_name *drafts = NULL;
    enum error_code rc = cluster_batch_init(&batch, place, CLUSTER_TAG_COUNT, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&drafts, CLUSTER_TAG_COUNT, "names of drafts", err);
    for (int tag = 0; rc == ERROR_NONE && tag < CLUSTER_TAG_COUNT; tag++) {
        drafts[tag] = cluster_name(place, tag, "", "drafts");
        cluster_batch_add_script(&batch, tag, CLUSTER_SCRIPT_OLD_DRAFTS, 1);
        cluster_words_add(cluster_batch_last(&batch), drafts[tag].text);
        cluster_words_add(cluster_batch_last(&batch), DRAFT_OLD_S);
    }
    if (rc == ERROR_NONE)
        rc = cluster_batch_perform(&batch, err);
    for (size_t i = 0; rc == ERROR_NONE && i < batch.count; i++) {
        const struct redisReply *reply = cluster_batch_reply(&batch, i);
        for (int64_t k = 0; rc == ERROR_NONE && k < redis_reply_count(reply); k++)
            rc = drop(place, redis_reply_text(redis_reply_item(reply, k)), err);
    }
    cluster_batch_release(&batch);
    memory_free(drafts);
    return rc;
}
