/* What is read from a batch file that lost bytes, has wrong ones, or of which only some pages came
 * to the disk: always whole rows from the first on, never anything else. */
#include "check.h"

#include "schema.h"
#include "spool.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 60, CEILING = 16384, PAGE = 4096, MAX_ROWS = 4096, MIXES = 150 };

struct image {
    uint8_t *bytes;
    size_t len;
};

/* What the rows of one life of the slot were, and where each ended. */
struct life {
    uint8_t data[1 << 20];
    size_t len;
    uint64_t words[MAX_ROWS + 1];
    uint32_t rows;
    char token[CHUTE_TOKEN_LEN + 1];
};

static char root[] = "/tmp/chute-slotfile-XXXXXX";
static chute_spool *spool;
static chute_schema *schema;
static chute_insert *insert;
static struct life lives[2];
static uint32_t chance = 12345;
static int mixes = MIXES; /* of each two images; CHUTE_MIXES in the environment */

static uint32_t random_below(uint32_t below) {
    chance = chance * 1664525 + 1013904223;
    return (chance >> 8) % below;
}

/* ---- a slot and its rows ------------------------------------------------------------------- */

static void begin(void) {
    chute_error err = {0};
    CHECK(mkdtemp(root) != NULL);
    spool = chute_spool_open(root, &err);
    schema = chute_schema_new(CHUTE_FORMAT_ROW_BINARY_WITH_NAMES_AND_TYPES, "UTC", 3, &err);
    chute_schema_add(schema, "a", 1, "UInt64", 6, 0, &err);
    chute_schema_add(schema, "b", 1, "String", 6, 0, &err);
    chute_schema_compile(schema, &err);
    chute_stream_config config = {.table = "t", .compression = CHUTE_COMPRESS_ZSTD};
    insert = chute_insert_new(schema, &config, &err);
    CHECK(spool && insert);
    if (!spool || !insert) printf("%s\n", err.message);
}

static void end(void) {
    chute_insert_free(insert);
    chute_schema_free(schema);
    chute_spool_close(spool);
    CHECK_INT(0, rmdir(root));
}

static chute_batch *new_batch(size_t ceiling) {
    chute_error err = {0};
    chute_spool_slot *slot = chute_slot_new(spool, schema, insert, ceiling, ceiling, &err);
    CHECK(slot != NULL);
    if (!slot) printf("%s\n", err.message);
    chute_buffer *buffer = chute_buffer_new_in(schema, &slot->memory, ceiling, &err);
    chute_batch *batch = chute_batch_new(buffer, insert, &err);
    batch->slot = slot;
    chute_slot_open(slot, batch->token);
    return batch;
}

static void free_batch(chute_batch *batch) {
    chute_slot_release(batch->slot);
    chute_batch_free(batch);
}

static void add_row(chute_batch *batch, uint64_t number, uint32_t len) {
    static char text[4096];
    chute_error err;
    chute_cells *cells = chute_cells_new(2);
    memset(text, 'a' + (int)(number % 26), sizeof text);
    cells->at[0] = (chute_cell){.u64 = number, .kind = CHUTE_CELL_UINT64};
    cells->at[1] = (chute_cell){.ptr = text, .len = len, .kind = CHUTE_CELL_STRING};
    CHECK_INT(0, chute_buffer_add(batch->buffer, cells, &err));
    chute_cells_free(cells);
}

static void add_rows(chute_batch *batch, struct life *life, uint32_t rows, uint32_t len) {
    for (uint32_t i = 0; i < rows; i++) {
        add_row(batch, life->rows + 1, len + life->rows % 7);
        life->words[++life->rows] = atomic_load(batch->buffer->word);
    }
    memcpy(life->token, batch->token, sizeof life->token);
    const char *data = chute_buffer_data(batch->buffer, &life->len);
    memcpy(life->data, data, life->len);
}

static void begin_life(struct life *life) {
    life->rows = 0;
    life->words[0] = 0;
}

static struct image take_image(const chute_batch *batch) {
    struct image image = {malloc(batch->slot->map_bytes), batch->slot->map_bytes};
    memcpy(image.bytes, batch->slot->map, image.len);
    return image;
}

