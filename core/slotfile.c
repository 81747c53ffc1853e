#include "slotfile.h"

#include "about.h"
#include "crc32c.h"
#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct chute_slot_header) <= CHUTE_SLOT_BLOCK, "a header is one block");
_Static_assert(sizeof(struct chute_slot_step) == 16, "a step has no padding");

enum { MAX_ABOUT = 1 << 28 };

/* ---- checksums ----------------------------------------------------------------------------- */

uint32_t chute_slot_header_crc(const struct chute_slot_header *header) {
    return chute_crc32c(0, header, offsetof(struct chute_slot_header, crc));
}

static uint32_t seed(const char *token, uint64_t number) {
    return chute_crc32c(chute_crc32c(0, token, CHUTE_TOKEN_LEN), &number, sizeof number);
}

uint32_t chute_slot_data_crc(const char *token, uint64_t from, const void *data, size_t len) {
    return chute_crc32c(seed(token, from), data, len);
}

uint32_t chute_slot_step_check(const char *token, uint32_t index,
                               const struct chute_slot_step *step) {
    return chute_crc32c(seed(token, index), step, offsetof(struct chute_slot_step, check));
}

/* ---- the boot ------------------------------------------------------------------------------ */

static char boot[CHUTE_BOOT_LEN + 1];

static void read_boot(void) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (read(fd, boot, CHUTE_BOOT_LEN) != CHUTE_BOOT_LEN) boot[0] = '\0';
    close(fd);
}

const char *chute_boot_id(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_boot);
    return boot;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* How much there was of `len` bytes; or -1 with errno. */
