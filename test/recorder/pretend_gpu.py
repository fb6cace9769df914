"""A GPU that is not there: torch 2.11 compiles for it, and nothing ever runs on it.

`install()` makes the CUDA build of torch believe in one H200, enters a FakeTensorMode for everything that follows, and
has Inductor stop after it has generated a graph's code: the compiled graph's call is then the ATen graph itself on fake
tensors. So every decision of torch.compile is made, on a machine without a GPU or a driver. What needs numbers is not
known: `.item()` of a computed tensor fails, nothing is autotuned, and padding of matrix products, which Inductor decides
by measuring, never happens. Constants that Inductor folds are worked out on the CPU.

Everything here hangs on torch's internals: it is for the one version named in record.py.
"""
import functools
import os
import subprocess
import sys
import sysconfig
import tempfile
import types
from pathlib import Path
from types import SimpleNamespace

NAME = "NVIDIA H200"
CAPABILITY = (9, 0)
MULTIPROCESSORS = 132
MEMORY = 150754820096
SHARED_MEMORY = 232448
PROPERTIES = SimpleNamespace(
    name=NAME, major=9, minor=0, total_memory=MEMORY, multi_processor_count=MULTIPROCESSORS, is_integrated=0,
    is_multi_gpu_board=0, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, warp_size=32,
    gcnArchName="", L2_cache_size=62914560, shared_memory_per_block=49152, shared_memory_per_block_optin=SHARED_MEMORY,
    shared_memory_per_multiprocessor=233472, max_threads_per_block=1024, clock_rate=1980000, memory_clock_rate=3201000,
    memory_bus_width=6144, uuid="0", pci_bus_id=0, pci_device_id=0, pci_domain_id=0)


def start():
    """Begins the process anew with the pretended driver in front of all libraries, unless it has been. Needs a C compiler."""
    if os.environ.get("PRETEND_DRIVER"):
        return
    headers = [f"-I{sysconfig.get_path('platlib')}/{folder}/include" for folder in ("nvidia/cu13", "triton/backends/nvidia")]
    source = Path(__file__).with_name("pretend_driver.c")
    library = Path(tempfile.mkdtemp(prefix="pretend_gpu_")) / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", *headers, "-Wl,-soname,libcuda.so.1", "-o", library, source], check=True)
    os.environ |= {"PRETEND_DRIVER": str(library), "LD_PRELOAD": str(library)}
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _pretend_cuda():
    """torch.cuda and its C functions answer for one initialised device."""
    import torch

    cuda, c = torch.cuda, torch._C
    cuda.is_available = lambda: True
    cuda._is_compiled = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.get_device_properties = lambda device=None: PROPERTIES
    cuda.get_device_capability = lambda device=None: CAPABILITY
    cuda.get_device_name = lambda device=None: NAME
    cuda._lazy_init = lambda: None
    cuda.is_initialized = lambda: True
    cuda._initialized = True
    cuda.synchronize = lambda *args: None
    cuda.set_device = lambda *args: None
    cuda.is_bf16_supported = lambda *args, **kwargs: True
    cuda.is_current_stream_capturing = lambda: False
    cuda.mem_get_info = lambda *args: (MEMORY, MEMORY)
    cuda.get_rng_state = lambda *args, **kwargs: torch.zeros(16, dtype=torch.uint8)
    cuda.set_rng_state = lambda *args, **kwargs: None
    cuda.manual_seed = lambda *args: None
    cuda.manual_seed_all = lambda *args: None
    cuda._exchange_device = lambda device: 0
    cuda._maybe_exchange_device = lambda device: 0
    c._cuda_getDevice = lambda: 0
    c._cuda_setDevice = lambda device: None
    c._cuda_exchangeDevice = lambda device: 0
    c._cuda_maybeExchangeDevice = lambda device: 0
    c._cuda_getCurrentRawStream = lambda device: 0
    c._cuda_getDeviceCount = lambda: 1
    torch.accelerator.is_available = lambda: False
    from torch._dynamo.device_interface import CudaInterface
    CudaInterface.get_raw_stream = staticmethod(lambda device: 0)


