#include "check.h"
#include "ip.h"
#include "uuid.h"

static void hex(const uint8_t bytes[16], char out[33]) {
    for (int i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void uuid(const char *text, const char *wanted) {
    uint8_t wire[16] = {0};
    char shown[33];
    int code = chute_parse_uuid(text, strlen(text), wire);
    CHECK_INT(wanted ? 0 : -1, code);
    hex(wire, shown);
    CHECK_TEXT(wanted ? wanted : "00000000000000000000000000000000", shown, 32);
}

static void uuids(void) {
    const char *wire = "e711b35c04c4f061d3ddba0d00a67b90";
    uuid("61f0c404-5cb3-11e7-907b-a6000dbaddd3", wire);
    uuid("61F0C404-5CB3-11E7-907B-A6000DBADDD3", wire);
    uuid("61f0c4045cb311e7907ba6000dbaddd3", wire);
    uuid("{61f0c404-5cb3-11e7-907b-a6000dbaddd3}", NULL);
    uuid("61f0c404-5cb3-11e7-907b-a6000dbaddd", NULL);
    uuid("61f0c404-5cb3-11e7-907b-a6000dbaddd3 ", NULL);
    uuid("61f0c4045-cb3-11e7-907b-a6000dbaddd3", NULL);
    uuid("61f0c404-5cb3-11e7-907b-a6000dbadddg", NULL);
    uuid("61f0c404_5cb3_11e7_907b_a6000dbaddd3", NULL);
    uuid("", NULL);
}

static void random_uuids(void) {
    char a[CHUTE_UUID_TEXT], b[CHUTE_UUID_TEXT];
    uint8_t wire[16];
    CHECK_INT(0, chute_uuid_v4(a));
    CHECK_INT(0, chute_uuid_v4(b));
    CHECK(strcmp(a, b) != 0);
    CHECK_INT(36, (int64_t)strlen(a));
    CHECK_INT(0, chute_parse_uuid(a, 36, wire));
    CHECK(a[14] == '4' && strchr("89ab", a[19]));
}

static void ipv4(const char *text, int64_t wanted) {
    uint32_t address = 77;
    int code = chute_parse_ipv4(text, strlen(text), &address);
    CHECK_INT(wanted, code < 0 ? -1 : (int64_t)address);
    CHECK(code == 0 || address == 77);
}

static void ipv6(const char *text, const char *wanted) {
    uint8_t address[16] = {0};
    char shown[33];
    CHECK_INT(wanted ? 0 : -1, chute_parse_ipv6(text, strlen(text), address));
    hex(address, shown);
    CHECK_TEXT(wanted ? wanted : "00000000000000000000000000000000", shown, 32);
}

static void addresses(void) {
    ipv4("127.0.0.1", 0x7F000001);
    ipv4("255.255.255.255", 0xFFFFFFFF);
    ipv4("0.0.0.0", 0);
    ipv4("256.0.0.1", -1);
    ipv4("1.2.3", -1);
    ipv4("1.2.3.4.5", -1);
    ipv4(" 1.2.3.4", -1);
    ipv4("1.2.3.4 ", -1);
    ipv4("01.2.3.4", -1);
    ipv4("", -1);
    uint32_t address;
    CHECK_INT(-1, chute_parse_ipv4("1.2.3.4\0", 8, &address));
    ipv6("::", "00000000000000000000000000000000");
    ipv6("::1", "00000000000000000000000000000001");
    ipv6("2001:db8::ff00:42:8329", "20010db8000000000000ff0000428329");
    ipv6("2001:0DB8:0000:0000:0000:FF00:0042:8329", "20010db8000000000000ff0000428329");
    ipv6("::ffff:1.2.3.4", "00000000000000000000ffff01020304");
    ipv6("1.2.3.4", "00000000000000000000ffff01020304");
    ipv6("0000:0000:0000:0000:0000:ffff:192.168.100.228", "00000000000000000000ffffc0a864e4");
    ipv6("fe80::1%eth0", NULL);
    ipv6("[::1]", NULL);
    ipv6("1:2:3:4:5:6:7", NULL);
    ipv6("1::2::3", NULL);
    ipv6("12345::", NULL);
    ipv6("", NULL);
    uint8_t bytes[16];
    CHECK_INT(-1, chute_parse_ipv6("::1\0", 4, bytes));
}

int main(void) {
    uuids();
    random_uuids();
    addresses();
    return check_report("core/address");
}
