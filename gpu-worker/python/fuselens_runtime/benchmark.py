"""`python output_code.py`: runs the graph and prints its time."""

import torch
import triton


def main(call, get_args, seconds=0.5):
    if not torch.cuda.is_available():
        raise SystemExit("this output code needs a CUDA GPU, and torch sees none")
    args = get_args()
    once = lambda: call(list(args))
    once()
    torch.cuda.synchronize()
    low, median, high = triton.testing.do_bench(once, warmup=25, rep=int(seconds * 1000), quantiles=[0.2, 0.5, 0.8])
    print(f"{median:.6f} ms (median; p20 {low:.6f}, p80 {high:.6f}) on {torch.cuda.get_device_name()}")
