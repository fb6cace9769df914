// Networks of agents: what they are built with are the spaces of an environment. The program makes one, or it is assumed.
import { expect, test } from "vitest";
import { analysed, assumedOf, operatorsOf, printed } from "./testing/analysed";

/** built with the spaces of several environments: what it sees in a row, its actions counted */
const POLICY = `import numpy as np

class Policy(nn.Module):
    def __init__(self, envs):
        super().__init__()
        self.seen = nn.Linear(np.array(envs.single_observation_space.shape).prod(), 64)
        self.act = nn.Linear(64, envs.single_action_space.n)

    def forward(self, x):
        return self.act(torch.tanh(self.seen(x)))
`;

test("an environment that the program makes has the spaces that it is known for", () => {
  const r = analysed(`
import gymnasium as gym
${POLICY}
if __name__ == "__main__":
    envs = gym.vector.SyncVectorEnv([lambda: gym.wrappers.RecordEpisodeStatistics(gym.make("CartPole-v1"))] * 4)
    policy = Policy(envs)
    state, info = envs.reset()
`);
  expect(operatorsOf(r, "Policy")).toHaveLength(3);
  expect(assumedOf(r, "Policy")).toContain("x is float32[8, 128, 4]");
});

test("spaces of an environment that nobody makes are assumed: actions are counted where the code reads their number", () => {
  const r = analysed(`
${POLICY}
class Value(nn.Module):
    def __init__(self, observation_space, action_space):
        super().__init__()
        self.value = nn.Linear(observation_space.shape[0] + action_space.shape[0], 1)

    def forward(self, observation, action):
        return self.value(torch.cat([observation, action], -1))
`);
  expect(assumedOf(r, "Policy")).toContain("envs.single_observation_space is Box(17)");
  expect(assumedOf(r, "Policy")).toContain("envs.single_action_space is Discrete(6)");
  expect(operatorsOf(r, "Policy")).toHaveLength(3);
  expect(assumedOf(r, "Value")).toContain("observation_space is Box(17); action_space is Box(6)");
  expect(operatorsOf(r, "Value")).toHaveLength(2);
});

test("an agent that sees with convolutions sees screens", () => {
  const r = analysed(`
class Agent(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(), nn.Flatten(),
            nn.Linear(5184, 512), nn.ReLU(), nn.Linear(512, env.single_action_space.n))
        self.seen = env.single_observation_space.shape

    def forward(self, x):
        return self.network(x.reshape(-1, *self.seen) / 255.0)
`);
  expect(assumedOf(r, "Agent")).toContain("env.single_observation_space is Box(4, 84, 84)");
  expect(operatorsOf(r, "Agent")).toHaveLength(10);
});

test("what an environment shows has the observation's shape, as the program's gym gives it", () => {
  const r = analysed(`
import gym

env = gym.make("Pendulum-v1")
state = env.reset()
print(state.shape, env.action_space.shape, len(env.step(0)), env.unwrapped is env)
seen = gym.wrappers.FrameStack(gym.wrappers.AtariPreprocessing(gym.make("PongNoFrameskip-v4")), 4)
print(seen.observation_space.shape, seen.action_space.n)
`);
  expect(printed(r)).toBe("(3,) (1,) 4 True\n(4, 84, 84) 6\n");
});
