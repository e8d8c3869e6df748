#include "common/base/control_group.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 8192 };

/* A line of mountinfo about control groups. */
struct mount {
    char top[CONTROL_GROUP_PATH_SIZE];   /* the group at the top of the mount */
    char point[CONTROL_GROUP_PATH_SIZE]; /* mount point */
    bool is_version_2;
};

/* Returns whether `word` is one of the words of `list`, which are separated by commas. */
static bool has_word(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = list; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",\n");
        if (length == size && strncmp(at, word, size) == 0)
            return true;
        at += length;
        if (*at == '\n')
            break;
    }
    return false;
}

/* Parses "35 31 0:32 /top /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory". */
static bool parse_mount(const char *line, const char *controller, struct mount *out)
{
    char type[32], options[256];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %1023s %1023s", out->top, out->point) != 2 ||
        sscanf(rest, " - %31s %*s %255s", type, options) != 2)
        return false;
    out->is_version_2 = strcmp(type, "cgroup2") == 0;
    return out->is_version_2 || (strcmp(type, "cgroup") == 0 && has_word(options, controller));
}

/* Finds our group in a hierarchy, "/system.slice/job", in the line "4:memory:<group>", or
 * "0::<group>" of version 2. */
static bool find_group(const char *root, const char *controller, bool is_version_2,
                       char group[CONTROL_GROUP_PATH_SIZE])
{
    char path[CONTROL_GROUP_PATH_SIZE], line[LINE_SIZE];
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name)
            continue;
        *name++ = '\0';
        controllers++;
        name[strcspn(name, "\n")] = '\0';
        found = is_version_2 ? strcmp(line, "0:") == 0 && !*controllers
                             : has_word(controllers, controller);
        (void)snprintf(group, CONTROL_GROUP_PATH_SIZE, "%s", name);
    }
    if (file)
        (void)fclose(file);
    return found;
}

/* Returns the group as a path below the mount. A group that the mount does not show ("/../other")
 * becomes "": the top of the mount is the nearest visible group. */
static const char *below_mount(const struct mount *mount, const char *group)
{
    const size_t size = strcmp(mount->top, "/") == 0 ? 0 : strlen(mount->top);
    const bool is_below = strncmp(group, mount->top, size) == 0 &&
                          (group[size] == '/' || !group[size]) && !strstr(group, "/..");
    return is_below && strcmp(group + size, "/") != 0 ? group + size : "";
}

static void visit_hierarchy(const char *root, const struct mount *mount, const char *group,
                            control_group_visitor visit, void *context)
{
    char folder[3 * CONTROL_GROUP_PATH_SIZE];
    const int top = snprintf(folder, sizeof folder, "%s%s", root, mount->point);
    if (top < 0 || (size_t)top >= sizeof folder)
        return;
    (void)snprintf(folder + top, sizeof folder - (size_t)top, "%s", below_mount(mount, group));
    for (int depth = 0;; depth++) {
        visit(context, folder, depth);
        char *end = strrchr(folder + top, '/');
        if (!end)
            break;
        *end = '\0';
    }
}

void control_group_visit(const char *root, const char *controller, control_group_visitor visit,
                         void *context)
{
    char path[CONTROL_GROUP_PATH_SIZE], line[LINE_SIZE], group[CONTROL_GROUP_PATH_SIZE];
    struct mount mount;
    (void)snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (parse_mount(line, controller, &mount) &&
            find_group(root, controller, mount.is_version_2, group))
            visit_hierarchy(root, &mount, group, visit, context);
    if (file)
        (void)fclose(file);
}
