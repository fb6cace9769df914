/* What torch's C++ side asks the CUDA runtime and driver while it compiles: one device without a context, where nothing
 * can be allocated or launched. Preloaded under libcuda's soname, so it is the driver that torch finds; what isn't here
 * is answered by the real runtime, which finds no GPU. */

#include <driver_types.h>
#include <string.h>

enum { OK = 0, NO_DEVICE = 100 };

int cudaGetDeviceProperties(struct cudaDeviceProp *found, int device) {
    memset(found, 0, sizeof *found);
    strcpy(found->name, "NVIDIA H200");
    found->major = 9;
    found->minor = 0;
    found->multiProcessorCount = 132;
    found->totalGlobalMem = 150754820096;
    found->warpSize = 32;
    found->maxThreadsPerBlock = 1024;
    found->maxThreadsPerMultiProcessor = 2048;
    found->sharedMemPerBlock = 49152;
    found->sharedMemPerBlockOptin = 232448;
    found->sharedMemPerMultiprocessor = 233472;
    found->l2CacheSize = 62914560;
    found->regsPerMultiprocessor = 65536;
    found->regsPerBlock = 65536;
    return OK;
}

int cudaGetDeviceCount(int *count) { *count = 1; return OK; }
int cudaGetDevice(int *device) { *device = 0; return OK; }
int cudaSetDevice(int device) { return device == 0 ? OK : NO_DEVICE; }
int cudaGetLastError(void) { return OK; }
int cudaPeekAtLastError(void) { return OK; }
int cudaDeviceSynchronize(void) { return OK; }
int cudaDriverGetVersion(int *version) { *version = 13000; return OK; }
int cudaRuntimeGetVersion(int *version) { *version = 13000; return OK; }
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -1; return OK; }
int cudaStreamIsCapturing(void *stream, int *status) { *status = 0; return OK; }
int cudaThreadExchangeStreamCaptureMode(int *mode) { return OK; }
int cudaEventCreateWithFlags(void **event, unsigned flags) { *event = 0; return OK; }
int cudaEventRecord(void *event, void *stream) { return OK; }
int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags) { return OK; }
int cudaEventQuery(void *event) { return OK; }
int cudaEventSynchronize(void *event) { return OK; }
int cudaEventDestroy(void *event) { return OK; }
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { return OK; }
int cudaStreamQuery(void *stream) { return OK; }
int cudaStreamSynchronize(void *stream) { return OK; }

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0; *active = 0; return OK; }

#define REFUSES(name) int name(void) { return NO_DEVICE; }
REFUSES(cuCtxGetCurrent)
REFUSES(cuCtxSetCurrent)
REFUSES(cuDeviceGet)
REFUSES(cuDeviceGetAttribute)
REFUSES(cuDevicePrimaryCtxRetain)
REFUSES(cuFuncGetAttribute)
REFUSES(cuFuncSetAttribute)
REFUSES(cuFuncSetCacheConfig)
REFUSES(cuGetErrorString)
REFUSES(cuLaunchCooperativeKernel)
REFUSES(cuLaunchKernel)
REFUSES(cuLinkAddData_v2)
REFUSES(cuLinkComplete)
REFUSES(cuLinkCreate_v2)
REFUSES(cuModuleGetFunction)
REFUSES(cuModuleLoad)
REFUSES(cuModuleLoadData)
REFUSES(cuModuleLoadDataEx)
REFUSES(cuModuleUnload)
REFUSES(cuOccupancyMaxActiveBlocksPerMultiprocessor)
REFUSES(cuPointerGetAttribute)
REFUSES(cuTensorMapEncodeTiled)
