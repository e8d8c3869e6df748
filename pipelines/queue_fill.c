#include "pipelines/queue_fill.h"

#include "stages/chain.h"

enum error_code queue_fill(const struct run_folder *folder, struct work_queue *queue,
                           struct error *err)
{
    bool won = false, alive = false;
    enum error_code rc = work_queue_wipe(queue, err);
    if (rc == ERROR_NONE)
        rc = work_queue_rebuild_begin(queue, &won, &alive, err);
    if (rc == ERROR_NONE && won)
        rc = chain_rebuild(&folder->run.schedule, folder->store, folder->run.plan.id, queue, err);
    if (rc == ERROR_NONE && won)
        rc = work_queue_rebuild_end(queue, err);
    return rc;
}
