/*
 * export_parts - what each part of a run's partition holds, what was read of it and for it, how long it was worked on and how long it
 * waited for the others.
 *
 *   part,nodes,edges,reads,remote,sample,step,infer,waited,last,from_0,from_1
 *   0,1200,48000,9000,3100,0.4,1.25,0.75,0.125,1,5900,2700
 *   1,1210,36000,8400,2700,0.3,1.125,0.5,0.375,0,3100,5700
 *
 *   nodes, edges   that the part owns
 *   reads, remote  rows of its nodes, in the kept mini-batches of training; of them for seeds of another part (batch_loads.h)
 *   sample, step   seconds of units of training that fall to it, as rows read or nodes and edges drawn (stages/engine/part_shares.h)
 *   infer          seconds in which layers of it were inferred
 *   waited, last   seconds from the end of its layers to that of the last part's; in how many layers it was that one
 *   from_<p>       rows of part p that were read for its seeds, its own among them: the sum of a column is the reads of part p
 *
 * What is not known is empty: rows, where no mini-batch is kept; seconds, where the folder of the run has no times.
 */
#ifndef PIPELINES_EXPORT_EXPORT_PARTS_H
#define PIPELINES_EXPORT_EXPORT_PARTS_H

#include "common/base/error.h"
#include "pipelines/report/part_times.h"
#include "pipelines/run_folder.h"

/* Fails: ERROR_NOT_FOUND when neither rows nor seconds are known; ERROR_CORRUPT; ERROR_IO. */
MUST_CHECK enum error_code export_parts(const struct run_folder *folder, const char *path,
                                        struct error *err);
/* *out [parts] is the caller's, failure or not: zeros where there are no times. */
MUST_CHECK enum error_code export_part_times(const struct run_folder *folder,
                                             struct part_time **out, struct error *err);

#endif
