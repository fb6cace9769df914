// gym and gymnasium as far as programs around agents lean on them: spaces, environments of known sizes, wrappers that change
// what is observed. In: nothing. Out: texts by module name. What an environment shows has a shape and no values.

const SPACES = `
import math
import numpy as np


class Space:
    def __init__(self, shape=None, dtype=None, seed=None):
        self._shape = None if shape is None else tuple(int(n) for n in shape)
        self.dtype = dtype

    @property
    def shape(self):
        return self._shape

    def seed(self, seed=None):
        return [seed]

    def contains(self, x):
        return True

    __contains__ = contains


class Box(Space):
    def __init__(self, low=-math.inf, high=math.inf, shape=None, dtype=np.float32, seed=None):
        if shape is None:
            shape = getattr(low, "shape", None) or getattr(high, "shape", None) or ()
        super().__init__(shape, dtype, seed)
        self._low, self._high = low, high

    @property
    def low(self):
        return self._low if hasattr(self._low, "shape") else np.full(self.shape, float(self._low))

    @property
    def high(self):
        return self._high if hasattr(self._high, "shape") else np.full(self.shape, float(self._high))

    @property
    def bounded_below(self):
        return self.low > -math.inf

    @property
    def bounded_above(self):
        return self.high < math.inf

    def is_bounded(self, manner="both"):
        return True

    def sample(self, mask=None):
        return np.random.uniform(0.0, 1.0, self.shape).astype(self.dtype)

    def __repr__(self):
        return "Box(" + ", ".join(str(n) for n in self.shape) + ")"


class Discrete(Space):
    def __init__(self, n, seed=None, start=0):
        super().__init__((), np.int64, seed)
        self.n, self.start = n, start

    def sample(self, mask=None):
        return np.random.randint(0, self.n)

    def __repr__(self):
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    def __init__(self, nvec, dtype=np.int64, seed=None):
        self.nvec = np.array(nvec)
        super().__init__(self.nvec.shape, dtype, seed)

    def sample(self, mask=None):
        return np.random.randint(0, 2, self.shape)


class MultiBinary(Space):
    def __init__(self, n, seed=None):
        self.n = n
        super().__init__((n,) if isinstance(n, int) else n, np.int8, seed)

    def sample(self, mask=None):
        return np.random.randint(0, 2, self.shape)


class Dict(Space):
    def __init__(self, spaces=None, seed=None, **named):
        super().__init__(None, None, seed)
        self.spaces = {**dict(spaces or {}), **named}

    def __getitem__(self, key):
        return self.spaces[key]

    def __iter__(self):
        return iter(self.spaces)

    def __len__(self):
        return len(self.spaces)

    def keys(self):
        return self.spaces.keys()

    def values(self):
        return self.spaces.values()

    def items(self):
        return self.spaces.items()

    def sample(self, mask=None):
        return {k: s.sample() for k, s in self.spaces.items()}


class Tuple(Space):
    def __init__(self, spaces, seed=None):
        super().__init__(None, None, seed)
        self.spaces = tuple(spaces)

    def __getitem__(self, i):
        return self.spaces[i]

    def __iter__(self):
        return iter(self.spaces)

    def __len__(self):
        return len(self.spaces)

    def sample(self, mask=None):
        return tuple(s.sample() for s in self.spaces)


def flatdim(space):
    if isinstance(space, Discrete):
        return space.n
    if isinstance(space, (Dict, Tuple)):
        return sum(flatdim(s) for s in (space.values() if isinstance(space, Dict) else space))
    return int(np.prod(space.shape))
`;

/** observed numbers; actions: a count, or [numbers] where they are continuous */
const SIZES = `
_ENVIRONMENTS = dict(
    CartPole=(4, 2), MountainCar=(2, 3), MountainCarContinuous=(2, [1]), Acrobot=(6, 3), Pendulum=(3, [1]),
    LunarLander=(8, 4), LunarLanderContinuous=(8, [2]), BipedalWalker=(24, [4]), BipedalWalkerHardcore=(24, [4]),
    HalfCheetah=(17, [6]), Hopper=(11, [3]), Walker2d=(17, [6]), Ant=(27, [8]), Humanoid=(376, [17]),
    HumanoidStandup=(376, [17]), Swimmer=(8, [2]), Reacher=(11, [2]), Pusher=(23, [7]), InvertedPendulum=(4, [1]),
    InvertedDoublePendulum=(11, [1]), CarRacing=((96, 96, 3), [3]))
_ACTIONS = dict(Breakout=4, Pong=6, SpaceInvaders=6, Qbert=6, BeamRider=9, Seaquest=18, Freeway=3, MsPacman=9)
`;

