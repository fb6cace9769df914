"""Memory and checks for generated wrappers, on torch's public functions."""

import torch
from triton.runtime import driver

_CUDA = torch.device("cuda")


def empty_strided_cuda(size, stride, dtype):
    return torch.empty_strided(size, stride, dtype=dtype, device=_CUDA)


def empty_strided_cpu(size, stride, dtype):
    return torch.empty_strided(size, stride, dtype=dtype, device="cpu")


def reinterpret_tensor(tensor, size, stride, offset=0):
    """A view of the tensor's storage; `offset` counts from the tensor's own start."""
    return tensor.as_strided(size, stride, tensor.storage_offset() + offset)


def assert_size_stride(tensor, size, stride, name=None):
    """Raises AssertionError unless sizes agree, and strides of all dimensions longer than 1."""
    if tensor.shape == size and tensor.stride() == stride:
        return
    where = f" of {name}" if name else ""
    if tensor.dim() != len(size):
        raise AssertionError(f"wrong number of dimensions{where}: {tensor.dim()} instead of {len(size)}")
    if tensor.numel() == 0:
        return
    for d, (have, want, have_stride, want_stride) in enumerate(zip(tensor.shape, size, tensor.stride(), stride)):
        if have != want or (want > 1 and have_stride != want_stride):
            raise AssertionError(f"dimension {d}{where}: size {have}, stride {have_stride} instead of {want}, {want_stride}")


def assert_size_stride_grouped(tensors, sizes, strides, name=None):
    for tensor, size, stride in zip(tensors, sizes, strides):
        assert_size_stride(tensor, size, stride, name)


def assert_alignment(tensor, alignment, name=None):
    if tensor.data_ptr() % alignment:
        raise AssertionError(f"{name or 'tensor'} is not aligned to {alignment} bytes")


def copy_if_misaligned(tensor):
    """Kernels are specialised for pointers that are multiples of 16 bytes. A copy has the same strides, gaps and all."""
    if not tensor.data_ptr() % 16 or not tensor.numel():
        return tensor
    reach = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    return tensor.as_strided((reach,), (1,)).clone().as_strided(tensor.shape, tensor.stride())


def get_raw_stream(device):
    """The current stream's handle; `device` is its index."""
    return driver.active.get_current_stream(device)


def rand_strided(size, stride, dtype=torch.float32, device="cpu"):
    """A tensor of this layout: normal values for floats, small non-negative integers, random booleans."""
    length = 1 + sum((n - 1) * s for n, s in zip(size, stride)) if all(size) else 0
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.float32 if dtype.itemsize < 4 else dtype
        data = torch.randn(length, dtype=wide, device=device).to(dtype)
    elif dtype == torch.bool:
        data = torch.randint(0, 2, (length,), dtype=torch.uint8, device=device).to(dtype)
    else:
        data = torch.randint(0, 2, (length,), dtype=torch.int64, device=device).to(dtype)
    return data.as_strided(size, stride)
