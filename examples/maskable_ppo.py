"""Train Stable-Baselines3's maskable PPO to place small graphs, and compare it with chance.

pip install 'streamplace[rl]'; python examples/maskable_ppo.py [STEPS]
"""

import sys

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import streamplace as sp
from streamplace.env import ID

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
SEEN = sp.Recipe("series-parallel", 1000, sizes=range(6, 13), seed=1)
UNSEEN = sp.Recipe("series-parallel", 200, sizes=range(6, 13), seed=2)


def mean_reward(model: MaskablePPO | None) -> float:
    """Return the mean relative throughput over the unseen graphs; None places by chance."""
    env = gymnasium.make(ID, graphs=UNSEEN, cluster="3x2500")
    env.action_space.seed(0)
    rewards = []
    for number in range(UNSEEN.count):
        seen, info = env.reset(options={"graph": number})
        over = False
        while not over:
            if model is None:
                action = env.action_space.sample(mask=info["action_mask"])
            else:
                masks = get_action_masks(env)
                action, _ = model.predict(seen, action_masks=masks, deterministic=True)
            seen, reward, over, _, info = env.step(action)
        rewards.append(float(reward))
    return float(np.mean(rewards))


model = MaskablePPO(
    "MlpPolicy",
    gymnasium.make(ID, graphs=SEEN, cluster="3x2500"),
    n_steps=1000,
    batch_size=250,
    gamma=1.0,  # only the end is rewarded
    learning_rate=1e-3,
    seed=0,
    device="cpu",
)
by_chance = mean_reward(None)
model.learn(STEPS)
trained = mean_reward(model)
print(f"relative throughput on {UNSEEN.count} unseen graphs after {STEPS} steps:")
print(f"by chance {by_chance:.3f}, by the trained policy {trained:.3f}")
print("the trained policy is better" if trained > by_chance else "chance is as good")
