#include "ip.h"

#include <arpa/inet.h>
#include <string.h>

/* inet_pton wants a NUL, and text with one inside must not pass for its beginning. */
static int parse(int family, const char *s, size_t n, void *address) {
    char text[INET6_ADDRSTRLEN];
    if (n >= sizeof text || memchr(s, '\0', n)) return -1;
    memcpy(text, s, n);
    text[n] = '\0';
    return inet_pton(family, text, address) == 1 ? 0 : -1;
}

int chute_parse_ipv4(const char *s, size_t n, uint32_t *address) {
    struct in_addr in;
    if (n > 15 || parse(AF_INET, s, n, &in) < 0) return -1;
    *address = ntohl(in.s_addr);
    return 0;
}

int chute_parse_ipv6(const char *s, size_t n, uint8_t address[16]) {
    uint32_t v4;
    struct in6_addr in;
    if (chute_parse_ipv4(s, n, &v4) == 0) {
        uint32_t network = htonl(v4);
        memset(address, 0, 10);
        memset(address + 10, 0xFF, 2);
        memcpy(address + 12, &network, 4);
        return 0;
    }
    if (parse(AF_INET6, s, n, &in) < 0) return -1;
    memcpy(address, &in, 16);
    return 0;
}
