#include "check.h"
#include "cityhash.h"

/* Hashes of the first `len` bytes of a fixed sequence. Those from 10 bytes on were accepted by
 * ClickHouse 18.16 as checksums of blocks; the compression spec asks it about many more. */
static const struct {
    size_t len;
    uint64_t low, high;
} known[] = {
    {0, UINT64_C(0x3df09dfc64c09a2b), UINT64_C(0x3cb540c392e51e29)},
    {1, UINT64_C(0x19dbdeaee8c7c7f3), UINT64_C(0xc127be6659f2d303)},
    {3, UINT64_C(0x1756f5b3d3295d5d), UINT64_C(0x1cce62912d00b6e3)},
    {4, UINT64_C(0xa46085dcbc843545), UINT64_C(0x491778827eb4c6d6)},
    {7, UINT64_C(0x038bfbd7ea7d09f0), UINT64_C(0xa06187fe1e5cfc91)},
    {8, UINT64_C(0x7f2fcb1b7bf2eb92), UINT64_C(0x3a97253515581ecb)},
    {9, UINT64_C(0x29ca6fd351a53b26), UINT64_C(0x821473e3507641e0)},
    {15, UINT64_C(0x8a32f390eee0b2d2), UINT64_C(0xc0c6e237c770307a)},
    {16, UINT64_C(0x287c3dae81358fc0), UINT64_C(0x9b209535a03e4a36)},
    {17, UINT64_C(0x387fd673fff9a1c5), UINT64_C(0x8c2096fce3a61a73)},
    {24, UINT64_C(0xa4a083689851bc22), UINT64_C(0x3118227a9cd948d8)},
    {31, UINT64_C(0x3481a8224284eabe), UINT64_C(0x56eeb5ae9bb8143b)},
    {32, UINT64_C(0xa7c944e17fcb3722), UINT64_C(0x7862c5f45c8ed296)},
    {33, UINT64_C(0x89c99282ac0217ad), UINT64_C(0x6e27ebef4b775a42)},
    {100, UINT64_C(0x56830ed9f5e63c36), UINT64_C(0x07f3edaf22a872ce)},
    {127, UINT64_C(0x0d0e9435ad079664), UINT64_C(0xee9e4f1235d43dae)},
    {128, UINT64_C(0xfcf14d70c62e4a45), UINT64_C(0x9eae3961c310619e)},
    {143, UINT64_C(0xc101513daa26e5f6), UINT64_C(0xbd2b7a48d4cf4ed5)},
    {144, UINT64_C(0x2dff16bbc57598f7), UINT64_C(0x3efd05d19f7d0825)},
    {145, UINT64_C(0x92692a0345953f6e), UINT64_C(0x239a9cfc9f9451be)},
    {271, UINT64_C(0xdb457dae94963891), UINT64_C(0x166a4f3cfe0fc05b)},
    {272, UINT64_C(0xf373e36cc53f35c7), UINT64_C(0x5c7a24105b52cc8b)},
    {300, UINT64_C(0x0a613756733f7a86), UINT64_C(0xb14cdf662b719d3e)},
    {1000, UINT64_C(0xd66d550c3a58e5dd), UINT64_C(0x116a73f09193d45b)},
    {100000, UINT64_C(0xcf4bd818da218a43), UINT64_C(0x367182d58309c309)},
};

static uint8_t bytes[100001];

static void fill(void) {
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(state >> 56);
    }
}

int main(void) {
    fill();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        chute_hash128 hash = chute_cityhash128(bytes, known[i].len);
        CHECK_INT(known[i].low, hash.low);
        CHECK_INT(known[i].high, hash.high);
    }
    /* The bytes need no alignment. */
    memmove(bytes + 1, bytes, 1000);
    CHECK_INT(known[23].low, chute_cityhash128(bytes + 1, 1000).low);
    return check_report("core/cityhash");
}
