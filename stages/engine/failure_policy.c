#include "stages/engine/failure_policy.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/files/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    PAUSE_MS_MIN = 50,
    PAUSE_MS_MAX = 1000,
    ROOM_PAUSE_MS_MAX = 5000, /* between two tries while a disk is full */
    SLEEP_SLICE_MS = 50,
    BURY_ATTEMPTS = 5,
    /* From a first log line to the second; then one each minute. */
    TELL_SOON_MS = 10000,
    TELL_AGAIN_MS = 60000,
};

/* --- pauses --- */

/* Returns the pause after so many failures: 50 ms, doubled with each, up to `longest`. A random
 * share of its second half is left out, so that workers do not all come at once. */
static int64_t pause_ms(int failures, int64_t longest)
{
    int64_t most = PAUSE_MS_MIN;
    for (int i = 0; i < failures && most < longest; i++)
        most *= 2;
    most = most < longest ? most : longest;
    const uint64_t noise =
        ((uint64_t)(clock_seconds() * 1e6) + (uint64_t)getpid()) * 0x9E3779B97F4A7C15ULL;
    const int64_t least = most / 2 > PAUSE_MS_MIN ? most / 2 : PAUSE_MS_MIN;
    return least + (int64_t)(noise >> 33) % (most - least + 1);
}

void failure_policy_sleep(const struct failure_policy *policy, int64_t ms)
{
    for (; ms > 0 && !policy->should_stop(policy->context); ms -= SLEEP_SLICE_MS)
        clock_sleep_ms(ms < SLEEP_SLICE_MS ? ms : SLEEP_SLICE_MS);
}

enum error_code failure_policy_stopped(struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "asked to stop");
}

/* --- calls that fail --- */

void failure_policy_forgive(struct failure_policy *policy)
{
    policy->contact_ms = clock_ms();
}

void failure_policy_succeeded(struct failure_policy *policy)
{
    policy->contact_ms = clock_ms();
    if (policy->failures > 0 && policy->contact_ms - policy->failed_ms > TELL_SOON_MS)
        log_info("going on after %" PRId64 " s", (policy->contact_ms - policy->failed_ms) / 1000);
    policy->failures = 0;
}

/* Logs what the worker waits for: at once, after ten seconds, then each minute. */
static void tell_failure(struct failure_policy *policy, const struct error *err)
{
    const int64_t now = clock_ms();
    if (policy->failures == 0) {
        policy->failed_ms = now;
        policy->tell_ms = now + TELL_SOON_MS;
        log_warn("%s; trying again", err->message);
    } else if (now >= policy->tell_ms) {
        policy->tell_ms = now + TELL_AGAIN_MS;
        log_warn("%s; trying again, for %" PRId64 " s now", err->message,
                 (now - policy->failed_ms) / 1000);
    }
}

bool failure_policy_try_again(struct failure_policy *policy, enum error_code *rc, struct error *err)
{
    const int64_t limit = policy->give_up_ms;
    if (!error_is_retryable(*rc))
        return false;
    if (policy->should_stop(policy->context)) {
        *rc = failure_policy_stopped(err);
        return false;
    }
    if (limit > 0 && clock_ms() - policy->contact_ms > limit) {
        *rc = error_context(err, ERROR_UNAVAILABLE, "given up after %" PRId64 " ms", limit);
        return false;
    }
    tell_failure(policy, err);
    failure_policy_sleep(policy, pause_ms(policy->failures++, PAUSE_MS_MAX));
    return true;
}

/* --- units that fail --- */

/* Puts the unit on the dead list, because no retry can repair it. The dead list stops the other
 * workers. If Redis does not accept it, they meet the same failure themselves. */
static enum error_code bury(struct failure_policy *policy, struct work_queue *queue,
                            const struct work_claim *claim, enum error_code cause,
                            struct error *err)
{
    struct error of_queue = {0};
    (void)error_context(err, cause, "%s", claim->unit);
    failure_notice_leave(policy->notice, cause, claim->unit, err->message);
    for (int i = 0; i < BURY_ATTEMPTS; i++) {
        enum error_code rc = work_queue_bury(queue, claim, err->message, &of_queue);
        if (rc == ERROR_NONE || !failure_policy_try_again(policy, &rc, &of_queue))
            break;
    }
    return cause;
}

void failure_policy_hand_back(struct work_queue *queue, const struct work_claim *claim)
{
    bool fenced = false;
    if (work_queue_hand_back(queue, claim, &fenced, NULL) != ERROR_NONE)
        log_debug("%s could not be handed back", claim->unit);
}

/* Describes in words how much room is left where the store is. */
static void describe_room(struct store *store, char *out, size_t size)
{
    struct statvfs file_system;
    char room[32];
    const char *root = store_root(store);
    out[0] = '\0';
    if (root && statvfs(root, &file_system) == 0)
        (void)snprintf(out, size, ", %s free in %s",
                       text_size((uint64_t)file_system.f_bavail * file_system.f_frsize, room),
                       root);
}

/* Pauses while a disk is full. That is no failure: other hosts may have room, and this worker goes
 * on when it has. */
static void wait_for_room(struct failure_policy *policy, struct work_keeper *keeper,
                          const struct error *err)
{
    char room[FILE_PATH_SIZE + 64];
    if (policy->full_pauses == 0) {
        describe_room(policy->store, room, sizeof room);
        log_warn("%s%s; waiting until there is room for it, then going on", err->message, room);
        if (keeper)
            work_keeper_note(keeper,
                             "waits for room: the disk, a quota or the store's memory is full");
    }
    failure_policy_sleep(policy, pause_ms(policy->full_pauses++, ROOM_PAUSE_MS_MAX));
}

void failure_policy_has_room(struct failure_policy *policy, struct work_keeper *keeper)
{
    if (policy->full_pauses == 0)
        return;
    policy->full_pauses = 0;
    log_info("there is room again");
    if (keeper)
        work_keeper_note(keeper, "");
}

enum error_code failure_policy_unit_failed(struct failure_policy *policy, struct work_queue *queue,
                                           struct work_keeper *keeper,
                                           const struct work_claim *claim, enum error_code rc,
                                           struct error *err)
{
    if (claim->is_copy) { /* unless it was bad luck, the holder of the unit meets the same
                           * failure */
        log_debug("the second copy of %s: %s", claim->unit, err->message);
        return ERROR_NONE;
    }
    if (failure_is_for_good(rc))
        return bury(policy, queue, claim, rc, err);
    failure_policy_hand_back(queue, claim);
    if (rc != ERROR_NO_SPACE)
        return error_is_retryable(rc) ? rc : error_context(err, rc, "%s", claim->unit);
    wait_for_room(policy, keeper, err);
    return ERROR_NONE;
}
