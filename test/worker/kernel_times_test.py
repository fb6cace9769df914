"""Tests of what the executor calls a kernel's time, with stand-ins for PyTorch and the GPU: a launch takes what it is told to."""

import pathlib
import sys
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "gpu-worker" / "python"))



def stand_in(name, **attributes):
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    sys.modules[name] = module


stand_in("torch", cuda=types.SimpleNamespace(synchronize=lambda: None))
stand_in("fuselens_runtime", source=None)
stand_in("fuselens_worker.device")

from fuselens_worker import benchmark


class Kernel:
    """A generated kernel; it counts what it is launched with."""

    def __init__(self):
        self.launched = []

    def run(self, us, stream=None):
        self.launched.append(us)
        Clock.us += us


class Clock:
    us = 0.0
    seconds = []


def time_cold(launch, seconds, min_runs):
    """As many times as there are `min_runs`, off a clock that launches alone move."""
    Clock.seconds.append(seconds)
    times = []
    for _ in range(min_runs):
        before = Clock.us
        launch()
        times.append(Clock.us - before)
    return times


class KernelTimes(unittest.TestCase):
    def setUp(self):
        Clock.seconds = []
        benchmark.time_cold = time_cold
        self.code = types.SimpleNamespace(often=Kernel(), once=Kernel(), never=Kernel())
        kernels = [{"name": n, "bytes": b} for n, b in (("often", 600), ("once", 70), ("never", 5), ("extern", 1))]
        self.job = {"kernels": kernels, "seconds": 8, "min_runs": 3}

    def graph(self):
        for us in (10, 20, 30):
            self.code.often.run(us, stream=0)
        self.code.once.run(7, stream=0)

    def times(self):
        return benchmark.kernel_times(self.code, self.graph, self.job)

    def test_all_launches_of_a_name_are_its_time(self):
        often, once = self.times()
        self.assertEqual((often["name"], often["medianUs"], often["count"]), ("often", 60, 3))
        self.assertEqual((once["name"], once["medianUs"], once["count"]), ("once", 7, 3))
        self.assertAlmostEqual(often["bytesPerSecond"], 600 / 60e-6)

    def test_launches_share_the_time_that_a_kernel_is_measured_for(self):
        self.times()
        self.assertEqual(Clock.seconds, [8 / 4 / 3] * 3 + [8 / 4])

    def test_the_graph_is_as_it_was_afterwards_and_after_a_failure(self):
        own = self.code.often.run
        self.times()
        self.assertEqual(self.code.often.run, own)
        self.graph = lambda: 1 / 0
        with self.assertRaises(ZeroDivisionError):
            self.times()
        self.assertEqual(self.code.often.run, own)


if __name__ == "__main__":
    unittest.main(verbosity=0)