def _pretend_driver():
    """Triton's driver, as far as code generation asks it."""
    import torch
    import triton
    from triton.backends.compiler import GPUTarget

    class Driver:
        utils = SimpleNamespace(get_device_properties=lambda device: {
            "max_shared_mem": SHARED_MEMORY, "multiprocessor_count": MULTIPROCESSORS, "sm_clock_rate": 1980000,
            "mem_clock_rate": 3201000, "mem_bus_width": 6144, "warpSize": 32, "max_num_regs": 65536})

        def get_current_target(self):
            return GPUTarget("cuda", 90, 32)

        def get_current_device(self):
            return 0

        def get_current_stream(self, device=None):
            return 0

        def get_device_capability(self, device=None):
            return CAPABILITY

        def get_active_torch_device(self):
            return torch.device("cuda", 0)

        def get_benchmarker(self):
            return lambda *args, **kwargs: 0.0

        def is_active(self):
            return True

    triton.runtime.driver.set_active(Driver())


def _stop_after_codegen():
    """A graph's code is generated and logged; its call interprets the ATen graph."""
    import torch
    from torch._inductor.graph import GraphLowering, output_code_log
    import torch._inductor.config as config

    config.force_disable_caches = True
    config.compile_threads = 1

    class Call(torch.fx.Interpreter):
        def call_function(self, target, args, kwargs):
            result = super().call_function(target, args, kwargs)
            # _foreach_add_ and its like give nothing back, while Inductor has their items read
            return args[0] if result is None and str(target).startswith("aten._foreach") else result

    def compile_to_module(self):
        code, _ = self.codegen_with_cpp_wrapper() if self.cpp_wrapper else self.codegen()
        text = code.value if hasattr(code, "value") else code
        output_code_log.debug("Output code: \n%s", text)
        graph = self.orig_gm
        module = types.ModuleType("generated_only")
        module.call = lambda args: Call(graph).run(*list(args))
        module.__file__, module.key = "generated_only", "generated_only"
        return module

    GraphLowering._compile_to_module = compile_to_module


def _fold_on_cpu():
    """Constants that Inductor works out while it compiles are worked out on the CPU."""
    import torch
    from torch._inductor.constant_folding import ConstantFolder
    from torch.utils._python_dispatch import TorchDispatchMode

    def on_cpu(value):
        return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value

    class OnCpu(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if kwargs.get("device") is not None:
                kwargs["device"] = on_cpu(torch.device(kwargs["device"]))
            return func(*map(on_cpu, args), **kwargs)

    run = ConstantFolder.run

    def run_on_cpu(self, *args, **kwargs):
        with OnCpu():
            return run(self, *args, **kwargs)

    ConstantFolder.run = run_on_cpu


def _no_measuring():
    """pad_mm measures products that are bound by compute; none is taken to be."""
    import torch._inductor.fx_passes.pad_mm as pad_mm

    pad_mm.is_mm_compute_bound = lambda *args: False


def _fake_modules():
    """`module.to()` makes new parameters: a fake one has no data to exchange."""
    import torch

    def apply(self, fn, recurse=True):
        if recurse:
            for child in self.children():
                child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            done_by, new = getattr(parameter, "pretend_moved", (None, None))  # a parameter that several modules share stays one
            if done_by is not fn:
                with torch.no_grad():
                    moved = fn(parameter)
                new = parameter if moved is parameter else torch.nn.Parameter(moved.detach(), parameter.requires_grad)
                parameter.pretend_moved = (fn, new)
            self._parameters[name] = new
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    torch.nn.Module._apply = apply


def _fake_optimizer_state(mode):
    """Dynamo has an optimizer make its state with all modes switched off; here that state is fake as well."""
    import torch

    def within(init_group):
        @functools.wraps(init_group)
        def wrapped(self, *args, **kwargs):
            with mode:
                return init_group(self, *args, **kwargs)

        return wrapped

    for optimizer in vars(torch.optim).values():
        if "_init_group" in getattr(optimizer, "__dict__", {}):
            optimizer._init_group = within(optimizer._init_group)


def install():
    """Everything above, then the FakeTensorMode, which stays for as long as the process lives."""
    import torch._subclasses.fake_tensor as fake_tensor
    from torch._subclasses import FakeTensorMode

    _pretend_cuda()
    _pretend_driver()
    fake_tensor.init_gpu_context = lambda device: None
    FakeTensorMode.avoid_device_init = property(lambda self: True)
    _stop_after_codegen()
    _no_measuring()
    _fold_on_cpu()
    _fake_modules()
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    _fake_optimizer_state(mode)
    mode.__enter__()