/* As if the machine had been started anew since. */
static void change_boot(struct image *image) {
    for (int i = 0; i < 2; i++) {
        struct chute_slot_header *header = (void *)(image->bytes + i * PAGE);
        if (header->magic != CHUTE_SLOT_MAGIC) continue;
        strcpy(header->boot, "00000000-0000-0000-0000-000000000000");
        header->crc = chute_slot_header_crc(header);
    }
}

/* ---- what is read -------------------------------------------------------------------------- */

static int scratch(void) {
    static int fd = -1;
    if (fd < 0) fd = memfd_create("slot", MFD_CLOEXEC);
    return fd;
}

static void put(const struct image *image) {
    if (ftruncate(scratch(), 0) || pwrite(scratch(), image->bytes, image->len, 0) < 0) abort();
}

/* Whether the file holds the first rows of the life, whole; how many, or -1: something else. */
static int64_t prefix_of(const struct chute_slotfile *file, const struct life *life) {
    uint64_t rows = chute_word_rows(file->word);
    if (rows == 0) return 0;
    if (rows > life->rows || file->word != life->words[rows]) return -1;
    if (memcmp(file->header.token, life->token, CHUTE_TOKEN_LEN) != 0) return -1;
    return memcmp(file->data, life->data, chute_slotfile_data_len(file)) == 0 ? (int64_t)rows : -1;
}

enum { UNREADABLE = -2, GARBAGE = -1 };

static int64_t rows_read(bool *damaged) {
    struct chute_slotfile file;
    if (chute_slotfile_read(&file, scratch(), NULL) != CHUTE_OK) return UNREADABLE;
    int64_t rows = UNREADABLE;
    if (chute_slotfile_load(&file, scratch(), NULL) == CHUTE_OK) {
        rows = prefix_of(&file, &lives[0]);
        if (rows < 0) rows = prefix_of(&file, &lives[1]);
    }
    *damaged = file.damaged;
    chute_slotfile_clear(&file);
    return rows;
}

/* ---- damage -------------------------------------------------------------------------------- */

static void cut(const struct image *image, bool sealed) {
    int64_t before = -1, garbage = 0, silent = 0;
    put(image);
    for (size_t len = image->len; len > 0; len--) {
        bool damaged = false;
        if (ftruncate(scratch(), (off_t)len)) break;
        int64_t rows = rows_read(&damaged);
        garbage += rows == GARBAGE;
        if (sealed && rows >= 0 && rows < ROWS && !damaged) silent++;
        if (before >= 0 && rows > before) garbage++;
        before = rows;
    }
    CHECK_INT(0, garbage);
    CHECK_INT(0, silent);
}

static void flip(const struct image *image, size_t from, size_t to) {
    int64_t garbage = 0;
    put(image);
    for (size_t bit = from * 8; bit < to * 8; bit++) {
        bool damaged;
        uint8_t byte = image->bytes[bit / 8], other = (uint8_t)(byte ^ 1u << bit % 8);
        if (pwrite(scratch(), &other, 1, (off_t)(bit / 8)) != 1) garbage++;
        garbage += rows_read(&damaged) == GARBAGE;
        if (pwrite(scratch(), &byte, 1, (off_t)(bit / 8)) != 1) garbage++;
    }
    CHECK_INT(0, garbage);
}

/* Each bit that has a meaning. */
static void flip_all(const struct image *image, const struct chute_slot_header *header) {
    flip(image, 0, sizeof *header);
    flip(image, PAGE, PAGE + sizeof *header);
    flip(image, CHUTE_SLOT_WORD_AT, CHUTE_SLOT_WORD_AT + 8);
    flip(image, CHUTE_SLOT_ABOUT_AT, CHUTE_SLOT_ABOUT_AT + header->about_bytes);
    flip(image, header->steps_at, header->steps_at + 3 * sizeof(struct chute_slot_step));
    flip(image, header->data_at, header->data_at + lives[0].len);
}

static void damage(void) {
    chute_batch *batch = new_batch(CEILING);
    begin_life(&lives[0]);
    begin_life(&lives[1]);
    add_rows(batch, &lives[0], ROWS, 40);
    struct image open = take_image(batch);
    chute_slot_seal(batch->slot);
    struct image sealed = take_image(batch);
    bool damaged;
    put(&open);
    CHECK_INT(ROWS, rows_read(&damaged));
    cut(&open, false);
    put(&sealed);
    CHECK_INT(ROWS, rows_read(&damaged));
    cut(&sealed, true);
    flip_all(&sealed, &batch->slot->header);
    change_boot(&open);
    put(&open);
    CHECK_INT(0, rows_read(&damaged)); /* no step was stored */
    change_boot(&sealed);
    put(&sealed);
    CHECK_INT(ROWS, rows_read(&damaged));
    flip_all(&sealed, &batch->slot->header);
    cut(&sealed, true);
    free(open.bytes);
    free(sealed.bytes);
    free_batch(batch);
}

