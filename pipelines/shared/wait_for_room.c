#include "pipelines/shared/wait_for_room.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"

bool wait_for_room(enum error_code rc, const struct error *err, bool *told)
{
    enum { PAUSE_MS = 1000, SLICE_MS = 50 };
    if (rc != ERROR_NO_SPACE)
        return false;
    if (!*told)
        log_warn("%s; waiting for room", err->message);
    *told = true;
    for (int ms = 0; ms < PAUSE_MS && !stop_signal_seen(); ms += SLICE_MS)
        clock_sleep_ms(SLICE_MS);
    return !stop_signal_seen();
}
