#include "store/objects/keys.h"
#include "store/objects/store_state.h"

#include <string.h>

enum error_code store_check_key(const char *key, struct error *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    if (strlen(key) >= KEY_SIZE)
        return error_set(err, ERROR_INVALID, "key %.60s...: expected at most %d bytes, found %zu",
                         key, KEY_SIZE - 1, strlen(key));
    static const char *const own[] = {"tmp", "switch", "logs"};
    const size_t first = strcspn(key, "/");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (first == strlen(own[i]) && strncmp(key, own[i], first) == 0)
            return error_set(err, ERROR_INVALID, "key %s: '%.*s' is reserved for the store", key,
                             (int)first, key);
    for (const char *part = key;; part++) {
        const size_t size = strspn(part, allowed);
        if (part[size] != '\0' && part[size] != '/')
            return error_set(err, ERROR_INVALID,
                             "key %s: offset %zu: expected a letter, a digit, '.', '_' or '-'", key,
                             (size_t)(part + size - key));
        if (size == 0 || part[0] == '.')
            return error_set(err, ERROR_INVALID,
                             "key %s: offset %zu: expected a name that is not empty and does not "
                             "start with '.'",
                             key, (size_t)(part - key));
        part += size;
        if (!*part)
            return ERROR_NONE;
    }
}

enum error_code store_check_change(const struct store *store, const char *key, struct error *err)
{
    if (store->flags & STORE_READ_ONLY)
        return error_set(err, ERROR_INVALID,
                         "the store is open for reading only: %s was not changed", key);
    return store_check_key(key, err);
}