const ENVIRONMENTS = `
class Env:
    metadata = {}
    render_mode = None
    reward_range = (-math.inf, math.inf)
    spec = None
    observation_space = None
    action_space = None

    @property
    def unwrapped(self):
        return self

    def reset(self, *args, **kwargs):
        seen = self.observation_space.sample() if self.observation_space is not None else _unknown("an observation")
        return (seen, {}) if _resets_give_pairs() else seen

    def step(self, action):
        seen = self.observation_space.sample() if self.observation_space is not None else _unknown("an observation")
        reward, done = _unknown("a reward"), _unknown("whether an episode is over")
        return (seen, reward, done, done, {}) if _resets_give_pairs() else (seen, reward, done, {})

    def seed(self, seed=None):
        return [seed]

    def render(self, *args, **kwargs):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


GoalEnv = Env


class _Spec:
    def __init__(self, id):
        self.id = id
        self.max_episode_steps = 1000
        self.reward_threshold = 200.0


class _Known(Env):
    def __init__(self, id):
        self.spec = _Spec(id)
        name = str(id).split("/")[-1].split("-")[0].replace("NoFrameskip", "").replace("Bullet", "").replace("Deterministic", "")
        if name in _ENVIRONMENTS:
            seen, actions = _ENVIRONMENTS[name]
        elif name in _ACTIONS or "NoFrameskip" in str(id) or "ALE/" in str(id):
            seen, actions = (210, 160, 3), _ACTIONS.get(name, 6)
        else:
            seen, actions = 17, [6] if "ontinuous" in str(id) else 4
        shape = seen if isinstance(seen, tuple) else (seen,)
        self.observation_space = Box(0, 255, shape, np.uint8) if len(shape) > 1 else Box(-math.inf, math.inf, shape)
        self.action_space = Box(-1.0, 1.0, tuple(actions)) if isinstance(actions, list) else Discrete(actions)

    def get_action_meanings(self):
        return ["NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN"] + ["MOVE"] * 12

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _unknown("what an environment has")


def make(id, *args, **kwargs):
    return _Known(getattr(id, "id", id))


def register(*args, **kwargs):
    pass


register_envs = register


class Wrapper(Env):
    def __init__(self, env, *args, **kwargs):
        self.env = env
        self.observation_space = env.observation_space
        self.action_space = env.action_space

    @property
    def unwrapped(self):
        return self.env.unwrapped

    @property
    def spec(self):
        return self.env.spec

    def __getattr__(self, name):
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


ObservationWrapper = RewardWrapper = ActionWrapper = Wrapper


class _Reshaped(Wrapper):
    def __init__(self, env, *args, **kwargs):
        super().__init__(env)
        space = self.observation_space
        self.observation_space = Box(0, 255, self.reshaped(tuple(space.shape), *args, **kwargs), space.dtype)


class GrayScaleObservation(_Reshaped):
    def reshaped(self, shape, keep_dim=False):
        return shape[:2] + (1,) if keep_dim else shape[:2]


GrayscaleObservation = GrayScaleObservation


class ResizeObservation(_Reshaped):
    def reshaped(self, shape, size=84):
        return ((size, size) if isinstance(size, int) else tuple(size)) + shape[2:]


class FrameStack(_Reshaped):
    def reshaped(self, shape, num_stack=4, lz4_compress=False, stack_size=None, **kwargs):
        return (stack_size or num_stack,) + shape


FrameStackObservation = FrameStack


class AtariPreprocessing(_Reshaped):
    def reshaped(self, shape, noop_max=30, frame_skip=4, screen_size=84, *args, grayscale_obs=True, **kwargs):
        return (screen_size, screen_size) if grayscale_obs else (screen_size, screen_size, 3)


class FlattenObservation(_Reshaped):
    def reshaped(self, shape):
        return (int(np.prod(shape)),)


(TimeLimit, RecordVideo, Monitor, RecordEpisodeStatistics, ClipAction, RescaleAction, NormalizeObservation, NormalizeReward,
 TransformObservation, TransformReward, ClipReward, Autoreset, AutoResetWrapper, OrderEnforcing, PassiveEnvChecker) = [Wrapper] * 15


class VectorEnv(Env):
    def __init__(self, env_fns, *args, **kwargs):
        self.envs = [f() for f in list(env_fns)[:1]]
        self.spec = self.envs[0].spec
        self.num_envs = len(env_fns)
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space, self.action_space = [
            Box(-1.0, 1.0, (self.num_envs, *s.shape), s.dtype) if isinstance(s, Box)
            else MultiDiscrete([s.n] * self.num_envs) if isinstance(s, Discrete) else s
            for s in (self.single_observation_space, self.single_action_space)]

    def step(self, action):
        seen = self.observation_space.sample()
        reward, done = [np.random.uniform(0.0, 1.0, (self.num_envs,)) for _ in range(2)]
        return (seen, reward, done > 0.5, done > 0.5, {}) if _resets_give_pairs() else (seen, reward, done > 0.5, {})


SyncVectorEnv = AsyncVectorEnv = VectorEnv


def make_vec(id, num_envs=1, *args, **kwargs):
    return VectorEnv([lambda: make(id)] * num_envs)
`;

const GYM = SPACES + SIZES + ENVIRONMENTS;

/** a module's text by its name */
export const GYM_MODULES: Readonly<Record<string, string>> = Object.fromEntries(
  ["gym", "gymnasium"].flatMap(name =>
    [
      "",
      ".spaces",
      ".spaces.space",
      ".spaces.box",
      ".spaces.utils",
      ".core",
      ".vector",
      ".wrappers",
      ".envs.registration",
    ].map(part => [name + part, GYM]),
  ),
);