static ssize_t read_at(int fd, void *to, size_t len, uint64_t at) {
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, (char *)to + got, len - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* Another try may be luckier. */
static int refuse_read(chute_error *err) {
    chute_fail(err, CHUTE_E_SPOOL, "it cannot be read: %s", strerror(errno));
    if (err) err->flags = CHUTE_RETRYABLE;
    return CHUTE_E_SPOOL;
}

static bool is_whole(const struct chute_slot_header *header) {
    return header->magic == CHUTE_SLOT_MAGIC && header->crc == chute_slot_header_crc(header);
}

/* That nothing which is computed from it goes astray. */
static bool is_sound(const struct chute_slot_header *h) {
    uint64_t about_end = CHUTE_SLOT_ABOUT_AT + (uint64_t)h->about_bytes;
    uint64_t steps_end = h->steps_at + (uint64_t)h->steps_max * sizeof(struct chute_slot_step);
    return h->state >= CHUTE_SLOT_FREE && h->state <= CHUTE_SLOT_ATTEMPTED &&
           h->about_bytes <= MAX_ABOUT && about_end <= h->steps_at && steps_end <= h->data_at &&
           h->data_bytes <= CHUTE_BUFFER_MAX_BYTES && h->head_bytes <= h->data_bytes &&
           chute_word_bytes(h->sealed) <= h->data_bytes - h->head_bytes &&
           strnlen(h->token, sizeof h->token) <= CHUTE_TOKEN_LEN &&
           strnlen(h->boot, sizeof h->boot) <= CHUTE_BOOT_LEN;
}

static int pick_header(struct chute_slotfile *file, int fd, chute_error *err) {
    struct chute_slot_header blocks[2];
    bool found = false;
    for (int i = 0; i < 2; i++) {
        ssize_t got = read_at(fd, blocks + i, sizeof *blocks, (uint64_t)i * CHUTE_SLOT_BLOCK);
        if (got < 0) return refuse_read(err);
        if (got != sizeof *blocks || !is_whole(blocks + i)) continue;
        if (found && blocks[i].generation < file->header.generation) continue;
        file->header = blocks[i];
        found = true;
    }
    if (!found) return chute_fail(err, CHUTE_E_SPOOL, "neither of its headers is whole");
    if (file->header.version != CHUTE_SLOT_VERSION)
        return chute_fail(err, CHUTE_E_SPOOL, "it is of version %u, which is not known here",
                          file->header.version);
    if (!is_sound(&file->header))
        return chute_fail(err, CHUTE_E_SPOOL, "its header makes no sense");
    return CHUTE_OK;
}

static int read_word(struct chute_slotfile *file, int fd, chute_error *err) {
    const struct chute_slot_header *header = &file->header;
    file->word = header->sealed;
    if (header->state != CHUTE_SLOT_OPEN) return CHUTE_OK;
    ssize_t got = read_at(fd, &file->word, sizeof file->word, CHUTE_SLOT_WORD_AT);
    if (got < 0) return refuse_read(err);
    if (got != sizeof file->word) file->word = 0;
    return CHUTE_OK;
}

static int read_about(struct chute_slotfile *file, int fd, chute_error *err) {
    uint32_t len = file->header.about_bytes;
    file->about = malloc(len ? len : 1);
    if (!file->about) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    ssize_t got = read_at(fd, file->about, len, CHUTE_SLOT_ABOUT_AT);
    if (got < 0) return refuse_read(err);
    if ((size_t)got != len || chute_crc32c(0, file->about, len) != file->header.about_crc)
        return chute_fail(err, CHUTE_E_SPOOL, "its description is damaged");
    return CHUTE_OK;
}

int chute_slotfile_read(struct chute_slotfile *file, int fd, chute_error *err) {
    memset(file, 0, sizeof *file);
    int rc = pick_header(file, fd, err);
    if (rc == CHUTE_OK) rc = read_word(file, fd, err);
    if (rc == CHUTE_OK && file->header.state != CHUTE_SLOT_FREE) rc = read_about(file, fd, err);
    if (rc != CHUTE_OK) chute_slotfile_clear(file);
    return rc;
}

void chute_slotfile_clear(struct chute_slotfile *file) {
    free(file->about);
    free(file->data);
    file->about = file->data = NULL;
}

/* ---- which rows can be trusted ------------------------------------------------------------- */

static bool is_same_boot(const struct chute_slot_header *header) {
    const char *now = chute_boot_id();
    return *now && strncmp(header->boot, now, sizeof header->boot) == 0;
}

/* Counts the right steps. True: a wrong one stands behind them, which is whole itself, but not
 * the data that it is of. `len`: bytes of data there are. */
static bool follow_steps(struct chute_slotfile *file, const struct chute_slot_step *steps,
                         size_t len) {
    const struct chute_slot_header *header = &file->header;
    size_t from = 0;
    file->stepped = 0;
    for (file->steps = 0; file->steps < header->steps_max; file->steps++) {
        const struct chute_slot_step *step = steps + file->steps;
        size_t to = header->head_bytes + chute_word_bytes(step->word);
        if (step->check != chute_slot_step_check(header->token, file->steps, step)) return false;
        if (to < from || to > len || step->word < file->stepped ||
            step->crc != chute_slot_data_crc(header->token, from, file->data + from, to - from))
            return true;
        from = to;
        file->stepped = step->word;
    }
    return false;
}

static int read_steps(const struct chute_slotfile *file, int fd, struct chute_slot_step **steps,
                      chute_error *err) {
    size_t len = file->header.steps_max * sizeof **steps;
    *steps = calloc(1, len ? len : 1);
    if (!*steps) return chute_fail(err, CHUTE_E_NOMEM, "out of memory");
    if (read_at(fd, *steps, len, file->header.steps_at) >= 0) return CHUTE_OK;
    free(*steps);
    return refuse_read(err);
}

/* `got`: bytes of data that the file had, of those the word tells of. */
static int judge(struct chute_slotfile *file, int fd, size_t got, chute_error *err) {
    struct chute_slot_step *steps;
    int rc = read_steps(file, fd, &steps, err);
    if (rc != CHUTE_OK) return rc;
    bool sealed = file->header.state != CHUTE_SLOT_OPEN;
    bool cut = got < chute_slotfile_data_len(file);
    bool wrong = follow_steps(file, steps, got);
    free(steps);
    file->damaged = sealed && file->stepped != file->word;
    if (sealed || wrong || cut || !is_same_boot(&file->header)) file->word = file->stepped;
    return CHUTE_OK;
}

/* Bytes of data to look at: after another boot the word may be older than the steps. */
static size_t wanted(const struct chute_slotfile *file) {
    const struct chute_slot_header *header = &file->header;
    uint64_t room = header->data_bytes - header->head_bytes;
    bool by_word = header->state != CHUTE_SLOT_OPEN || is_same_boot(header);
    uint64_t rows = by_word ? chute_word_bytes(file->word) : room;
    return header->head_bytes + (rows < room ? rows : room);
}

int chute_slotfile_load(struct chute_slotfile *file, int fd, chute_error *err) {
    const struct chute_slot_header *header = &file->header;
    if (header->state == CHUTE_SLOT_FREE) file->word = 0;
    size_t len = wanted(file);
    struct stat seen;
    if (fstat(fd, &seen) != 0) return refuse_read(err);
    if ((uint64_t)seen.st_size < header->data_at + (uint64_t)len)
        len = (uint64_t)seen.st_size > header->data_at ? (size_t)seen.st_size - header->data_at : 0;
    free(file->data);
    file->data = malloc(len + 1);
    if (!file->data) return chute_fail(err, CHUTE_E_NOMEM, "no memory for %zu bytes", len);
    ssize_t got = read_at(fd, file->data, len, header->data_at);
    if (got < 0) return refuse_read(err);
    return judge(file, fd, (size_t)got, err);
}

/* ---- marking ------------------------------------------------------------------------------- */

static int refuse_write(chute_error *err) {
    chute_fail(err, CHUTE_E_SPOOL, "it cannot be written: %s", strerror(errno));
    if (err) err->flags = CHUTE_RETRYABLE;
    return CHUTE_E_SPOOL;
}

/* A sealed slot is believed by its steps: the last one has to reach the last row. */
static int add_last_step(struct chute_slotfile *file, int fd, chute_error *err) {
    const struct chute_slot_header *header = &file->header;
    if (file->stepped == file->word || file->steps == header->steps_max) return CHUTE_OK;
    size_t from = file->steps ? header->head_bytes + chute_word_bytes(file->stepped) : 0;
    size_t to = chute_slotfile_data_len(file);
    struct chute_slot_step step = {.word = file->word};
    step.crc = chute_slot_data_crc(header->token, from, file->data + from, to - from);
    step.check = chute_slot_step_check(header->token, file->steps, &step);
    off_t at = (off_t)(header->steps_at + file->steps * sizeof step);
    if (pwrite(fd, &step, sizeof step, at) != sizeof step) return refuse_write(err);
    file->stepped = step.word;
    file->steps++;
    return CHUTE_OK;
}

int chute_slotfile_mark(struct chute_slotfile *file, int fd, uint32_t state, chute_error *err) {
    struct chute_slot_header *header = &file->header;
    if (!file->damaged) {
        if (add_last_step(file, fd, err)) return CHUTE_E_SPOOL;
        header->sealed = file->word;
    }
    header->state = state;
    header->generation++;
    header->crc = chute_slot_header_crc(header);
    off_t at = (off_t)(header->generation % 2 * CHUTE_SLOT_BLOCK);
    return pwrite(fd, header, sizeof *header, at) == sizeof *header ? CHUTE_OK : refuse_write(err);
}

void chute_slotfile_trim(const struct chute_slotfile *file, int fd) {
    const struct chute_slot_header *header = &file->header;
    uint64_t end = header->data_at + header->head_bytes + chute_word_bytes(header->sealed);
    if (header->state < CHUTE_SLOT_SEALED || ftruncate(fd, (off_t)end) != 0) return;
}
