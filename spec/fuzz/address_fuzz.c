/* UUIDs and addresses: read as the system reads them. */
#include "fuzz.h"

#include "ip.h"
#include "uuid.h"

#include <arpa/inet.h>

static void check_ipv4(const char *s, size_t n, const char *ended) {
    uint32_t address = 0;
    struct in_addr known;
    int code = chute_parse_ipv4(s, n, &address);
    if (memchr(s, 0, n)) return;
    CHUTE_MUST((code == 0) == (inet_pton(AF_INET, ended, &known) == 1));
    CHUTE_MUST(code || address == ntohl(known.s_addr));
}

static void check_ipv6(const char *s, size_t n, const char *ended) {
    uint8_t address[16];
    struct in6_addr known;
    uint32_t four;
    int code = chute_parse_ipv6(s, n, address);
    if (memchr(s, 0, n) || chute_parse_ipv4(s, n, &four) == 0) return;
    CHUTE_MUST((code == 0) == (inet_pton(AF_INET6, ended, &known) == 1));
    CHUTE_MUST(code || memcmp(address, &known, sizeof address) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t uuid[16];
    char *ended = malloc(size + 1);
    memcpy(ended, data, size);
    ended[size] = '\0';
    chute_parse_uuid((const char *)data, size, uuid);
    check_ipv4((const char *)data, size, ended);
    check_ipv6((const char *)data, size, ended);
    free(ended);
    return 0;
}
