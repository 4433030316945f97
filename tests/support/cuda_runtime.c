/* Stands for CUDA's runtime: memory is the host's, copies are made, launches are listed, and no
   kernel runs. A line of `calls` for each: "launch NAME BLOCKS xPARTS THREADS", "copy BYTES",
   "wait", "take BYTES", "lock BYTES". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned x, y, z;
} Size;

char calls[1 << 16];
static size_t used;
static struct {
    const char *function, *name;
} known[512];
static int kernels;
static Size blocks, threads;

void forget(void) { calls[used = 0] = 0; }

static int listed(const char *kind, const char *name, size_t a, size_t b, size_t c)
{
    used += (size_t)snprintf(calls + used, sizeof calls - used, "%s %s %zu %zu %zu\n", kind, name, a, b, c);
    return 0;
}

void **__cudaRegisterFatBinary(void *binary)
{
    static void *handle;
    handle = binary;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}
void __cudaRegisterFunction(void **handle, const char *function, char *device, const char *name, int limit, void *a, void *b, void *c, void *d, int *e)
{
    (void)handle, (void)device, (void)limit, (void)a, (void)b, (void)c, (void)d, (void)e;
    known[kernels].function = function;
    known[kernels++].name = name;
}
int __cudaGetKernel(const void **kernel, const void *function)
{
    *kernel = function;
    return 0;
}
unsigned __cudaPushCallConfiguration(Size grid, Size block, size_t memory, void *stream)
{
    (void)memory, (void)stream;
    blocks = grid;
    threads = block;
    return 0;
}
int __cudaPopCallConfiguration(Size *grid, Size *block, size_t *memory, void *stream)
{
    *grid = blocks;
    *block = threads;
    *memory = 0;
    *(void **)stream = NULL;
    return 0;
}
int cudaLaunchKernel(const void *function, Size grid, Size block, void **arguments, size_t memory, void *stream)
{
    int k;
    (void)arguments, (void)memory, (void)stream;
    for (k = 0; k < kernels && known[k].function != (const char *)function; ++k)
        ;
    return listed("launch", k < kernels ? known[k].name : "?", grid.x, grid.y, block.x);
}
int __cudaLaunchKernel(const void *function, Size grid, Size block, void **arguments, size_t memory, void *stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, memory, stream);
}
int cudaMalloc(void **at, size_t bytes) { return listed("take", "", bytes, 0, (size_t)!(*at = malloc(bytes))); }
int cudaFree(void *at) { return free(at), 0; }
int cudaMallocHost(void **at, size_t bytes) { return listed("lock", "", bytes, 0, (size_t)!(*at = malloc(bytes))); }
int cudaHostAlloc(void **at, size_t bytes, unsigned flags) { return (void)flags, cudaMallocHost(at, bytes); }
int cudaFreeHost(void *at) { return free(at), 0; }
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    (void)kind, (void)stream;
    memcpy(to, from, bytes);
    return listed("copy", "", bytes, 0, 0);
}
int cudaStreamSynchronize(void *stream) { return (void)stream, listed("wait", "", 0, 0, 0); }
int cudaGetLastError(void) { return 0; }
