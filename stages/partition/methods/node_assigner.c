#include "stages/partition/methods/node_assigner.h"

#include <string.h>

#define PARTITIONER_AT(number, name, help) [number] = &name##_partitioner,
static const struct partitioner *const partitioners[PARTITION_METHOD_COUNT] = {
    PARTITIONER_LIST(PARTITIONER_AT)};
#define PARTITIONER_NAME(number, name, help) [number] = #name,
static const char *const names[PARTITION_METHOD_COUNT] = {PARTITIONER_LIST(PARTITIONER_NAME)};

/* PARTITION_METHOD_COUNT: it is none. */
static int64_t number_of(const char *name)
{
    int64_t number = 0;
    while (number < PARTITION_METHOD_COUNT && strcmp(names[number], name) != 0)
        number++;
    return number;
}

const char *partitioner_name(const char *name)
{
    const int64_t number = number_of(name);
    return number < PARTITION_METHOD_COUNT ? names[number] : NULL;
}

enum error_code node_assigner_run(const struct partition_request *request, uint32_t *part,
                                  const char **chosen, struct error *err)
{
    int64_t method = *chosen ? number_of(*chosen) : request->settings->partition.method;
    if (method < 0 || method >= PARTITION_METHOD_COUNT)
        return error_set(err, ERROR_INVALID, "partition.method is none of the known ones");
    if (partitioners[method]->choose) {
        method = (int64_t)partitioners[method]->choose(request);
        *chosen = names[method];
    }
    return partitioners[method]->assign(request, part, err);
}