/* ---- power loss ---------------------------------------------------------------------------- */

/* Of each page either version may have come to the disk. `least`: rows of life 1 that must be
 * there; -1: any answer but garbage is right. */
static void mix(const struct image *old, const struct image *new, int64_t least) {
    struct image mixed = {malloc(new->len), new->len};
    int64_t garbage = 0, lost = 0;
    for (int i = 0; i < mixes; i++) {
        bool damaged;
        uint32_t share = random_below(101);
        for (size_t at = 0; at < new->len; at += PAGE)
            memcpy(mixed.bytes + at, (random_below(100) < share ? new : old)->bytes + at, PAGE);
        put(&mixed);
        int64_t rows = rows_read(&damaged);
        garbage += rows == GARBAGE;
        lost += rows < least;
    }
    CHECK_INT(0, garbage);
    CHECK_INT(0, lost);
    free(mixed.bytes);
}

/* A slot on its way through two lives: images of it at the moments that matter, all pairs mixed. */
static void power_loss(void) {
    enum { MOMENTS = 9 };
    struct image at[MOMENTS];
    int n = 0;
    chute_batch *batch = new_batch(1 << 18);
    begin_life(&lives[0]);
    begin_life(&lives[1]);
    add_rows(batch, &lives[0], 150, 500);
    at[n++] = take_image(batch);
    chute_slot_step(batch->slot);
    at[n++] = take_image(batch);
    add_rows(batch, &lives[0], 100, 700);
    chute_slot_seal(batch->slot);
    int synced = n;
    at[n++] = take_image(batch); /* as it is when it was synced */
    chute_slot_attempt(batch->slot);
    at[n++] = take_image(batch);
    chute_slot_release(batch->slot);
    int released = n;
    at[n++] = take_image(batch);
    CHECK_INT(0, chute_batch_renew(batch));
    at[n++] = take_image(batch);
    add_rows(batch, &lives[1], 250, 300);
    at[n++] = take_image(batch);
    chute_slot_step(batch->slot);
    at[n++] = take_image(batch);
    chute_slot_seal(batch->slot);
    at[n++] = take_image(batch);
    CHECK_INT(MOMENTS, n);
    for (int i = 0; i < n; i++) change_boot(&at[i]);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            mix(&at[i], &at[k], i >= synced && k < released ? (int64_t)lives[0].rows : UNREADABLE);
    for (int i = 0; i < n; i++) free(at[i].bytes);
    free_batch(batch);
}

/* ---- being read for sending ---------------------------------------------------------------- */

/* What was marked as attempted is believed ever after, whatever the boot. */
static void marking(void) {
    chute_batch *batch = new_batch(CEILING);
    begin_life(&lives[0]);
    begin_life(&lives[1]);
    add_rows(batch, &lives[0], ROWS, 40);
    struct image open = take_image(batch);
    struct chute_slotfile file;
    chute_error err;
    put(&open);
    CHECK_INT(0, chute_slotfile_read(&file, scratch(), &err));
    CHECK_INT(0, chute_slotfile_load(&file, scratch(), &err));
    CHECK_INT(0, chute_slotfile_mark(&file, scratch(), CHUTE_SLOT_ATTEMPTED, &err));
    chute_slotfile_clear(&file);
    bool damaged = true;
    CHECK_INT(ROWS, rows_read(&damaged));
    CHECK(!damaged);
    CHECK(pread(scratch(), open.bytes, open.len, 0) == (ssize_t)open.len);
    change_boot(&open);
    put(&open);
    CHECK_INT(ROWS, rows_read(&damaged));
    CHECK(!damaged);
    free(open.bytes);
    free_batch(batch);
}

int main(void) {
    if (getenv("CHUTE_MIXES")) mixes = atoi(getenv("CHUTE_MIXES"));
    begin();
    damage();
    power_loss();
    marking();
    end();
    return check_report("core/slotfile");
}
