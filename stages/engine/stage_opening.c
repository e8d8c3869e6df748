#include "stages/engine/stage_opening.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/stop_signal.h"

enum { ROOM_PAUSE_MS = 1000 };

void stage_opening_close(const struct stage *own, void **state)
{
    if (own->close)
        own->close(*state);
    *state = NULL;
}

enum error_code stage_opening_open(const struct stage *own, const struct stage_context *context,
                                   void **state, struct error *err)
{
    for (bool told = false;; told = true) {
        const enum error_code rc = own->open ? own->open(context, state, err) : ERROR_NONE;
        if (rc != ERROR_NO_SPACE || stop_signal_seen())
            return rc;
        if (!told)
            log_warn("%s; waiting until there is room for it, then going on", err->message);
        stage_opening_close(own, state);
        clock_sleep_ms(ROOM_PAUSE_MS);
    }
}
