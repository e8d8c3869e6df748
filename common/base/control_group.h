/*
 * control_group - the control groups (cgroups) that this process is in, of version 1 and of version
 * 2.
 *
 * A limit of a group applies to all groups below it, so each of them is visited. The mount point of
 * a controller and the path of our group are read from /proc/self/mountinfo and /proc/self/cgroup,
 * because a batch system or a container may mount it anywhere, and may show only a part of the
 * hierarchy.
 */
#ifndef COMMON_BASE_CONTROL_GROUP_H
#define COMMON_BASE_CONTROL_GROUP_H

enum { CONTROL_GROUP_PATH_SIZE = 1024 };

/* `depth` is 0 for the group that this process is in, 1 for the group above it, ... */
typedef void (*control_group_visitor)(void *context, const char *folder, int depth);
/* Calls `visit` with the folder of each group of version 1 that has `controller` ("memory", "cpu")
 * and of each group of version 2, from the innermost to the outermost visible one. `root` is put
 * before every path that is read: "" on this machine, a folder of made-up files in tests. */
void control_group_visit(const char *root, const char *controller, control_group_visitor visit,
                         void *context);

#endif
