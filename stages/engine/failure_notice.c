#include "stages/engine/failure_notice.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/files/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum error_code failure_notice_key(const struct pipeline_settings *settings, struct key *key,
                                   struct error *err)
{
    static char text[SETTINGS_TEXT_SIZE]; /* too large for a stack; only the main thread calls this,
                                           * once */
    char digits[CHECKSUM_TEXT_SIZE];
    const enum error_code rc = pipeline_settings_text(settings, text, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct checksum sum = checksum_of(text, strlen(text));
    checksum_text(&sum, digits);
    *key = key_current("failure", digits);
    return ERROR_NONE;
}

bool failure_is_for_good(enum error_code code)
{
    return code == ERROR_CORRUPT || code == ERROR_INPUT || code == ERROR_INVALID ||
           code == ERROR_NOT_FOUND;
}

/* Reads the ref; "" if there is none, or a damaged one: the log of the failed stage has the reason
 * all the same. */
static enum error_code get(const struct failure_notice *notice, char text[FAILURE_NOTICE_SIZE],
                           struct error *err)
{
    text[0] = '\0';
    const enum error_code rc =
        store_switch_get(notice->store, notice->key.text, text, FAILURE_NOTICE_SIZE, err);
    if (rc != ERROR_NOT_FOUND && rc != ERROR_CORRUPT)
        return rc;
    text[0] = '\0';
    return ERROR_NONE;
}

/* Splits "65 train-step@train-step/1/0 why" into its parts. Returns false if it does not have that
 * form. */
static bool split(const char *text, struct failure_told *out)
{
    char *end = NULL;
    const long status = strtol(text, &end, 10);
    const char *stage = end + (*end == ' ');
    const size_t stage_size = strcspn(stage, "@ ");
    const char *unit = stage + stage_size + (stage[stage_size] == '@');
    const size_t unit_size = stage[stage_size] == '@' ? strcspn(unit, " ") : 0;
    if (*end != ' ' || stage_size == 0 || stage_size >= sizeof out->stage ||
        unit_size >= sizeof out->unit || unit[unit_size] != ' ')
        return false;
    out->code = status == error_exit_status(ERROR_INVALID) ? ERROR_INVALID : ERROR_INPUT;
    (void)snprintf(out->stage, sizeof out->stage, "%.*s", (int)stage_size, stage);
    (void)snprintf(out->unit, sizeof out->unit, "%.*s", (int)unit_size, unit);
    (void)snprintf(out->sentence, sizeof out->sentence, "%s", unit + unit_size + 1);
    return true;
}

enum error_code failure_notice_open(struct failure_notice *notice, struct store *store,
                                    const struct key *key, const char *stage, struct error *err)
{
    struct failure_told told;
    *notice = (struct failure_notice){
        .store = store, .stage = stage, .key = *key, .opened_ms = clock_ms()};
    const enum error_code rc = get(notice, notice->stale, err);
    if (rc != ERROR_NONE || !notice->stale[0])
        return rc;
    if (split(notice->stale, &told) && strcmp(told.stage, stage) != 0)
        return ERROR_NONE;
    notice->stale[0] = '\0';
    return store_switch_remove(store, notice->key.text, err);
}

void failure_notice_leave(const struct failure_notice *notice, enum error_code code,
                          const char *unit, const char *sentence)
{
    char text[FAILURE_NOTICE_SIZE];
    struct error err = {0};
    if (!notice || !notice->store || !failure_is_for_good(code))
        return;
    (void)snprintf(text, sizeof text, "%d %s%s%s %s", error_exit_status(code), notice->stage,
                   unit ? "@" : "", unit ? unit : "", sentence);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    /* The last writer may win: each of several reasons explains why the run cannot go on. */
    if (store_switch_set(notice->store, notice->key.text, text, &err) != ERROR_NONE)
        log_warn("no notice is left for the other stages: %s", err.message);
}

enum error_code failure_notice_read(const struct failure_notice *notice, bool *found,
                                    struct failure_told *out, struct error *err)
{
    char text[FAILURE_NOTICE_SIZE];
    *found = false;
    if (!notice || !notice->store)
        return ERROR_NONE;
    const enum error_code rc = get(notice, text, err);
    if (rc != ERROR_NONE || !text[0])
        return rc;
    if (strcmp(text, notice->stale) == 0 &&
        clock_ms() - notice->opened_ms < FAILURE_NOTICE_STALE_MS)
        return ERROR_NONE;
    *found = split(text, out);
    return ERROR_NONE;
}
