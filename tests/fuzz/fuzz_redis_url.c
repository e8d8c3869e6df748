/* fuzz_redis_url - addresses of Redis servers: what is one has a host and numbers in their bounds, and reads back
 * as the same one when it is written in full. */
#include "store/redis/redis_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_read_back(const struct redis_address *address)
{
    static char url[2 * REDIS_URL_SIZE];
    struct redis_address again;
    const bool bracketed = address->host[0] == '[' || strpbrk(address->host, ":/") != NULL;
    const int length =
        address->is_unix
            ? snprintf(url, sizeof url, "unix:%s", address->host)
            : snprintf(url, sizeof url, "redis://%s%s%s:%d/%d", bracketed ? "[" : "", address->host,
                       bracketed ? "]" : "", address->port, address->db);
    must(length > 0 && (size_t)length < sizeof url);
    must(redis_address_parse(url, &again, NULL) == ERROR_NONE);
    must(again.is_unix == address->is_unix && strcmp(again.host, address->host) == 0);
    must(again.port == address->port && again.db == address->db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct redis_address address;
    struct error err = {0};
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    const enum error_code rc = redis_address_parse(text, &address, &err);
    must(rc == ERROR_NONE || (rc == ERROR_INVALID && err.message[0]));
    if (rc == ERROR_NONE) {
        must(address.host[0]);
        must(address.is_unix ? address.port == 0 : address.port >= 1 && address.port <= 65535);
        must(address.db >= 0 && address.db <= 9999);
        must_read_back(&address);
    }
    free(text);
    return 0;
}
