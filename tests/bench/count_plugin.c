// count_plugin.c: a plug-in of qemu's user mode that counts the instructions a program executes
//
// tests/bench/count-instructions compiles it for this machine. The declarations are those of qemu-plugin.h, which
// Debian does not package.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb; // a block of instructions that qemu translates and runs as one

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned vcpu, void *), int flags, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

extern const int qemu_plugin_version;
const int qemu_plugin_version = API_VERSION; // the script sets it, because qemu refuses unknown versions

static uint64_t instructions;

static void on_run(unsigned vcpu, void *count)
{
    (void)vcpu;
    __atomic_add_fetch(&instructions, (uintptr_t)count, __ATOMIC_RELAXED);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_run, 0, (void *)qemu_plugin_tb_n_insns(block));
}

static void on_exit(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    fprintf(stderr, "instructions: %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_exit, NULL);
    return 0;
}
